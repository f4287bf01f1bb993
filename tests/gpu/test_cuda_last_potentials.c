/* Diagnostics by the potentials of the last step's forces, on a GPU. */

#include "gpu_testing.h"

#include "last_potentials.h"

static void test_cuda_frames_of_a_run_evaluate_no_forces(void **state)
{
    (void)state;
    static const struct {
        const char *solver;
        kith_dtype precision;
        int evaluations;
    } cases[] = {{"fmm", KITH_F32, 21},
                 {"tree", KITH_F32, 21},
                 {"fmm", KITH_F64, 21},
                 {"direct", KITH_F32, 24}};
    kith_bodies *bodies = cluster();
    kith_context *context = new_gpu_context(NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const kith_solver solver = counting(cases[k].solver);
        kith_run_options options = {
            .simulation = by(&solver, "leapfrog", cases[k].precision), .until = 0.2, .every = 10};
        if (strcmp(counted, "direct") == 0)
            options.simulation.forces.accuracy.error = 0;
        kith_run_summary summary;
        assert_ok(kith_run(context, &options, bodies, &summary));
        assert_int_equal(evaluations, cases[k].evaluations);
    }
    kith_context_free(context);
    kith_bodies_free(bodies);
}

static void test_cuda_diagnostics_are_those_of_a_restored_simulation(void **state)
{
    (void)state;
    static const char *const solvers[] = {"fmm", "tree"}, *const integrators[] = {"leapfrog",
                                                                                  "yoshida4"};
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < 8; k++)
        check(context, by(solver_named(solvers[k % 2]), integrators[k / 2 % 2],
                          k < 4 ? KITH_F32 : KITH_F64));
    kith_context_free(context);
}

static void test_cuda_energies_keep_the_requested_error(void **state)
{
    (void)state;
    kith_bodies *bodies = cluster();
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 1);
    check_energy(gpu, cpu, by(solver_named("fmm"), "leapfrog", KITH_F32), bodies);
    check_energy(gpu, cpu, by(solver_named("tree"), "leapfrog", KITH_F64), bodies);
    kith_context_free(gpu);
    kith_context_free(cpu);
    kith_bodies_free(bodies);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_last_potentials"))
        return exit_skipped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_frames_of_a_run_evaluate_no_forces),
        cmocka_unit_test(test_cuda_diagnostics_are_those_of_a_restored_simulation),
        cmocka_unit_test(test_cuda_energies_keep_the_requested_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
