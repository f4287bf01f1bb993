/* Rounding in many steps on the GPU, of one system and of ensembles: sums of positions and
 * velocities are compensated in every kernel of whole steps. */

#include "gpu_testing.h"
#include "rounding.h"

/* Bodies and systems for which each kernel is chosen: a warp, a block or all multiprocessors for
 * one system; in ensembles a lane, a part of a warp, a warp or a block. */
static const int64_t shapes[][2] = {{3, 0},  {3, 4000},  {40, 0},   {40, 3},
                                    {20, 3}, {20, 4000}, {9, 6000}, {90, 0}};

static void test_cuda_only_forces_round_in_many_steps(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "hermite4", "rk4", "pefrl", "yoshida4"};
    kith_context *gpu = new_gpu_context(NULL), *cpu = cpu_context(1);
    for (int k = 0; k < (test_is_quick() ? 2 : 5); k++)
        for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++) {
            const int64_t count = shapes[shape][0], systems = shapes[shape][1];
            const char *name = integrators[k];
            double at[3];
            place_after_many_steps(cpu, name, KITH_F64, count, 0, at);
            assert_true(rounding_of_many_steps(gpu, name, KITH_F64, count, systems, at) <= 1e-13);
            assert_true(rounding_of_many_steps(gpu, name, KITH_F32, count, systems, at) <= 1e-4);
        }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void check_growth(kith_context *gpu, int64_t systems)
{
    double rms[3];
    rms_by_decades(gpu, systems, 3, rms);
    const double exponent = log10(rms[2] / rms[0]) / 2;
    print_message("exponent %.3g\n", exponent);
    assert_true(rms[2] < 4e-15);
    assert_true(exponent <= 0.6);
}

static void test_cuda_energies_err_by_the_root_of_time(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(NULL);
    check_growth(gpu, 64);
    check_growth(gpu, 4096);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_rounding"))
        return exit_skipped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_only_forces_round_in_many_steps),
        cmocka_unit_test(test_cuda_energies_err_by_the_root_of_time),
    };
    return cmocka_run_group_tests_name("cuda_rounding", tests, NULL, NULL);
}
