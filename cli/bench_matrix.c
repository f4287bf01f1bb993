/* kith bench matrix: interaction matrices stored, and their products with a vector without. */

#include "bench.h"

enum { fills = 3, tasks = 5 };
static const char *const laws[tasks] = {"power:1", "gaussian:0.5", "sum", "gaussian:0.5",
                                        "power:1"};

struct state {
    kith_law *law[tasks];
};

static kith_status fill(const struct bench_part *part, int64_t task)
{
    const kith_law *law = ((const struct state *)part->state)->law[task];
    const kith_particles particles = {.positions = part->arrays[0]};
    return kith_matrix_compute(part->context, law, NULL, &particles, NULL, part->arrays[3]);
}

static kith_status multiply(const struct bench_part *part, int64_t task)
{
    const kith_law *law = ((const struct state *)part->state)->law[task];
    const kith_particles particles = {.positions = part->arrays[0]};
    return kith_matrix_multiply(part->context, law, NULL, &particles, NULL, part->arrays[1],
                                part->arrays[2]);
}

/* Positions, a vector, a product and, if it is stored, the matrix. */
static kith_status make_arrays(struct bench_part *part, bool stored)
{
    const int64_t n = part->n, columns[] = {3, 0, 0, n};
    const kith_initial_options options = {.count = n, .seed = 1};
    kith_bodies *bodies = NULL;
    kith_status status = kith_initial_make("uniform-cube", &options, &bodies);
    for (int k = 0; k < (stored ? 4 : 3) && status == KITH_OK; k++)
        status = bench_array(part, part->dtype, n, columns[k], k < 2 ? bodies->position : NULL);
    kith_bodies_free(bodies);
    return status;
}

static kith_status begin(struct bench_part *part)
{
    /* What is larger is not stored here. */
    const double most = part->on->threads ? fmin(4e9, (double)kith_memory_available() / 2) : 64e9;
    const double pairs = (double)part->n * (double)part->n;
    const double bytes = (double)kith_dtype_bytes(part->dtype);
    const bool stored = bytes * pairs <= most;
    struct state *state = part->state;
    kith_status status = make_arrays(part, stored);
    for (int k = stored ? 0 : fills; k < tasks && status == KITH_OK; k++) {
        const bool is_fill = k < fills;
        status = kith_law_parse(laws[k], 0, NULL, &state->law[k]);
        struct bench_row *row = bench_enter(part, is_fill ? fill : multiply, k, pairs, "pairs",
                                            is_fill ? "fill" : "V b", "%s", laws[k]);
        row->bytes = is_fill ? bytes : 0;
        row->limit = is_fill ? bytes * pairs / bench_copy_rate(part->on) : 0;
    }
    return status;
}

static void end(void *state)
{
    for (int k = 0; k < tasks; k++)
        kith_law_free(((struct state *)state)->law[k]);
}

const struct bench_capability bench_of_matrix = {
    .name = "matrix",
    .size = "particles",
    .flag = of_matrix,
    .documentation =
        "Measure how fast interaction matrices are filled, and how fast V b is computed without "
        "storing V; on the CPU with one thread unless --threads says otherwise, in single "
        "precision unless --precision does.\v"
        "The limit of a fill is the bandwidth of a copy, whose reads and writes count. Matrices of "
        "more than 4 GB (64 GB on a GPU) are not stored.\n\n"
        "Examples:\n"
        "  kith bench matrix\n"
        "  kith bench matrix -n 1000 --precision double --json",
    .counts = {1000, 4096, 16384},
    .quick_counts = {250, 1000},
    .precisions = {KITH_F32},
    .precision_count = 1,
    .seconds = 0.5,
    .state_bytes = sizeof(struct state),
    .begin = begin,
    .end = end,
};
