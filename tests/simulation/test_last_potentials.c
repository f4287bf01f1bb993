/* Diagnostics take the potentials that the forces of the last step came with, where the solver
 * finds both together: in double precision the bits are those of forces evaluated for the
 * diagnostics alone. */

#include "last_potentials.h"

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
    for (int turn = 0; turn < 6; turn++) {
        const int k = turn / 2;
        evaluations = 0;
        kith_simulation *simulation = simulated(
            context, bodies, by(&solver, cases[k].integrator, turn % 2 ? KITH_F32 : KITH_F64));
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
        kith_dtype precision;
    } cases[] = {{"fmm", "leapfrog", 0.2, 1, 21, 21, KITH_F32},
                 {"tree", "leapfrog", 0.2, 10, 21, 21, KITH_F32},
                 {"direct", "leapfrog", 0.2, 10, 24, 3, KITH_F32},
                 {"fmm", "leapfrog", 0.2, 1, 21, 21, KITH_F64},
                 {"fmm", "leapfrog", 0.2, 10, 21, 21, KITH_F64},
                 {"fmm", "yoshida4", 0.2, 10, 61, 21, KITH_F64},
                 {"direct", "leapfrog", 0.2, 1, 21, 21, KITH_F64},
                 {"direct", "leapfrog", 0.2, 10, 21, 3, KITH_F64},
                 {"direct", "yoshida4", 0.2, 10, 61, 3, KITH_F64},
                 {"direct", "leapfrog", 0.205, 10, 22, 4, KITH_F64}};
    kith_bodies *bodies = cluster();
    kith_context *context = cpu_context(2);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const kith_solver solver = counting(cases[k].solver);
        kith_run_options options = {.simulation =
                                        by(&solver, cases[k].integrator, cases[k].precision),
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

static void test_energies_in_single_precision_keep_the_requested_error(void **state)
{
    (void)state;
    kith_bodies *bodies = cluster();
    kith_context *context = cpu_context(1);
    check_energy(context, context, by(solver_named("fmm"), "leapfrog", KITH_F32), bodies);
    check_energy(context, context, by(solver_named("tree"), "leapfrog", KITH_F32), bodies);
    kith_context_free(context);
    kith_bodies_free(bodies);
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
        for (int i = 0; i < 4; i++)
            check(context, by(solvers[i % 2], integrators[i], KITH_F32));
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
        cmocka_unit_test(test_energies_in_single_precision_keep_the_requested_error),
        cmocka_unit_test(test_diagnostics_have_the_bits_of_forces_evaluated_for_them),
        cmocka_unit_test(test_direct_sums_have_the_same_bits_with_potentials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
