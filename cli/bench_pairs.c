/* kith bench pairs: neighbor lists of several systems, with points and lists on the device. */

#include <stdlib.h>
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
    const struct system *system;
    kith_context *context;
    kith_pairs_options options;
    kith_cell cell;
    struct bench_arrays arrays; /* the points */
    kith_pairs *pairs;
};

static kith_status list(void *memory, int64_t calls)
{
    struct state *state = memory;
    const kith_cell *cell = state->system->periodic ? &state->cell : NULL;
    const int64_t nearest = state->system->nearest;
    kith_status status = KITH_OK;
    for (int64_t k = 0; k < calls && status == KITH_OK; k++)
        status = nearest ? kith_pairs_nearest(state->context, &state->options, state->arrays.at[0],
                                              cell, nearest, &state->pairs)
                         : kith_pairs_compute(state->context, &state->options, state->arrays.at[0],
                                              cell, &state->pairs);
    return status;
}

/* Of scale 1 (Aarseth, Hénon and Wielen 1974). */
static void place_in_plummer(const double u[3], double x[3])
{
    const double radius = 1 / sqrt(pow(1e-10 + (1 - 2e-10) * u[0], -2.0 / 3) - 1);
    const double z = 2 * u[1] - 1, angle = 2 * M_PI * u[2];
    x[0] = radius * sqrt(1 - z * z) * cos(angle);
    x[1] = radius * sqrt(1 - z * z) * sin(angle);
    x[2] = radius * z;
}

static double *make_points(const struct system *system, int64_t n)
{
    double *x = bench_randoms(n * system->dimensions);
    for (int64_t i = 0; x && system->plummer && i < n; i++)
        place_in_plummer((const double[]){x[3 * i], x[3 * i + 1], x[3 * i + 2]}, &x[3 * i]);
    return x;
}

/* The cutoff for a mean number of neighbors; in a Plummer sphere ∫ρ² is 45/1024. */
static double cutoff_of(const struct system *system, int64_t n)
{
    if (system->dimensions == 2)
        return sqrt(system->neighbors / (M_PI * (double)n));
    const double density = (double)n * (system->plummer ? 45.0 / 1024 : 1);
    return cbrt(system->neighbors * 3 / (4 * M_PI * density));
}

static kith_status begin(const struct bench_part *part, void *memory)
{
    const struct bench_options *options = part->bench->options;
    const struct system *system = systems;
    struct state *state = memory;
    while (strcmp(system->name, part->name) != 0)
        system++;
    state->system = system;
    state->context = part->context;
    state->options.cutoff = system->nearest ? 0 : cutoff_of(system, part->n);
    state->options.unsorted = options->unsorted && system->nearest == 0;
    state->options.narrow = options->narrow;
    if (system->lengths)
        state->options.quantities = KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_SHIFTS |
                                    KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES;
    for (int k = 0; k < 3; k++)
        state->cell.vectors[k][k] = state->cell.periodic[k] = 1;
    double *x = make_points(system, part->n);
    kith_status status =
        x ? bench_array(part->context, part->dtype, part->n, system->dimensions, x, &state->arrays)
          : KITH_OUT_OF_MEMORY;
    free(x);
    if (status == KITH_OK) /* says how many pairs there are */
        status = list(state, 1);
    if (status == KITH_OK)
        status = kith_context_synchronize(part->context);
    struct bench_row *row = bench_enter(part, list, state, system->name, "pairs",
                                        status == KITH_OK ? (double)state->pairs->count : 0);
    snprintf(row->variant, sizeof row->variant, "%s, %d bits",
             state->options.unsorted ? "unsorted" : "sorted", options->narrow ? 32 : 64);
    return status;
}

static void end(kith_context *context, void *memory)
{
    struct state *state = memory;
    kith_pairs_free(state->pairs);
    bench_arrays_free(context, &state->arrays);
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
