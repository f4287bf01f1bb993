#ifndef TESTS_HYBRID_PLANETS_H
#define TESTS_HYBRID_PLANETS_H

/* Planets for tests of the integrator hybrid. */

#include "random_numbers.h"
#include "simulating.h"

static inline kith_bodies *bodies_of(int64_t count, int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(
        kith_bodies_create(count, dimensions, KITH_VELOCITY | KITH_MASS | KITH_RADIUS, &bodies));
    return bodies;
}

static inline kith_simulation_options hybrid(double dt)
{
    return (kith_simulation_options){.dt = dt, .integrator = "hybrid"};
}

static inline double angle(struct random_numbers *random)
{
    return random_uniform(random, 0, 2 * pi);
}

/* A star of mass 1 and planets of about a mass whose semi-major axes grow by a ratio each. */
static inline kith_bodies *planets_of(struct random_numbers *random, int64_t count, double mass,
                                      double ratio, double eccentricity)
{
    kith_bodies *bodies = bodies_of(count, 3);
    double a = 1;
    bodies->mass[0] = 1;
    for (int64_t i = 1; i < count; i++) {
        const kith_orbit orbit = {.a = a,
                                  .e = random_uniform(random, 0, eccentricity),
                                  .i = random_uniform(random, 0, 0.02),
                                  .Omega = angle(random),
                                  .omega = angle(random),
                                  .M = angle(random)};
        assert_ok(kith_orbit_place(1, &orbit, bodies->position + 3 * i, bodies->velocity + 3 * i));
        bodies->mass[i] = mass * random_uniform(random, 0.5, 1);
        a *= ratio;
    }
    return bodies;
}

/* A slow encounter: the inner planet overtakes the outer one, which is half a unit ahead. */
static inline kith_bodies *overtaking(double mass)
{
    kith_bodies *bodies = bodies_of(3, 3);
    const kith_orbit orbits[] = {{.a = 1, .e = 0.01, .M = 0.2}, {.a = 1.02, .e = 0.02, .M = 0.5}};
    bodies->mass[0] = 1;
    for (int64_t i = 1; i < 3; i++) {
        bodies->mass[i] = mass;
        assert_ok(kith_orbit_place(1, &orbits[i - 1], bodies->position + 3 * i,
                                   bodies->velocity + 3 * i));
    }
    return bodies;
}

#endif
