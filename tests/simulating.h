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
        largest = fmax(largest, fabs(a->position[k] - b->position[k]));
    return largest;
}

static inline double length_of(const double vector[3])
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

/* Where a body on a Kepler orbit (G M = a = 1) is at a time after pericentre, by Newton's iteration
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

#endif
