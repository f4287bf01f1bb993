/* Diagnostics take the potentials that the forces of the last step came with, where the solver
 * finds both together: the bits are those of forces evaluated for the diagnostics alone. */

#include "simulating.h"

#include "forces/solver.h"
#include "kith/run.h"
#include "simulation/keep.h"
#include "simulation/state.h"

static int evaluations;

static kith_status count_evaluation(kith_context *context, void *prepared,
                                    const struct forces_problem *problem)
{
    evaluations++;
    return solver_named("fmm")->evaluate(context, prepared, problem);
}

/* The solver fmm, which counts its evaluations. */
static kith_solver counting_fmm(void)
{
    kith_solver counting = *solver_named("fmm");
    counting.evaluate = count_evaluation;
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
    const kith_solver counting = counting_fmm();
    kith_bodies *bodies = cluster();
    kith_context *context = cpu_context(1);
    for (int k = 0; k < 3; k++) {
        evaluations = 0;
        kith_simulation *simulation =
            simulated(context, bodies, by(&counting, cases[k].integrator, KITH_F64));
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

static void test_frames_of_a_run_evaluate_no_forces(void **state)
{
    (void)state;
    const kith_solver counting = counting_fmm();
    kith_bodies *bodies = cluster();
    kith_context *context = cpu_context(2);
    for (int every = 1; every <= 10; every += 9) {
        const kith_run_options options = {
            .simulation = by(&counting, NULL, KITH_F64), .until = 0.2, .every = every};
        kith_run_summary summary;
        evaluations = 0;
        assert_ok(kith_run(context, &options, bodies, &summary));
        assert_int_equal(summary.steps, 20);
        assert_int_equal(evaluations, 21);
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
    assert_diagnosed_as_restored(context, watched, bodies, options);
    for (int step = 0; step < 3; step++) {
        assert_ok(kith_simulation_step(watched, 1));
        assert_diagnosed_as_restored(context, watched, bodies, options);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diagnostics_after_a_step_evaluate_no_forces),
        cmocka_unit_test(test_frames_of_a_run_evaluate_no_forces),
        cmocka_unit_test(test_diagnostics_have_the_bits_of_forces_evaluated_for_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
