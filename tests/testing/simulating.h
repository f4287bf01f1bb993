#ifndef TESTS_SIMULATING_H
#define TESTS_SIMULATING_H

/* What the tests of simulations say again and again. */
#include "testing.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Gauss's constant squared: G in astronomical units, days and solar masses. */
static const double g_of_gauss = 0.01720209895 * 0.01720209895;

static inline kith_context *cpu_context(int32_t threads)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    return context;
}

static inline kith_bodies *made(const char *kind, kith_initial_options options)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_initial_make(kind, &options, &bodies));
    return bodies;
}

static inline kith_simulation *simulated(kith_context *context, const kith_bodies *bodies,
                                         kith_simulation_options options)
{
    kith_simulation *simulation = NULL;
    assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    return simulation;
}

/* Bodies with room for the state, and the state in them. */
static inline kith_bodies *state_of(kith_simulation *simulation, const kith_bodies *like)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(like->count, like->dimensions, KITH_VELOCITY, &bodies));
    assert_ok(kith_simulation_get_bodies(simulation, bodies));
    return bodies;
}

static inline kith_diagnostics diagnosed(kith_simulation *simulation)
{
    kith_diagnostics diagnostics;
    assert_ok(kith_simulation_diagnose(simulation, &diagnostics));
    return diagnostics;
}

/* Positions, velocities and time are the same bits. */
static inline void assert_same_state(const kith_bodies *a, const kith_bodies *b)
{
    const size_t bytes = sizeof(double) * (size_t)(a->count * a->dimensions);
    assert_int_equal(a->count, b->count);
    if (bytes > 0) {
        assert_memory_equal(a->position, b->position, bytes);
        assert_memory_equal(a->velocity, b->velocity, bytes);
    }
    assert_memory_equal(&a->time, &b->time, sizeof a->time);
}

/* The largest difference of a coordinate. */
static inline double distance_of_states(const kith_bodies *a, const kith_bodies *b)
{
    double largest = 0;
    for (int64_t k = 0; k < a->count * a->dimensions; k++)
        largest = worse_of(largest, fabs(a->position[k] - b->position[k]));
    return largest;
}

static inline double length_of(const double vector[3])
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

/* Where a body on a Kepler orbit (G M = a = 1) is at a time after pericenter, by Newton's iteration
 * for E − e sin E = t. */
static inline void kepler_position(double eccentricity, double time, double position[2])
{
    const double mean = remainder(time, 2 * pi);
    double anomaly = mean < 0 ? -pi : pi;
    for (int k = 0; k < 60; k++)
        anomaly -=
            (anomaly - eccentricity * sin(anomaly) - mean) / (1 - eccentricity * cos(anomaly));
    position[0] = cos(anomaly) - eccentricity;
    position[1] = sqrt(1 - eccentricity * eccentricity) * sin(anomaly);
}

/* How far the second body's place relative to the first is from Kepler's. */
static inline double kepler_error(const kith_bodies *bodies, double eccentricity, double time)
{
    double expected[2];
    kepler_position(eccentricity, time, expected);
    const double *first = bodies->position, *second = bodies->position + bodies->dimensions;
    return hypot(second[0] - first[0] - expected[0], second[1] - first[1] - expected[1]);
}

/* Bodies without softening, of which the heaviest has a mass of 2^k and G is 2^-k: what they do is
 * the same, bit for bit. */
static inline void assert_masses_scale(kith_context *context, kith_dtype precision,
                                       const char *integrator, int64_t n)
{
    const kith_initial_options plummer = {.count = n, .seed = 5};
    kith_bodies *end = NULL;
    for (int k = -9; k <= 18; k += 3) {
        kith_bodies *bodies = made("plummer", plummer);
        for (int64_t i = 0; i < n; i++)
            bodies->mass[i] = ldexp(1 + (double)i / (double)n, k);
        kith_simulation *simulation = simulated(
            context, bodies,
            (kith_simulation_options){.dt = 1e-4,
                                      .forces.gravitational_constant = ldexp(1, -k) / (double)n,
                                      .precision = precision,
                                      .integrator = integrator});
        assert_ok(kith_simulation_step(simulation, 3));
        kith_bodies *now = state_of(simulation, bodies);
        assert_true(isfinite(now->position[0]) && now->velocity[0] != bodies->velocity[0]);
        if (!end) {
            end = now;
        } else {
            assert_memory_equal(now->position, end->position, sizeof(double) * 3 * (size_t)n);
            assert_memory_equal(now->velocity, end->velocity, sizeof(double) * 3 * (size_t)n);
            kith_bodies_free(now);
        }
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_bodies_free(end);
}

#endif
