#ifndef TESTS_GPU_SIMULATING_H
#define TESTS_GPU_SIMULATING_H

/* What the tests of simulations on the GPU share. */

#include "gpu_testing.h"

#include "simulating.h"

enum softening { none, common, of_bodies, softening_count };

/* What is simulated, systems = 0 for no ensemble. */
struct simulated_case {
    kith_dtype dtype;
    int64_t bodies, systems;
    int32_t dimensions;
    enum softening softening;
    const char *integrator;
};

/* Body k of n somewhere in its own cell of [-1, 1]^D, away from the walls: they keep a distance, so
 * that the rounding of where they are is not seen in how they fly apart. */
static inline void place_apart(struct random_numbers *random, int64_t k, int64_t n,
                               int32_t dimensions, double *position)
{
    const int64_t side = (int64_t)ceil(pow((double)n, 1.0 / dimensions));
    for (int32_t c = 0; c < dimensions; c++, k /= side) {
        const double place = (double)(k % side) + random_uniform(random, 0.2, 0.8);
        position[c] = 2 * place / (double)side - 1;
    }
}

/* Without softening they keep a distance. */
static inline kith_bodies *random_bodies(struct random_numbers *random,
                                         const struct simulated_case *the)
{
    const int64_t rows = the->bodies * (the->systems > 0 ? the->systems : 1);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(rows, the->dimensions, KITH_VELOCITY | KITH_MASS | KITH_SOFTENING,
                                 &bodies));
    const int32_t dimensions = the->dimensions;
    for (int64_t i = 0; i < rows; i++) {
        for (int32_t c = 0; c < dimensions; c++) {
            bodies->position[i * dimensions + c] = random_uniform(random, -1, 1);
            bodies->velocity[i * dimensions + c] = random_uniform(random, -1, 1);
        }
        if (the->softening == none)
            place_apart(random, i % the->bodies, the->bodies, dimensions,
                        bodies->position + i * dimensions);
        bodies->mass[i] = random_uniform(random, 0.1, 1) / (double)the->bodies;
        bodies->softening[i] = random_uniform(random, 0.05, 0.3);
    }
    return bodies;
}

/* Under a law; NULL: gravity. */
static inline kith_simulation *begin_under(kith_context *context, const struct simulated_case *the,
                                           const kith_law *law, double dt,
                                           const kith_bodies *bodies)
{
    const kith_simulation_options options = {
        .dt = dt,
        .integrator = the->integrator,
        .forces.softening = the->softening == common ? 0.2 : 0,
        .softening_of_bodies = the->softening == of_bodies,
        .precision = the->dtype,
        .forces.law = law,
    };
    kith_simulation *simulation = NULL;
    if (the->systems > 0)
        assert_ok(
            kith_simulation_create_ensemble(context, &options, the->systems, bodies, &simulation));
    else
        assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    return simulation;
}

static inline kith_simulation *begin(kith_context *context, const struct simulated_case *the,
                                     const kith_bodies *bodies)
{
    return begin_under(context, the, NULL, the->softening == none ? 1e-5 : 1e-3, bodies);
}

/* Bodies of many systems, slow enough to stay near each other, every fifth without mass. */
static inline kith_bodies *slow_bodies(struct random_numbers *random, int64_t systems,
                                       int64_t count, int32_t dimensions, double least_mass,
                                       double least_softening)
{
    kith_bodies *bodies = NULL;
    const int64_t rows = systems * count;
    assert_ok(
        kith_bodies_create(rows, dimensions, KITH_VELOCITY | KITH_MASS | KITH_SOFTENING, &bodies));
    for (int64_t k = 0; k < rows * dimensions; k++) {
        bodies->position[k] = random_uniform(random, -2, 2);
        bodies->velocity[k] = random_uniform(random, -0.5, 0.5);
    }
    for (int64_t i = 0; i < rows; i++) {
        bodies->mass[i] = i % 5 == 4 ? 0 : random_uniform(random, least_mass, 1) / (double)count;
        bodies->softening[i] = random_uniform(random, least_softening, least_softening + 0.1);
    }
    return bodies;
}

static inline kith_simulation *ensemble_of(kith_context *context, int64_t systems,
                                           const kith_bodies *bodies,
                                           kith_simulation_options options)
{
    kith_simulation *simulation = NULL;
    assert_ok(kith_simulation_create_ensemble(context, &options, systems, bodies, &simulation));
    return simulation;
}

/* Two simulations and their bodies at the end. */
static inline void free_both(kith_simulation *found, kith_simulation *expected, kith_bodies *a,
                             kith_bodies *b)
{
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(found);
    kith_simulation_free(expected);
}

#endif
