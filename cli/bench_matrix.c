/* kith bench matrix: interaction matrices stored, and their products with a vector without. */

#include <stdlib.h>

#include "bench.h"

enum { fills = 3, tasks = 5 };
static const char *const laws[tasks] = {"power:1", "gaussian:0.5", "sum", "gaussian:0.5",
                                        "power:1"};

/* A fill of the matrix, or a product with a vector. */
struct task {
    kith_context *context;
    kith_law *law;
    const kith_array *arrays; /* positions, vector, product, matrix */
    bool stores;
};

struct state {
    struct bench_arrays arrays;
    struct task task[tasks];
};

static kith_status fill_or_multiply(void *state, int64_t calls)
{
    const struct task *task = state;
    const kith_particles particles = {.positions = task->arrays[0]};
    kith_status status = KITH_OK;
    for (int64_t k = 0; k < calls && status == KITH_OK; k++)
        status = task->stores ? kith_matrix_compute(task->context, task->law, NULL, &particles,
                                                    NULL, task->arrays[3])
                              : kith_matrix_multiply(task->context, task->law, NULL, &particles,
                                                     NULL, task->arrays[1], task->arrays[2]);
    return status;
}

static kith_status make_arrays(const struct bench_part *part, bool stored,
                               struct bench_arrays *arrays)
{
    const int64_t n = part->n, columns[] = {3, 0, 0, n};
    double *x = bench_randoms(3 * n);
    kith_status status = x ? KITH_OK : KITH_OUT_OF_MEMORY;
    for (int k = 0; k < (stored ? 4 : 3) && status == KITH_OK; k++)
        status = bench_array(part->context, part->dtype, n, columns[k], k < 2 ? x : NULL, arrays);
    free(x);
    return status;
}

static kith_status begin(const struct bench_part *part, void *memory)
{
    /* What is larger is not stored here. */
    const double most = part->on->threads ? fmin(4e9, (double)kith_memory_available() / 2) : 64e9;
    const double pairs = (double)part->n * (double)part->n;
    const double bytes = (double)kith_dtype_bytes(part->dtype);
    const bool stored = bytes * pairs <= most;
    struct state *state = memory;
    kith_status status = make_arrays(part, stored, &state->arrays);
    for (int k = stored ? 0 : fills; k < tasks && status == KITH_OK; k++) {
        struct task *task = &state->task[k];
        *task = (struct task){part->context, NULL, state->arrays.at, k < fills};
        status = kith_law_parse(laws[k], 0, NULL, &task->law);
        struct bench_row *row =
            bench_enter(part, fill_or_multiply, task, k < fills ? "fill" : "V b", "pairs", pairs);
        snprintf(row->variant, sizeof row->variant, "%s", laws[k]);
        row->bytes = k < fills ? bytes : 0;
        row->limit = k < fills ? bytes * pairs / bench_copy_rate(part->on) : 0;
    }
    return status;
}

static void end(kith_context *context, void *memory)
{
    struct state *state = memory;
    for (int k = 0; k < tasks; k++)
        kith_law_free(state->task[k].law);
    bench_arrays_free(context, &state->arrays);
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
