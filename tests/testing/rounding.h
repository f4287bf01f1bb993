#ifndef TESTS_ROUNDING_H
#define TESTS_ROUNDING_H

/* What rounding does in many steps, of one system (systems = 0) and of ensembles. */

#include <stdlib.h>
#include <string.h>

#include "simulating.h"

static inline kith_simulation *begin_rounding(kith_context *context, const kith_bodies *bodies,
                                              int64_t systems,
                                              const kith_simulation_options *options)
{
    kith_simulation *simulation = NULL;
    if (systems > 0)
        assert_ok(kith_simulation_create_ensemble(context, options, systems, bodies, &simulation));
    else
        assert_ok(kith_simulation_create(context, options, bodies, &simulation));
    return simulation;
}

/* A star and light planets on circles, the first in a year of 2 π; each system the same. */
static inline kith_bodies *bodies_on_circles(int64_t count, int64_t systems)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count * systems, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    for (int64_t row = 0; row < count * systems; row++) {
        const int64_t i = row % count;
        const kith_orbit orbit = {.a = 1 + 0.1 * (double)(i - 1), .M = 0.7 * (double)i};
        bodies->mass[row] = i == 0 ? 1 : 1e-9;
        if (i > 0)
            assert_ok(kith_orbit_place(1, &orbit, bodies->position + 3 * row,
                                       bodies->velocity + 3 * row));
    }
    return bodies;
}

enum { rounding_steps = 20000 }; /* 10 years */

/* Where the first planet of the last system is after many steps, relative to its star. */
static inline void place_after_many_steps(kith_context *context, const char *integrator,
                                          kith_dtype precision, int64_t count, int64_t systems,
                                          double place[3])
{
    const kith_simulation_options options = {
        .dt = 2 * pi * 10 / rounding_steps, .integrator = integrator, .precision = precision};
    const int64_t copies = systems > 0 ? systems : 1;
    kith_bodies *bodies = bodies_on_circles(count, copies);
    kith_simulation *simulation = begin_rounding(context, bodies, systems, &options);
    assert_ok(kith_simulation_step(simulation, rounding_steps));
    kith_bodies *end = state_of(simulation, bodies);
    const double *star = end->position + 3 * count * (copies - 1);
    for (int c = 0; c < 3; c++)
        place[c] = star[3 + c] - star[c];
    kith_bodies_free(end);
    kith_bodies_free(bodies);
    kith_simulation_free(simulation);
}

/* How far that is from where it is expected: where one system in double precision on the CPU has
 * it. Truncation is the same: what differs is rounding, of forces alone if sums are compensated. */
static inline double rounding_of_many_steps(kith_context *context, const char *integrator,
                                            kith_dtype precision, int64_t count, int64_t systems,
                                            const double expected[3])
{
    double place[3], off[3];
    place_after_many_steps(context, integrator, precision, count, systems, place);
    for (int c = 0; c < 3; c++)
        off[c] = place[c] - expected[c];
    print_message("%s, %s, %lld bodies, %lld systems: off by %.2g\n", integrator,
                  precision == KITH_F64 ? "double" : "single", (long long)count, (long long)systems,
                  length_of(off));
    return length_of(off);
}

/* The outer solar system, Jupiter moved by 10⁻⁹ AU from each system to the next. */
static inline kith_bodies *outer_planets(int64_t systems)
{
    kith_bodies *one = made("outer-solar-system", (kith_initial_options){0}), *all = NULL;
    const int64_t count = one->count;
    assert_ok(kith_bodies_create(count * systems, 3, KITH_VELOCITY | KITH_MASS, &all));
    for (int64_t s = 0; s < systems; s++) {
        memcpy(all->position + 3 * count * s, one->position, (size_t)(3 * count) * sizeof(double));
        memcpy(all->velocity + 3 * count * s, one->velocity, (size_t)(3 * count) * sizeof(double));
        memcpy(all->mass + count * s, one->mass, (size_t)count * sizeof(double));
        all->position[3 * (count * s + 1)] += 1e-9 * (double)s;
    }
    kith_bodies_free(one);
    return all;
}

/* Root mean squares of the relative energy errors of an ensemble after 100 · 10^k years, where
 * truncation is 10⁻¹⁶. */
static inline void rms_by_decades(kith_context *context, int64_t systems, int32_t decades,
                                  double *rms)
{
    const kith_simulation_options options = {
        .integrator = "yoshida8", .dt = 25, .forces.gravitational_constant = g_of_gauss};
    kith_bodies *bodies = outer_planets(systems);
    kith_simulation *simulation = begin_rounding(context, bodies, systems, &options);
    kith_diagnostics *before = calloc((size_t)systems, sizeof *before);
    assert_non_null(before);
    kith_diagnostics *now = calloc((size_t)systems, sizeof *now);
    assert_non_null(now);
    assert_ok(kith_simulation_diagnose_systems(simulation, 0, systems, before));
    for (int32_t k = 0; k < decades; k++) {
        double sum = 0;
        assert_ok(kith_simulation_run(simulation, 36525 * pow(10, k)));
        assert_ok(kith_simulation_diagnose_systems(simulation, 0, systems, now));
        for (int64_t s = 0; s < systems; s++)
            sum += pow(now[s].total_energy / before[s].total_energy - 1, 2);
        rms[k] = sqrt(sum / (double)systems);
        print_message("%lld systems, %g years: rms error of energies %.3g\n", (long long)systems,
                      100 * pow(10, k), rms[k]);
    }
    free(before);
    free(now);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
}

#endif
