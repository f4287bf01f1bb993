#ifndef TESTS_TESTING_LAST_POTENTIALS_H
#define TESTS_TESTING_LAST_POTENTIALS_H

/* What the tests of diagnostics by the last step's potentials share, on CPU and GPU. */

#include "forces_system.h"
#include "simulating.h"

#include "forces/solver.h"
#include "kith/run.h"
#include "simulation/keep.h"
#include "simulation/state.h"

static int evaluations, with_potentials;
static const char *counted;

static inline kith_status count_evaluation(kith_context *context, void *prepared,
                                           const struct forces_problem *problem)
{
    evaluations++;
    with_potentials += problem->potential != NULL;
    return solver_named(counted)->evaluate(context, prepared, problem);
}

/* A solver that counts its evaluations. */
static inline kith_solver counting(const char *name)
{
    kith_solver counting = *solver_named(name);
    counting.evaluate = count_evaluation;
    counted = name;
    evaluations = with_potentials = 0;
    return counting;
}

static inline kith_simulation_options by(const kith_solver *solver, const char *integrator,
                                         kith_dtype precision)
{
    return (kith_simulation_options){
        .dt = 0.01,
        .integrator = integrator,
        .precision = precision,
        .forces = {.softening = 0.02, .solver = solver, .accuracy.error = 1e-3}};
}

static inline kith_bodies *cluster(void)
{
    return made("plummer", (kith_initial_options){.count = 1000, .seed = 8});
}

/* Forces that a simulation restored from a checkpoint evaluates for its diagnostics. */
static inline void assert_diagnosed_as_restored(kith_context *context, kith_simulation *simulation,
                                                const kith_bodies *bodies,
                                                kith_simulation_options options)
{
    kith_simulation *restored = simulated(context, bodies, options);
    kith_checkpoint checkpoint = {0};
    const kith_diagnostics found = diagnosed(simulation);
    assert_ok(kith_simulation_save(simulation, &checkpoint));
    assert_ok(kith_simulation_restore(restored, &checkpoint));
    const kith_diagnostics expected = diagnosed(restored);
    assert_memory_equal(&found, &expected, sizeof found);
    kith_checkpoint_free(&checkpoint);
    kith_simulation_free(restored);
}

static inline void check(kith_context *context, kith_simulation_options options)
{
    kith_bodies *bodies = cluster(), *others = cluster();
    kith_simulation *watched = simulated(context, bodies, options);
    kith_simulation *alone = simulated(context, bodies, options);
    watched->sampled_step = 1;
    assert_diagnosed_as_restored(context, watched, bodies, options);
    for (int step = 0; step < 3; step++) {
        assert_ok(kith_simulation_step(watched, 1));
        assert_diagnosed_as_restored(context, watched, bodies, options);
        watched->sampled_step = step + 2;
    }
    assert_ok(kith_simulation_step(alone, 3));
    assert_ok(kith_simulation_step_by(watched, -0.003));
    assert_ok(kith_simulation_step_by(alone, -0.003));
    assert_diagnosed_as_restored(context, watched, bodies, options);

    kith_bodies *a = state_of(watched, bodies), *b = state_of(alone, bodies);
    assert_same_state(a, b);

    struct simulation_moment moment;
    const kith_diagnostics before = diagnosed(watched);
    assert_ok(simulation_keep(watched, &moment));
    assert_ok(kith_simulation_step(watched, 1));
    assert_ok(simulation_bring_back(watched, &moment));
    const kith_diagnostics back = diagnosed(watched);
    assert_memory_equal(&back, &before, sizeof back);

    const double h = 0.001;
    assert_ok(kith_simulation_step(watched, 1));
    assert_ok(simulation_accumulate(watched, 1, &h, &(const int32_t){VELOCITY}, POSITION));
    assert_diagnosed_as_restored(context, watched, bodies, options);

    for (int64_t i = 0; i < others->count; i++)
        others->mass[i] *= 1 + (double)(i % 3);
    assert_ok(kith_simulation_set_bodies(watched, others));
    assert_ok(kith_simulation_step(watched, 1));
    assert_diagnosed_as_restored(context, watched, others, options);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(watched);
    kith_simulation_free(alone);
    kith_bodies_free(bodies);
    kith_bodies_free(others);
}

/* The energies after some steps, against direct sums in double precision. */
static inline void check_energy(kith_context *context, kith_context *cpu,
                                kith_simulation_options options, const kith_bodies *bodies)
{
    kith_simulation_options direct = by(solver_named("direct"), "leapfrog", KITH_F64);
    const double error = options.forces.accuracy.error;
    kith_simulation *simulation = simulated(context, bodies, options);
    assert_ok(kith_simulation_step(simulation, 3));
    const kith_diagnostics found = diagnosed(simulation);
    kith_bodies *moved = NULL;
    assert_ok(kith_bodies_create(bodies->count, 3, KITH_VELOCITY | KITH_MASS, &moved));
    assert_ok(kith_simulation_get_bodies(simulation, moved));
    memcpy(moved->mass, bodies->mass, (size_t)bodies->count * sizeof *moved->mass);
    direct.forces.accuracy.error = 0;
    kith_simulation *exact = simulated(cpu, moved, direct);
    const kith_diagnostics expected = diagnosed(exact);
    assert_near(found.potential_energy, expected.potential_energy,
                error * fabs(expected.potential_energy));
    assert_near(found.virial_ratio, expected.virial_ratio, error * expected.virial_ratio);
    kith_simulation_free(exact);
    kith_bodies_free(moved);
    kith_simulation_free(simulation);
}

#endif
