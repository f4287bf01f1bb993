/* kith bench collisions: every method, against the number of beads, and batches. */

#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { walk_beads = 64, most_in_flight = 64, most_methods = 16 };

/* A count of beads by a method; or of walks of 64 beads, as a batch. */
struct task {
    kith_context *context;
    kith_collisions_method method;
    const kith_array *beads;
    kith_array batch, collisions, contacts; /* of a batch; contacts may be none */
};

struct state {
    struct bench_arrays arrays; /* one walk, scattered beads, walks of 64, results */
    struct task task[2 * most_methods + 2];
};

/* On a GPU one after another, without waiting in between. */
static kith_status count_beads(void *state, int64_t calls)
{
    const struct task *task = state;
    const kith_collisions_options options = {task->method};
    kith_collisions_promise *promises[most_in_flight] = {NULL};
    int64_t count = 0;
    kith_status status = KITH_OK;
    for (int64_t k = 0; k < calls && status == KITH_OK; k++) {
        kith_collisions_promise **promise = &promises[k % most_in_flight];
        if (task->beads->device.kind == KITH_CPU) {
            status = kith_collisions_count(task->context, &options, *task->beads, &count);
            continue;
        }
        kith_collisions_promise_free(*promise);
        *promise = NULL;
        status = kith_collisions_launch(task->context, &options, *task->beads, promise);
    }
    if (status == KITH_OK)
        status = kith_context_synchronize(task->context);
    for (int64_t k = 0; k < most_in_flight; k++)
        kith_collisions_promise_free(promises[k]);
    return status;
}

static kith_status count_batch(void *state, int64_t calls)
{
    const struct task *task = state;
    kith_status status = KITH_OK;
    for (int64_t k = 0; k < calls && status == KITH_OK; k++)
        status = kith_collisions_batch(task->context, task->batch, kith_array_none(), NULL,
                                       task->collisions, task->contacts);
    return status;
}

/* Methods that compare all pairs take long with many beads. */
static bool is_measured(bool on_gpu, kith_collisions_method method, int64_t beads)
{
    if (method == KITH_COLLISIONS_ALL_PAIRS)
        return beads <= (on_gpu ? 1000000 : 262144);
    return method != KITH_COLLISIONS_REFERENCE &&
           (method == KITH_COLLISIONS_AUTO || method == KITH_COLLISIONS_LINEAR ||
            method == KITH_COLLISIONS_HASH || method == KITH_COLLISIONS_SORT ||
            beads <= (on_gpu ? 262144 : 10000));
}

/* Walks of this number of beads each, or of one: beads scattered over a cube of four sites a bead.
 */
static kith_status make_beads(const struct bench_part *part, int64_t walk, int64_t count,
                              struct bench_arrays *arrays)
{
    int32_t *beads = calloc((size_t)(3 * count + 1), sizeof *beads), at[3] = {0, 0, 0};
    const double side = floor(cbrt(4 * (double)count)) + 1;
    for (int64_t i = 0; beads && i < count; i++) {
        for (int64_t c = 0; c < 3; c++) {
            if (i % walk == 0)
                at[c] = (int32_t)(bench_random((uint64_t)(4 * i + c)) * side);
            beads[3 * i + c] = at[c];
        }
        const int way = (int)(6 * bench_random((uint64_t)(4 * i + 3)));
        at[way / 2] += way % 2 ? 1 : -1;
    }
    const kith_status status =
        beads ? bench_array(part->context, KITH_I32, count, 3, beads, arrays) : KITH_OUT_OF_MEMORY;
    free(beads);
    return status;
}

static void enter(const struct bench_part *part, struct task *task, const char *what,
                  const char *variant, int64_t count)
{
    struct bench_row *row = bench_enter(part, task->batch.data ? count_batch : count_beads, task,
                                        what, "beads", (double)count);
    snprintf(row->variant, sizeof row->variant, "%s", variant);
}

static void enter_methods(const struct bench_part *part, int kind, struct state *state)
{
    int64_t methods = 0;
    const kith_collisions_method_info *list = kith_collisions_method_list(&methods);
    for (int64_t k = 0; k < methods && k < most_methods; k++) {
        struct task *task = &state->task[kind * most_methods + k];
        *task = (struct task){.context = part->context,
                              .method = (kith_collisions_method)k,
                              .beads = &state->arrays.at[kind]};
        if (is_measured(part->on->threads == 0, task->method, part->n))
            enter(part, task, list[k].name, kind ? "scattered" : "walk", part->n);
    }
}

/* The number of walks that the beads make, at least one. */
static kith_status begin(const struct bench_part *part, void *memory)
{
    struct state *state = memory;
    struct bench_arrays *arrays = &state->arrays;
    const int64_t walks = part->n / walk_beads + 1, shape[] = {walks, walk_beads, 3};
    kith_status status = make_beads(part, INT64_MAX, part->n, arrays);
    if (status == KITH_OK)
        status = make_beads(part, 1, part->n, arrays);
    if (status == KITH_OK)
        status = make_beads(part, walk_beads, walks * walk_beads, arrays);
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        status = bench_array(part->context, KITH_I64, walks, 0, NULL, arrays);
    if (status != KITH_OK)
        return status;
    enter_methods(part, 0, state);
    enter_methods(part, 1, state);
    for (int k = 0; k < 2; k++) {
        struct task *task = &state->task[2 * most_methods + k];
        *task = (struct task){.context = part->context,
                              .batch = arrays->at[2],
                              .collisions = arrays->at[3],
                              .contacts = k ? arrays->at[4] : kith_array_none()};
        task->batch.ndim = 3;
        task->batch.strides[0] = 3L * walk_beads;
        task->batch.strides[1] = 3;
        task->batch.strides[2] = 1;
        memcpy(task->batch.shape, shape, sizeof shape);
        enter(part, task, "batch", k ? "64 each, contacts" : "64 each", walks * walk_beads);
    }
    return KITH_OK;
}

static void end(kith_context *context, void *memory)
{
    bench_arrays_free(context, &((struct state *)memory)->arrays);
}

const struct bench_capability bench_of_collisions = {
    .name = "collisions",
    .size = "beads",
    .flag = of_collisions,
    .documentation =
        "Measure how fast collisions are counted, on the CPU with one thread unless --threads "
        "says otherwise: of random walks, of beads scattered over a cube with four sites per bead, "
        "and of batches of walks of 64 beads.\v"
        "Methods that compare all pairs are omitted for many beads. On a GPU the beads are in its "
        "memory, and counts are launched without waiting for each other.\n\n"
        "Examples:\n"
        "  kith bench collisions -n 100,1000\n"
        "  kith bench collisions -n 1000 --threads 2\n"
        "  kith bench collisions --device cuda --json",
    .counts = {100, 1000, 10000, 100000, 1000000},
    .quick_counts = {100, 1000},
    .seconds = 0.3,
    .state_bytes = sizeof(struct state),
    .begin = begin,
    .end = end,
};
