/* kith bench sparse: products with one vector and with eight, compared with the bandwidth of a
 * copy. bench/sparse.py measures more kinds of matrices. */

#include <stdlib.h>

#include "bench.h"

enum { eight = 8 };
static const double neighbors = 32; /* of a row, on average */

struct state {
    kith_sparse *sparse;
    kith_sparse_info info;
};

/* The arrays: x and y of one, of eight. */
static kith_status multiply(const struct bench_part *part, int64_t is_eight)
{
    const kith_array *arrays = &part->arrays[2 * is_eight];
    return kith_sparse_multiply(((const struct state *)part->state)->sparse, KITH_SPARSE_AS_IS, 1,
                                arrays[0], 0, arrays[1]);
}

/* Points in a unit cube, and which are neighbors; lists of pairs for matrices are the host's. */
static kith_status make_neighbors(const struct bench_part *part, const kith_sparse_options *options,
                                  kith_sparse **sparse)
{
    const kith_context_options cpu = {.device = {KITH_CPU, 0}};
    const kith_pairs_options within = {.cutoff =
                                           cbrt(neighbors * 3 / (4 * M_PI * (double)part->n))};
    const kith_initial_options cube = {.count = part->n, .seed = 1};
    kith_bodies *bodies = NULL;
    kith_context *host = NULL;
    kith_pairs *pairs = NULL;
    kith_status status = kith_initial_make("uniform-cube", &cube, &bodies);
    if (status == KITH_OK)
        status = kith_context_create(&cpu, &host);
    if (status == KITH_OK)
        status = kith_pairs_compute(
            host, &within, kith_array_matrix(bodies->position, KITH_F64, part->n, 3), NULL, &pairs);
    if (status == KITH_OK)
        status = kith_sparse_create_pairs(part->context, options, pairs, NULL, sparse);
    kith_pairs_free(pairs);
    kith_context_free(host);
    kith_bodies_free(bodies);
    return status;
}

/* The limit of one vector is the time of a copy of as many bytes as plain CSR and the vectors have;
 * of eight that of the matrix as it is stored and of each vector once. */
static void enter(const struct bench_part *part, int k, const kith_sparse_info *info)
{
    int64_t count = 0;
    const char *kernel = kith_sparse_kernel_list(&count)[info->kernel].name;
    const char *format = kith_sparse_format_list(&count)[info->format].name;
    const double each = (double)kith_dtype_bytes(part->dtype), nonzeros = (double)info->nonzeros;
    const double rows = (double)info->rows, columns = (double)info->columns;
    struct bench_row *row = bench_enter(part, multiply, k, k ? eight * nonzeros : nonzeros,
                                        "entries", part->name ? part->name : "neighbors", "%s%s%s",
                                        format, k ? ", " : " ", k ? "8 vectors" : kernel);
    row->size = info->nonzeros;
    row->flop = 2;
    row->limit = (k ? (double)info->bytes + eight * each * (rows + columns)
                    : (4 + each) * (nonzeros + rows) + each * columns) /
                 bench_copy_rate(part->on);
}

static kith_status begin(struct bench_part *part)
{
    const kith_sparse_options options = {.tune = part->bench->options->tunes, .dtype = part->dtype};
    struct state *state = part->state;
    kith_status status = part->name
                             ? kith_sparse_read(part->context, &options, part->name, &state->sparse)
                             : make_neighbors(part, &options, &state->sparse);
    if (status == KITH_OK)
        status = kith_sparse_describe(state->sparse, KITH_SPARSE_AS_IS, &state->info);
    if (status != KITH_OK)
        return status;
    const int64_t sizes[] = {state->info.columns, state->info.rows};
    double *x = calloc((size_t)(eight * sizes[0] + 1), sizeof *x);
    for (int64_t k = 0; x && k < eight * sizes[0]; k++)
        x[k] = (double)(k % 7) * 0.1;
    status = x ? KITH_OK : KITH_OUT_OF_MEMORY;
    for (int k = 0; k < 4 && status == KITH_OK; k++)
        status = bench_array(part, part->dtype, sizes[k % 2], k < 2 ? 0 : eight, k % 2 ? NULL : x);
    free(x);
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        enter(part, k, &state->info);
    return status;
}

static void end(void *state)
{
    kith_sparse_free(((struct state *)state)->sparse);
}

const struct bench_capability bench_of_sparse = {
    .name = "sparse",
    .size = "nonzeros",
    .flag = of_sparse,
    .arguments = "[FILE...]",
    .documentation =
        "Measure products of sparse matrices with one vector and with eight, in the format and "
        "by the kernel that kith chooses, on the CPU with one thread unless --threads says "
        "otherwise, in double precision unless --precision does.\v"
        "FILE is a Matrix Market file; without one, the matrix is that of points in a cube and "
        "their neighbors, 32 per row. The limit is the time of a copy of the bytes of plain CSR "
        "and the vectors; with eight vectors, of the stored matrix and each vector once. A matrix "
        "that fits a cache can exceed it.\n\n"
        "Examples:\n"
        "  kith bench sparse\n"
        "  kith bench sparse -n 1000000 --threads 2\n"
        "  kith bench sparse --device cuda",
    .counts = {10000, 100000, 1000000},
    .quick_counts = {1000, 10000},
    .precisions = {KITH_F64},
    .precision_count = 1,
    .seconds = 0.5,
    .state_bytes = sizeof(struct state),
    .begin = begin,
    .end = end,
};
