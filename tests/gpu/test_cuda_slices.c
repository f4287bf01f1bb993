/* Trees over ranks that each have a part of the bodies on a GPU: ranks are threads of this process,
 * on one GPU, or by turns on all. */

#include "../ranks/ranks_of_threads.h"

#include "device/context.h"
#include "gpu_trees.h"

static struct tree_scene scene;

/* What a rank does with its rows of a problem. */
struct slice_rank {
    const struct tree_problem *problem; /* of all bodies */
    const struct tree_request *wanted;
    struct tree_results *results; /* of all, of which a rank fills in its rows */
    struct tree_report report;
    int32_t calls;
    bool is_cancelled;
    kith_status status;
};

static struct tree_problem rows_of(const struct tree_problem *problem, int64_t first)
{
    struct tree_problem own = *problem;
    const int64_t offset = first * kith_dtype_bytes(problem->dtype);
    own.is_slice = true;
    for (int32_t c = 0; c < problem->dimensions; c++)
        own.source_position[c] = own.target_position[c] =
            (const char *)problem->source_position[c] + offset;
    own.weight = problem->weight ? (const char *)problem->weight + offset : NULL;
    return own;
}

/* Of rows from `first` on. */
static void take_results(struct tree_results *results, const struct tree_problem *all,
                         int64_t first, const struct tree_home_cuda *home)
{
    void *const found =
        to_host(home->results, (size_t)(4 * home->count * kith_dtype_bytes(all->dtype)));
    uint32_t *const order = to_host(home->order, (size_t)home->count * sizeof *order);
    for (int64_t k = 0; k < home->count; k++) {
        double *gradient = results->gradient[first + order[k]];
        for (int32_t c = 0; c < 3; c++)
            gradient[c] = c < all->dimensions ? at(all->dtype, found, 4 * k + c) : 0;
        results->potential[first + order[k]] = at(all->dtype, found, 4 * k + 3);
    }
    free(found);
    free(order);
}

/* Columns of a rank's rows on its device. */
static struct tree_problem rows_on_device(const struct tree_problem *own, int64_t rows)
{
    struct tree_problem few = *own;
    few.source_count = few.target_count = rows;
    struct tree_problem there = on_device(&few);
    there.source_count = there.target_count = own->source_count;
    return there;
}

static kith_status solve_rows(void *argument, kith_context *context)
{
    struct slice_rank *rank = argument;
    const struct tree_problem *all = rank->problem;
    const int64_t first =
        ranks_first(all->source_count, context->ranks->size, context->ranks->rank);
    const int64_t rows =
        ranks_first(all->source_count, context->ranks->size, context->ranks->rank + 1) - first;
    const struct tree_problem own = rows_of(all, first);
    const struct tree_request request = tree_choose_cuda(&own, rank->wanted);
    struct tree_state_cuda state = {0};
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct tree_problem there = rows_on_device(&own, rows);
    for (int32_t call = 0; call < rank->calls; call++) {
        struct tree_home_cuda home = {0};
        if (rank->is_cancelled)
            kith_context_cancel(context);
        rank->status = tree_solve_slices_cuda(context, &there, &request, &state, &home);
        rank->report = state.report;
        if (rank->status == KITH_OK)
            take_results(rank->results, all, first, &home);
    }
    free_problem(&there);
    tree_free_cuda(context, &state);
    return rank->status;
}

static struct slice_rank solve_on_ranks(int32_t size, const struct tree_problem *problem,
                                        const struct tree_request *wanted, int32_t calls,
                                        struct tree_results *results)
{
    struct slice_rank ranks[most_ranks];
    for (int32_t k = 0; k < size; k++)
        ranks[k] = (struct slice_rank){
            .problem = problem, .wanted = wanted, .results = results, .calls = calls};
    memset(results, 0xff, sizeof *results);
    do_ranks(size, solve_rows, ranks, sizeof ranks[0]);
    for (int32_t k = 0; k < size; k++)
        assert_int_equal(ranks[k].status, KITH_OK);
    return ranks[0];
}

static struct tree_results found_results;

static void check_ranks(int32_t size, const char *name, const struct tree_problem *problem,
                        const struct direct_sum *exact, const struct tree_request *wanted)
{
    const bool in_double = problem->dtype == KITH_F64;
    const struct slice_rank one = solve_on_ranks(size, problem, wanted, 1, &found_results);
    const struct errors found = errors_of(problem, exact, &found_results);
    check_kept(name, found, wanted->error);
    check_estimated(name, found, one.report.error_estimated, problem->dtype);
    if (!wanted->groups && in_double && !(found.momentum <= 1e-14))
        fail_msg("%s, %d ranks: momentum %g", name, (int)size, found.momentum);
}

