/* kith bench collisions: every method, against the number of beads, and batches. */

#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { walk_beads = 64, most_in_flight = 64 };

/* Of a part's arrays. */
enum { walk, scattered, collisions, contacts };

struct state {
    kith_collisions_promise *promises[most_in_flight];
    int64_t launched;
    kith_array batch; /* the walk, cut into walks of 64 */
};

static kith_status count(const struct bench_part *part, int64_t method, int64_t beads)
{
    const kith_collisions_options options = {(kith_collisions_method)method};
    struct state *state = part->state;
    kith_collisions_promise **promise = &state->promises[state->launched++ % most_in_flight];
    int64_t count = 0;
    if (part->on->threads)
        return kith_collisions_count(part->context, &options, part->arrays[beads], &count);
    kith_collisions_promise_free(*promise);
    *promise = NULL;
    return kith_collisions_launch(part->context, &options, part->arrays[beads], promise);
}

static kith_status count_walk(const struct bench_part *part, int64_t method)
{
    return count(part, method, walk);
}

static kith_status count_scattered(const struct bench_part *part, int64_t method)
{
    return count(part, method, scattered);
}

static kith_status count_batch(const struct bench_part *part, int64_t has_contacts)
{
    return kith_collisions_batch(part->context, ((const struct state *)part->state)->batch,
                                 kith_array_none(), NULL, part->arrays[collisions],
                                 has_contacts ? part->arrays[contacts] : kith_array_none());
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

/* Beads of one random walk; or scattered over a cube of four sites a bead. */
static kith_status make_beads(struct bench_part *part, bool scatters, int64_t count)
{
    const kith_initial_options options = {.count = count, .seed = 1};
    const double side = scatters ? floor(cbrt(4 * (double)count)) + 1 : 1;
    int32_t *beads = calloc((size_t)(3 * count + 1), sizeof *beads);
    kith_bodies *bodies = NULL;
    kith_status status =
        kith_initial_make(scatters ? "uniform-cube" : "lattice-walk", &options, &bodies);
    for (int64_t k = 0; beads && status == KITH_OK && k < 3 * count; k++)
        beads[k] = (int32_t)(side * bodies->position[k]);
    if (status == KITH_OK)
        status = beads ? bench_array(part, KITH_I32, count, 3, beads) : KITH_OUT_OF_MEMORY;
    kith_bodies_free(bodies);
    free(beads);
    return status;
}

static void enter_methods(const struct bench_part *part, bench_work *work, const char *variant)
{
    int64_t methods = 0;
    const kith_collisions_method_info *list = kith_collisions_method_list(&methods);
    for (int64_t k = 0; k < methods; k++)
        if (is_measured(part->on->threads == 0, (kith_collisions_method)k, part->n))
            bench_enter(part, work, k, (double)part->n, "beads", list[k].name, "%s", variant);
}

/* The number of walks that the beads make, at least one. */
static kith_status begin(struct bench_part *part)
{
    const int64_t walks = part->n / walk_beads + 1;
    const int64_t shape[] = {walks, walk_beads, 3}, strides[] = {3 * walk_beads, 3, 1};
    kith_array *batch = &((struct state *)part->state)->batch;
    kith_status status = make_beads(part, false, walks * walk_beads);
    if (status == KITH_OK)
        status = make_beads(part, true, part->n);
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        status = bench_array(part, KITH_I64, walks, 0, NULL);
    *batch = part->arrays[walk];
    part->arrays[walk].shape[0] = part->n;
    batch->ndim = 3;
    memcpy(batch->shape, shape, sizeof shape);
    memcpy(batch->strides, strides, sizeof strides);
    enter_methods(part, count_walk, "walk");
    enter_methods(part, count_scattered, "scattered");
    for (int k = 0; k < 2; k++)
        bench_enter(part, count_batch, k, (double)(walks * walk_beads), "beads", "batch",
                    k ? "64 each, contacts" : "64 each");
    return status;
}

static void end(void *memory)
{
    struct state *state = memory;
    for (int k = 0; k < most_in_flight; k++)
        kith_collisions_promise_free(state->promises[k]);
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
