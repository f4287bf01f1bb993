/* bench_cusparse [single|double] A.mtx...: products of sparse matrices on a GPU by kith and by
 * cuSPARSE, with one vector and with eight, row-major or column-major. Prints one JSON
 * object with a row for each matrix and number of vectors: the median of five rounds, and by which
 * fraction of it the rounds differ. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_sparse.h"
#include "kith/kith.h"

enum { rounds = 5 };
static const double enough = 0.02;

static int fail(const char *what)
{
    fprintf(stderr, "bench_cusparse: %s\n", what);
    return 1;
}

static int compare(const void *a, const void *b)
{
    const double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* The median of several rounds of some milliseconds each, of kith's product or of a peer's, and by
 * which fraction of it they differ. */
static kith_status time_rounds(struct gpu_sparse *gpu, kith_sparse *sparse,
                               enum gpu_sparse_vectors vectors, enum gpu_sparse_peer peer,
                               double *median, double *spread)
{
    double once = 0, seconds[rounds];
    int64_t calls = 3;
    for (int round = -1; round < rounds; round++) {
        const kith_status status = sparse ? gpu_sparse_time(gpu, sparse, vectors, calls, &once)
                                          : gpu_sparse_time_peer(gpu, peer, vectors, calls, &once);
        if (status != KITH_OK)
            return status;
        once /= (double)calls;
        if (round >= 0)
            seconds[round] = once;
        calls = (int64_t)fmin(500, fmax(5, enough / (rounds * once)));
    }
    qsort(seconds, rounds, sizeof *seconds, compare);
    *median = seconds[rounds / 2];
    *spread = (seconds[rounds - 1] - seconds[0]) / *median;
    return KITH_OK;
}

/* What cuSPARSE does not support is left out. */
static kith_status measure(struct gpu_sparse *gpu, kith_sparse *sparse, const char *path,
                           bool is_double, double copy_rate, bool *first)
{
    static const char *const ways[] = {"one", "eight by rows", "eight by columns"};
    kith_sparse_info info;
    double seconds = 0, spread = 0, difference = 0;
    int64_t count = 0;
    kith_status status = kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info);
    for (int way = gpu_sparse_ways - 1; way >= 0 && status == KITH_OK; way--) {
        const enum gpu_sparse_vectors vectors = (enum gpu_sparse_vectors)way;
        status = time_rounds(gpu, sparse, vectors, 0, &seconds, &spread);
        if (status != KITH_OK)
            break;
        printf("%s{\"matrix\": \"%s\", \"precision\": \"%s\", \"vectors\": \"%s\", \"nonzeros\": "
               "%lld, \"format\": \"%s\", \"seconds\": %.9g, \"spread\": %.3g, "
               "\"copy_bytes_per_second\": %.6g, \"peers\": {",
               *first ? "" : ",\n", path, is_double ? "double" : "single", ways[way],
               (long long)info.nonzeros, kith_sparse_format_list(&count)[info.format].name, seconds,
               spread, copy_rate);
        *first = false;
        bool comma = false;
        for (int peer = 0; peer < gpu_sparse_peers && status == KITH_OK; peer++) {
            status = time_rounds(gpu, NULL, vectors, (enum gpu_sparse_peer)peer, &seconds, &spread);
            if (status == KITH_OK)
                printf("%s\"%s\": {\"seconds\": %.9g, \"spread\": %.3g}", comma ? ", " : "",
                       gpu_sparse_peer_name((enum gpu_sparse_peer)peer), seconds, spread);
            comma = comma || status == KITH_OK;
            status = status == KITH_UNSUPPORTED ? KITH_OK : status;
        }
        if (status == KITH_OK && way == gpu_sparse_one)
            status = gpu_sparse_difference(gpu, &difference);
        printf("}, \"relative_difference\": %.3g}", way == gpu_sparse_one ? difference : 0);
    }
    return status;
}

/* Compressed rows of a Matrix Market file, on the host. */
struct rows {
    kith_sparse_info info;
    int64_t *start;
    int32_t *column;
    double *value;
};

static kith_status read_rows(const char *path, struct rows *rows)
{
    const kith_context_options cpu = {.device = {KITH_CPU, 0}};
    const kith_sparse_options options = {.format = KITH_SPARSE_CSR};
    kith_context *context = NULL;
    kith_sparse *sparse = NULL;
    kith_status status = kith_context_create(&cpu, &context);
    if (status == KITH_OK)
        status = kith_sparse_read(context, &options, path, &sparse);
    if (status == KITH_OK)
        status = kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &rows->info);
    if (status == KITH_OK) {
        rows->start = malloc((size_t)(rows->info.rows + 1) * sizeof *rows->start);
        rows->column = malloc((size_t)(rows->info.nonzeros + 1) * sizeof *rows->column);
        rows->value = malloc((size_t)(rows->info.nonzeros + 1) * sizeof *rows->value);
        status = rows->start && rows->column && rows->value
                     ? kith_sparse_copy_csr(sparse, rows->start, rows->column, rows->value)
                     : KITH_OUT_OF_MEMORY;
    }
    kith_sparse_free(sparse);
    kith_context_free(context);
    return status;
}

static kith_status measure_file(kith_context *context, kith_dtype dtype, const char *path,
                                double copy_rate, bool *first)
{
    struct rows rows = {.start = NULL};
    struct gpu_sparse *gpu = NULL;
    kith_sparse *sparse = NULL;
    kith_status status = read_rows(path, &rows);
    if (status == KITH_OK)
        status = gpu_sparse_create(context, dtype, rows.info.rows, rows.info.columns, rows.start,
                                   rows.column, rows.value, &gpu);
    if (status == KITH_OK)
        status = gpu_sparse_make(gpu, NULL, &sparse);
    if (status == KITH_OK)
        status = measure(gpu, sparse, path, dtype == KITH_F64, copy_rate, first);
    kith_sparse_free(sparse);
    gpu_sparse_free(gpu);
    free(rows.start);
    free(rows.column);
    free(rows.value);
    return status;
}

int main(int argc, char **argv)
{
    const kith_context_options options = {.device = {KITH_CUDA, 0}};
    kith_context *context = NULL;
    kith_dtype dtype = KITH_F64;
    double copy_rate = 0;
    bool first = true;
    kith_status status = kith_context_create(&options, &context);
    if (status == KITH_OK)
        status = gpu_sparse_copy_rate(context, &copy_rate);
    if (status == KITH_OK)
        printf("{\"rows\": [");
    for (int k = 1; k < argc && status == KITH_OK; k++) {
        if (strcmp(argv[k], "single") == 0 || strcmp(argv[k], "double") == 0)
            dtype = argv[k][0] == 'd' ? KITH_F64 : KITH_F32;
        else
            status = measure_file(context, dtype, argv[k], copy_rate, &first);
    }
    kith_context_free(context);
    if (status != KITH_OK)
        return fail(kith_error_message());
    printf("]}\n");
    return 0;
}