static void test_slices_of_ranks_keep_the_requested_error(void **state)
{
    static const int32_t sizes[] = {1, 2, 3, 5};
    static const double errors[] = {1e-2, 1e-3, 1e-5, 1e-8};
    for (int32_t kind = 0; kind < scene_kinds; kind += scene_step()) {
        scene_fill(&scene, *state, scene_names[kind], 3, scene_count(5000));
        const struct tree_problem problem = problem_of(&scene, KITH_F64, 0);
        const struct direct_sum *exact = sum_all_directly(&problem);
        for (int k = 0; k < 4; k++) {
            const struct tree_request wanted = {
                .groups = (kind + k) % 3 == 0, .error = errors[k], .leaf = 24, .estimates = true};
            check_ranks(sizes[(kind + k) % 4], scene_names[kind], &problem, exact, &wanted);
        }
    }
}

/* Softened, in the plane, by the logarithm, in single precision, with an angle. */
static void test_slices_of_ranks_keep_other_requests(void **state)
{
    for (int turn = 0; turn < 8; turn++) {
        const int32_t dimensions = 2 + turn % 2;
        const kith_dtype dtype = turn < 4 ? KITH_F32 : KITH_F64;
        scene_fill(&scene, *state, turn % 4 < 2 ? "plummer" : "disk", dimensions, 4000);
        struct tree_problem problem = problem_of(&scene, dtype, turn % 3 == 0 ? 0.05 : 0);
        problem.law = dimensions == 2 && turn % 4 == 0 ? expansion_logarithm : expansion_inverse;
        const struct direct_sum *exact = sum_all_directly(&problem);
        const struct tree_request wanted = {
            .error = 1e-4, .leaf = turn % 2 ? 0 : 20, .estimates = true};
        check_ranks(2 + turn % 3, "turn", &problem, exact, &wanted);
        const struct tree_request angle = {.theta = 0.4, .order = 8, .leaf = 20};
        solve_on_ranks(2, &problem, &angle, 1, &found_results);
        assert_true(errors_of(&problem, exact, &found_results).rms < 1e-3);
    }
}

/* One rank alone has them all, or each a few. */
static void test_slices_of_few_bodies(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 7, 100, 1500};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        scene_fill(&scene, *state, "cube", 3, counts[k]);
        const struct tree_problem problem = problem_of(&scene, KITH_F64, 0);
        const struct direct_sum *exact = sum_all_directly(&problem);
        const struct tree_request wanted = {.error = 1e-5, .leaf = 8, .estimates = true};
        for (int32_t size = 1; size <= 4; size += test_is_quick() ? 3 : 1)
            check_ranks(size, "few", &problem, exact, &wanted);
    }
}

static void test_slices_have_the_same_bits_on_every_run(void **state)
{
    static struct tree_results again;
    scene_fill(&scene, *state, "plummer", 3, 5000);
    const struct tree_problem problem = problem_of(&scene, KITH_F32, 0);
    const struct tree_request wanted = {.error = 1e-3, .leaf = 24, .estimates = true};
    const struct slice_rank one = solve_on_ranks(3, &problem, &wanted, 1, &found_results);
    const struct slice_rank two = solve_on_ranks(3, &problem, &wanted, 3, &again);
    assert_true(one.report.near_per_target == two.report.near_per_target);
    assert_true(one.report.near_per_target > 0 && one.report.far_per_target > 0);
    assert_memory_equal(found_results.gradient, again.gradient, 5000 * sizeof again.gradient[0]);
    assert_memory_equal(found_results.potential, again.potential, 5000 * sizeof(double));
}

static void test_a_cancelled_rank_ends_all(void **state)
{
    struct slice_rank ranks[3];
    scene_fill(&scene, *state, "plummer", 3, 5000);
    const struct tree_problem problem = problem_of(&scene, KITH_F64, 0);
    const struct tree_request wanted = {.error = 1e-3};
    for (int k = 0; k < 3; k++)
        ranks[k] = (struct slice_rank){.problem = &problem,
                                       .wanted = &wanted,
                                       .results = &found_results,
                                       .calls = 1,
                                       .is_cancelled = k == 1};
    do_ranks(3, solve_rows, ranks, sizeof ranks[0]);
    for (int k = 0; k < 3; k++)
        assert_int_equal(ranks[k].status, KITH_CANCELLED);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_slices"))
        return exit_skipped;
    struct random_numbers numbers = random_numbers_begin("slices on GPUs");
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess)
        return 1;
    gpus_of_ranks = devices;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_slices_of_few_bodies, &numbers),
        cmocka_unit_test_prestate(test_slices_of_ranks_keep_the_requested_error, &numbers),
        cmocka_unit_test_prestate(test_slices_of_ranks_keep_other_requests, &numbers),
        cmocka_unit_test_prestate(test_slices_have_the_same_bits_on_every_run, &numbers),
        cmocka_unit_test_prestate(test_a_cancelled_rank_ends_all, &numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
