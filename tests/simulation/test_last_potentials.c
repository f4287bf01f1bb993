/* Diagnostics take the potentials that the forces of the last step came with, where the solver
 * finds both together: the bits are those of forces evaluated for the diagnostics alone. */

#include "simulating.h"

#include "forces/solver.h"
#include "kith/run.h"
#include "simulation/keep.h"
#include "simulation/state.h"

static int evaluations, with_potentials;
static const char *counted;

static kith_status count_evaluation(kith_context *context, void *prepared,
                                    const struct forces_problem *problem)
{
    evaluations++;
    with_potentials += problem->potential != NULL;
    return solver_named(counted)->evaluate(context, prepared, problem);
}

/* A solver that counts its evaluations. */
static kith_solver counting(const char *name)
{
    kith_solver counting = *solver_named(name);
    counting.evaluate = count_evaluation;
    counted = name;
    evaluations = with_potentials = 0;
    return counting;
}

static kith_simulation_options by(const kith_solver *solver, const char *integrator,
                                  kith_dtype precision)
{
    return (kith_simulation_options){
        .dt = 0.01,
        .integrator = integrator,
        .precision = precision,
        .forces = {.softening = 0.02, .solver = solver, .accuracy.error = 1e-3}};
}

static kith_bodies *cluster(void)
{
    return made("plummer", (kith_initial_options){.count = 1000, .seed = 8});
}

static void test_diagnostics_after_a_step_evaluate_no_forces(void **state)
{
    (void)state;
    static const struct {
        const char *integrator;
        int of_step, of_start, of_diagnostics;
    } cases[] = {{"leapfrog", 1, 1, 0}, {"yoshida4", 3, 1, 0}, {"leapfrog-dkd", 1, 0, 1}};
    const kith_solver solver = counting("fmm");
    kith_bodies *bodies = cluster();
    kith_context *context = cpu_context(1);
    for (int k = 0; k < 3; k++) {
        evaluations = 0;
        kith_simulation *simulation =
            simulated(context, bodies, by(&solver, cases[k].integrator, KITH_F64));
        int expected = cases[k].of_start;
        for (int step = 0; step <= 4; step++) {
            assert_ok(kith_simulation_step(simulation, step));
            diagnosed(simulation);
            expected += step * cases[k].of_step + cases[k].of_diagnostics;
            assert_int_equal(evaluations, expected);
        }
        kith_simulation_free(simulation);
    }
    kith_context_free(context);
    kith_bodies_free(bodies);
}

/* A direct sum computes potentials, which take time, in the last evaluation before a frame. */
static void test_frames_of_a_run_evaluate_no_forces(void **state)
{
    (void)state;
    static const struct {
        const char *solver, *integrator;
        double until;
        int every, evaluations, with_potentials;
    } cases[] = {{"fmm", "leapfrog", 0.2, 1, 21, 21},     {"fmm", "leapfrog", 0.2, 10, 21, 21},
                 {"fmm", "yoshida4", 0.2, 10, 61, 21},    {"direct", "leapfrog", 0.2, 1, 21, 21},
                 {"direct", "leapfrog", 0.2, 10, 21, 3},  {"direct", "yoshida4", 0.2, 10, 61, 3},
                 {"direct", "leapfrog", 0.205, 10, 22, 4}};
    kith_bodies *bodies = cluster();
    kith_context *context = cpu_context(2);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const kith_solver solver = counting(cases[k].solver);
        kith_run_options options = {.simulation = by(&solver, cases[k].integrator, KITH_F64),
                                    .until = cases[k].until,
                                    .every = cases[k].every};
        if (strcmp(counted, "direct") == 0)
            options.simulation.forces.accuracy.error = 0;
        kith_run_summary summary;
        assert_ok(kith_run(context, &options, bodies, &summary));
        assert_int_equal(evaluations, cases[k].evaluations);
        assert_int_equal(with_potentials, cases[k].with_potentials);
    }
    kith_context_free(context);
    kith_bodies_free(bodies);
}

/* Forces that a simulation restored from a checkpoint evaluates for its diagnostics. */
static void assert_diagnosed_as_restored(kith_context *context, kith_simulation *simulation,
                                         const kith_bodies *bodies, kith_simulation_options options)
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

static void check(kith_context *context, kith_simulation_options options)
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

static void test_diagnostics_have_the_bits_of_forces_evaluated_for_them(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "yoshida4", "pefrl", "rk4"};
    const kith_solver *solvers[] = {solver_named("fmm"), solver_named("tree"), NULL,
                                    solver_named("direct")};
    for (int threads = 1; threads <= 3; threads += 2) {
        kith_context *context = cpu_context(threads);
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < 4; i++) {
                kith_simulation_options options = by(solvers[k], integrators[i], KITH_F64);
                if (k == 3)
                    options.forces.accuracy.error = 0;
                check(context, options);
            }
        check(context, by(solvers[0], NULL, KITH_F32));
        kith_context_free(context);
    }
}

/* Direct sums with potentials and without, of which a run has both. */
static void check_direct(kith_context *context, const kith_bodies *bodies,
                         kith_simulation_options options)
{
    kith_simulation *watched = simulated(context, bodies, options);
    kith_simulation *alone = simulated(context, bodies, options);
    for (int step = 1; step <= 3; step++) {
        watched->sampled_step = step;
        assert_ok(kith_simulation_step(watched, 1));
        assert_ok(kith_simulation_step(alone, 1));
        const kith_diagnostics a = diagnosed(watched), b = diagnosed(alone);
        assert_memory_equal(&a, &b, sizeof a);
        assert_diagnosed_as_restored(context, watched, bodies, options);
    }
    kith_bodies *a = state_of(watched, bodies), *b = state_of(alone, bodies);
    assert_same_state(a, b);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(watched);
    kith_simulation_free(alone);
}

static void test_direct_sums_have_the_same_bits_with_potentials(void **state)
{
    (void)state;
    static const int64_t counts[] = {3, 60, 70, 300, 1500, 2600};
    static const kith_forces_method methods[] = {KITH_FORCES_AUTO, KITH_FORCES_DIRECT,
                                                 KITH_FORCES_SPLIT, KITH_FORCES_SYMMETRIC};
    kith_context *context = cpu_context(2);
    for (int k = 0; k < 6 * 4 * 8; k++) {
        const int64_t count = counts[k % 6];
        const int which = k / 24;
        kith_bodies *bodies =
            made("uniform-sphere", (kith_initial_options){.count = count,
                                                          .dimensions = which & 1 ? 2 : 3,
                                                          .seed = (uint64_t)k});
        for (int64_t i = 0; i < count && which & 4; i++)
            bodies->mass[i] *= i % 3 == 0;
        const kith_simulation_options options = {
            .dt = 1e-3,
            .forces = {.softening = which & 2 ? 0.02 : 0, .method = methods[k / 6 % 4]}};
        check_direct(context, bodies, options);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diagnostics_after_a_step_evaluate_no_forces),
        cmocka_unit_test(test_frames_of_a_run_evaluate_no_forces),
        cmocka_unit_test(test_diagnostics_have_the_bits_of_forces_evaluated_for_them),
        cmocka_unit_test(test_direct_sums_have_the_same_bits_with_potentials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
