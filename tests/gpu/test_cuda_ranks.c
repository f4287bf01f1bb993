/* Ranks that compute on GPUs, as threads of this process: on one GPU, or by turns on all. */

#include "../ranks/jobs.h"

#include "gpu_testing.h"

static void test_direct_sums_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    static const struct {
        int64_t n;
        kith_dtype dtype;
        int32_t ranks;
    } cases[] = {
        {0, KITH_F64, 2},     {1, KITH_F64, 3},      {2, KITH_F32, 2},
        {9001, KITH_F64, 2},  {65537, KITH_F64, 2},  {65537, KITH_F64, 3},
        {65537, KITH_F32, 2}, {126979, KITH_F32, 5}, {270001, KITH_F64, 2},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        if (test_is_quick() && cases[c].n > 65537)
            continue;
        struct system s = system_random(*state, cases[c].dtype, cases[c].n, 3);
        const struct forces_rank like = {.system = &s, .options.softening = 0.01};
        check_same_bits(&like, cases[c].ranks);
        system_free(&s);
    }
}

static void test_trees_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    for (int32_t ranks = 2; ranks <= 3 && !test_is_quick(); ranks++) {
        struct system s = system_random(*state, KITH_F32, 524289 + 1000 * ranks, 3);
        const struct forces_rank like = {
            .system = &s, .options.solver = solver_named("fmm"), .options.accuracy.error = 1e-3};
        check_same_bits(&like, ranks);
        system_free(&s);
    }
}

static void test_steps_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    (void)state;
    const kith_initial_options plummer = {.count = 65537, .count_given = true};
    const kith_simulation_options options = {.dt = 0.001, .forces.softening = 0.02};
    kith_bodies *start = made("plummer", plummer);
    check_steps(start, &options, 3, 2);
    kith_bodies_free(start);
}

static void test_a_rank_that_fails_ends_all(void **state)
{
    struct system s = system_random(*state, KITH_F64, 65537, 3);
    struct forces_rank ranks[most_ranks];
    const struct forces_rank like = {.system = &s,
                                     .options = {.solver = solver_named("cutoff"), .cutoff = 0.1}};
    compute_on_ranks(2, &like, ranks);
    for (int32_t k = 0; k < 2; k++) {
        assert_int_equal(ranks[k].status, KITH_UNSUPPORTED);
        assert_true(has_fields(ranks[k].message, "solver cutoff cpu"));
    }
    free_results(2, ranks);
    put(s.x, 3 * 4711, (double)NAN);
    const struct forces_rank direct = {.system = &s, .options.softening = 0.01};
    compute_on_ranks(2, &direct, ranks);
    for (int32_t k = 0; k < 2; k++) {
        assert_int_equal(ranks[k].status, KITH_INVALID_ARGUMENT);
        assert_true(has_fields(ranks[k].message, "4711 nan"));
    }
    free_results(2, ranks);
    system_free(&s);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_ranks"))
        return exit_skipped;
    struct random_numbers numbers = random_numbers_begin("ranks on GPUs");
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess)
        return 1;
    gpus_of_ranks = devices;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_direct_sums_of_ranks_have_the_bits_of_one_gpu, &numbers),
        cmocka_unit_test_prestate(test_trees_of_ranks_have_the_bits_of_one_gpu, &numbers),
        cmocka_unit_test_prestate(test_steps_of_ranks_have_the_bits_of_one_gpu, &numbers),
        cmocka_unit_test_prestate(test_a_rank_that_fails_ends_all, &numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
