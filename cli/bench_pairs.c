/* kith bench pairs: neighbor lists of several systems, with points and lists on the device. */

#include <string.h>

#include "bench.h"

struct system {
    const char *name, *description;
    int32_t dimensions;
    bool periodic, plummer, lengths;
    double neighbors; /* of a point, on average */
    int64_t nearest;  /* k; 0: all nearer than a cutoff */
};

/* bench/pairs.py compares the same systems with other programs. */
static const struct system systems[] = {
    {"cube", "uniform in a periodic cube, 50 neighbors each", 3, true, false, false, 50, 0},
    {"square", "uniform in an open square, 20 neighbors each", 2, false, false, false, 20, 0},
    {"vectors", "the cube, with shifts, vectors and distances too", 3, true, false, true, 50, 0},
    {"plummer", "a Plummer sphere, 50 neighbors each on average", 3, false, true, false, 50, 0},
    {"nearest", "the cube, the 16 nearest points of each", 3, true, false, false, 50, 16},
};
enum { system_count = sizeof systems / sizeof systems[0] };

static bool system_row(int64_t k, const char **name, const char **description)
{
    if (k >= system_count)
        return false;
    *name = systems[k].name;
    *description = systems[k].description;
    return true;
}

struct state {
    kith_pairs_options options;
    kith_cell cell;
    kith_pairs *pairs;
};

/* nearest: k, or 0. */
static kith_status list(const struct bench_part *part, int64_t nearest)
{
    struct state *state = part->state;
    const kith_cell *cell = state->cell.vectors[0][0] > 0 ? &state->cell : NULL;
    return nearest ? kith_pairs_nearest(part->context, &state->options, part->arrays[0], cell,
                                        nearest, &state->pairs)
                   : kith_pairs_compute(part->context, &state->options, part->arrays[0], cell,
                                        &state->pairs);
}

/* The cutoff for a mean number of neighbors; in a Plummer sphere of scale length a ∫ρ² is
 * 45/(1024 a³), and kith's has a = 3π/16. */
static double cutoff_of(const struct system *system, int64_t n)
{
    if (system->dimensions == 2)
        return sqrt(system->neighbors / (M_PI * (double)n));
    const double density = (double)n * (system->plummer ? 45.0 / 1024 / pow(3 * M_PI / 16, 3) : 1);
    return cbrt(system->neighbors * 3 / (4 * M_PI * density));
}

static kith_status begin(struct bench_part *part)
{
    const struct bench_options *options = part->bench->options;
    const struct system *system = systems;
    struct state *state = part->state;
    while (strcmp(system->name, part->name) != 0)
        system++;
    state->options.cutoff = system->nearest ? 0 : cutoff_of(system, part->n);
    state->options.unsorted = options->unsorted && system->nearest == 0;
    state->options.narrow = options->narrow;
    if (system->lengths)
        state->options.quantities = KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_SHIFTS |
                                    KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES;
    for (int k = 0; k < 3 && system->periodic; k++)
        state->cell.vectors[k][k] = state->cell.periodic[k] = 1;
    const kith_initial_options initial = {
        .count = part->n, .dimensions = system->dimensions, .seed = 3};
    kith_bodies *bodies = NULL;
    kith_status status =
        kith_initial_make(system->plummer ? "plummer" : "uniform-cube", &initial, &bodies);
    if (status == KITH_OK)
        status = bench_array(part, part->dtype, part->n, system->dimensions, bodies->position);
    kith_bodies_free(bodies);
    if (status == KITH_OK) /* says how many pairs there are */
        status = list(part, system->nearest);
    if (status == KITH_OK)
        status = kith_context_synchronize(part->context);
    bench_enter(part, list, system->nearest, status == KITH_OK ? (double)state->pairs->count : 0,
                "pairs", system->name, "%s, %d bits",
                state->options.unsorted ? "unsorted" : "sorted", options->narrow ? 32 : 64);
    return status;
}

static void end(void *state)
{
    kith_pairs_free(((struct state *)state)->pairs);
}

const struct bench_capability bench_of_pairs = {
    .name = "pairs",
    .size = "points",
    .flag = of_pairs,
    .documentation =
        "Measure how long neighbor lists take, in both precisions: on the CPU with one thread "
        "unless --threads says otherwise, on a GPU with points and lists in its memory.\v"
        "SYSTEM is a name of the list below; without any, all. Lists are full, with i and j, "
        "sorted unless --unsorted is given, and reuse their memory.\n\n"
        "Examples:\n"
        "  kith bench pairs\n"
        "  kith bench pairs cube square -n 1000,10000 --threads 2\n"
        "  kith bench pairs --quick --json\n"
        "  kith bench pairs --device cuda --unsorted --narrow cube",
    .counts = {100, 1000, 10000, 100000, 1000000},
    .quick_counts = {100, 1000, 10000},
    .precisions = {KITH_F32, KITH_F64},
    .precision_count = 2,
    .seconds = 0.5,
    .arguments = "[SYSTEM...]",
    .row = system_row,
    .state_bytes = sizeof(struct state),
    .begin = begin,
    .end = end,
};
