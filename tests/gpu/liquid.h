#ifndef TESTS_GPU_LIQUID_H
#define TESTS_GPU_LIQUID_H

/* Liquids in a periodic cell, whose steps several GPUs share. */

#include "testing.h"

#include <math.h>

#include "io/bodies.h"
#include "random_numbers.h"

struct liquid_case {
    kith_dtype dtype;
    const char *law;
    double friction;
    int64_t side, dimensions;
    /* The cell is longer than the liquid by this factor, which moves along it with this speed. */
    double longer, speed;
    double fastest; /* one particle is as fast as this along it */
};

/* side³ or side² particles at density 0.8, from a simple lattice; their masses and charges differ,
 * so that a law shows whose column it has. */
static inline kith_bodies *liquid(struct random_numbers *random, const struct liquid_case *the)
{
    const double spacing = pow(0.8, -1.0 / 3);
    const int64_t side = the->side, plane = side * side, d = the->dimensions;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(d == 3 ? plane * side : plane, (int32_t)d,
                                 KITH_VELOCITY | KITH_MASS | KITH_CHARGE, &bodies));
    for (int64_t i = 0; i < bodies->count; i++) {
        const int64_t at[3] = {i % side, i / side % side, i / plane};
        bodies->mass[i] = i % 3 == 0 ? 2 : 1;
        bodies->charge[i] = 0.75 + 0.125 * (double)(i % 5);
        for (int64_t c = 0; c < d; c++) {
            bodies->position[d * i + c] =
                ((double)at[c] + random_uniform(random, -0.1, 0.1)) * spacing;
            bodies->velocity[d * i + c] = random_uniform(random, -2, 2) + (c == 0 ? the->speed : 0);
        }
    }
    if (the->fastest > 0)
        bodies->velocity[d * (bodies->count / 2)] = the->fastest;
    bodies->has_cell = true;
    for (int64_t c = 0; c < d; c++) {
        bodies->cell[4 * c] = (double)side * spacing * (c == 0 ? the->longer : 1);
        bodies->periodic[c] = true;
    }
    return bodies;
}

/* Their runs: by a law within 2.5. */
static inline kith_simulation_options liquid_options(const struct liquid_case *the, kith_law *law)
{
    return (kith_simulation_options){
        .dt = 0.004,
        .precision = the->dtype,
        .forces = {.law = law, .cutoff = 2.5, .shift = KITH_SHIFT_FORCE},
        .thermostat = {.kind = the->friction > 0 ? KITH_THERMOSTAT_LANGEVIN : KITH_THERMOSTAT_NONE,
                       .temperature = 1,
                       .time = 1}};
}

#endif
