/* Laws other than 1/s and ln s, by the series of their formulas. */

#include "tree_laws.h"
#include "tree_on_cpu.h"

#include "tree/law_bins.h"

static struct tree_scene scene;
static struct law_estimates estimates;

/* Several errors of one problem. Momentum is conserved to the rounding of the series' terms, which
 * for a Gaussian law are far larger than their sum. */
static void check(void *user, const struct pair_law *law, const char *name, kith_dtype dtype,
                  double softening, const double errors[], int count, int groups)
{
    kith_context *context = user;
    kith_law *parsed = NULL;
    struct tree_state tree = {0};
    const struct tree_problem problem = problem_by(&scene, law->text, dtype, softening, &parsed);
    const struct direct_sum *exact = sum_by(&problem, law);
    const double rounding = law->value == gaussian ? 1e-10 : 1e-13;
    for (int k = 0; k < count; k++, groups = !groups) {
        const struct tree_request request = {
            .groups = groups, .error = errors[k], .leaf = 16, .estimates = true};
        const struct errors found = solve(context, &problem, exact, &request, &tree);
        char what[100];
        snprintf(what, sizeof what, "%s of %s", law->text, name);
        if (scene.count > 0) {
            check_kept(what, found, errors[k]);
            count_estimate(&estimates, what, found, tree.report.error_estimated, dtype);
        }
        if (!groups && dtype == KITH_F64 && !(found.momentum_of_pulls <= rounding))
            fail_msg("%s: momentum %g", what, found.momentum_of_pulls);
    }
    tree_free(&tree);
    kith_law_free(parsed);
}

static void check_all(const char *test, int64_t points, int32_t threads,
                      void (*cases)(const struct law_checks *checks))
{
    struct random_numbers numbers = random_numbers_begin(test);
    kith_context *context = context_with(threads);
    cases(&(struct law_checks){check, context, &scene, &numbers, points});
    kith_context_free(context);
}

static void check_every_scene(const struct law_checks *checks)
{
    check_every_law(checks, 1);
}

static void test_the_requested_error_is_kept_by_any_law(void **state)
{
    (void)state;
    check_all("test_the_requested_error_by_any_law", 1500, 2, check_every_scene);
}

static void test_the_requested_error_is_kept_in_other_settings(void **state)
{
    (void)state;
    check_all("test_in_other_settings", 2000, 2, check_other_settings);
}

/* The law 1/s by its series and by expansions of its own. */
static void test_series_of_gravity_are_gravity(void **state)
{
    (void)state;
    static const struct pair_law law = {"expr:m_i * m_j / r", inverse, inverse_factor};
    struct random_numbers numbers = random_numbers_begin("test_series_of_gravity_are_gravity");
    kith_context *context = context_with(2);
    scene_fill(&scene, &numbers, "hernquist", 3, 3000);
    check(context, &law, "hernquist", KITH_F64, 0, &(double){1e-12}, 1, 0);
    check(context, &law, "hernquist", KITH_F64, 0.1, &(double){1e-12}, 1, 0);
    check(context, &law, "hernquist", KITH_F64, 0, &(double){1e-5}, 1, 1);
    check(context, &law, "hernquist", KITH_F32, 0, &(double){1e-5}, 1, 0);
    kith_context_free(context);
}

/* Of a sparse halo few bodies, in large leaves, have most of the error. */
static void test_the_error_of_few_bodies_is_estimated(void **state)
{
    (void)state;
    static const struct pair_law law = {"multiquadric:0.1", multiquadric, multiquadric_factor};
    static const double errors[] = {1e-4, 1e-6, 1e-8};
    struct random_numbers numbers = random_numbers_begin("test_the_error_of_few_bodies");
    kith_context *context = context_with(2);
    for (int turn = 0; turn < 16; turn++) {
        scene_fill(&scene, &numbers, "sparse halo", 3, 1000);
        for (int k = 0; k < 3; k++)
            check(context, &law, "sparse halo", KITH_F64, 0, &errors[k], 1, 0);
    }
    kith_context_free(context);
}

static void test_errors_are_estimated(void **state)
{
    (void)state;
    check_estimates(&estimates);
}

static void test_targets_need_not_be_the_sources(void **state)
{
    (void)state;
    static struct tree_scene targets;
    struct random_numbers numbers = random_numbers_begin("test_targets_need_not_be_the_sources");
    kith_context *context = context_with(2);
    scene_fill(&scene, &numbers, "plummer", 3, 3000);
    scene_fill(&targets, &numbers, "cube", 3, 777);
    for (int k = 0; k < law_count; k++) {
        kith_law *law = NULL;
        struct tree_state tree = {0};
        const struct tree_problem problem = problem_of_others(&scene, &targets, k, &law);
        const struct tree_request request = {.groups = k % 2, .error = 1e-5, .leaf = 24};
        check_kept(laws[k].text,
                   solve(context, &problem, sum_by(&problem, &laws[k]), &request, &tree), 1e-5);
        tree_free(&tree);
        kith_law_free(law);
    }
    kith_context_free(context);
}

static void test_few_points_are_summed(void **state)
{
    (void)state;
    check_all("test_few_points_are_summed", 0, 1, check_few_points);
}

static void test_results_have_the_same_bits_for_every_number_of_threads(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_results_have_the_same_bits");
    struct tree_state trees[2];
    kith_law *law = NULL;
    memset(trees, 0, sizeof trees);
    scene_fill(&scene, &numbers, "plummer", 3, scene_most);
    const struct tree_problem problem = problem_by(&scene, "yukawa:0.5", KITH_F32, 0, &law);
    for (int32_t k = 0; k < 2; k++) {
        kith_context *context = context_with(k == 0 ? 1 : 4);
        const struct tree_request wanted = {.error = 1e-3};
        const struct tree_request request = tree_choose(&problem, &wanted);
        assert_ok(tree_solve_cpu(context, &problem, &request, &trees[k]));
        kith_context_free(context);
    }
    assert_memory_equal(trees[0].potential, trees[1].potential, scene_most * sizeof(float));
    for (int c = 0; c < 3; c++)
        assert_memory_equal(trees[0].gradient[c], trees[1].gradient[c], scene_most * sizeof(float));
    tree_free(&trees[0]);
    tree_free(&trees[1]);
    kith_law_free(law);
}

/* Laws that no series of some degrees converges to. */
static void test_laws_that_oscillate_or_are_not_smooth_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "expr:m_i * m_j * cos(500 * r) / r", "expr:m_i * m_j * fmin(1 / r, 5)",
        "expr:m_i * m_j * floor(3 * r)", "expr:m_i * m_j * sqrt(r - 0.5)"};
    struct random_numbers numbers = random_numbers_begin("test_laws_are_refused");
    kith_context *context = context_with(1);
    scene_fill(&scene, &numbers, "cube", 3, 1000);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        kith_law *law = NULL;
        struct tree_law_bins bins = {0};
        const struct tree_problem problem = problem_by(&scene, texts[k], KITH_F64, 0, &law);
        assert_int_equal(tree_law_bins_create(&problem, 6, 2, &bins), KITH_UNSUPPORTED);
        tree_law_bins_free(&bins);
        kith_law_free(law);
    }
    kith_context_free(context);
}

/* Half of a trapezoid: A(u) of 1/s is 1 / (1 − u) over r. */
static void test_the_decay_of_an_inverse_law_is_geometric(void **state)
{
    (void)state;
    enum { order = 6 };
    struct random_numbers numbers = random_numbers_begin("test_the_decay");
    kith_law *law = NULL;
    struct tree_law_bins bins = {0};
    scene_fill(&scene, &numbers, "cube", 3, 10);
    const struct tree_problem problem = problem_by(&scene, "power:1", KITH_F64, 0, &law);
    assert_ok(tree_law_bins_create(&problem, order, 1, &bins));
    for (int32_t k = 8; k + 8 < bins.decay.count; k++) {
        const struct tree_decay_row *row = &bins.decay.rows[k];
        const double first = row->field[0];
        for (int j = 0; j < tree_decay_angles; j++) {
            const double expected = fmax(1, 0.5 / (1 - 0.1 * (j + 1)));
            assert_true(fabs(row->field[j] / first / expected - 1) < 1e-3);
        }
        assert_true(row->slope >= first && row->slope < 1.3 * first);
    }
    tree_law_bins_free(&bins);
    kith_law_free(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_decay_of_an_inverse_law_is_geometric),
        cmocka_unit_test(test_the_requested_error_is_kept_by_any_law),
        cmocka_unit_test(test_the_requested_error_is_kept_in_other_settings),
        cmocka_unit_test(test_series_of_gravity_are_gravity),
        cmocka_unit_test(test_the_error_of_few_bodies_is_estimated),
        cmocka_unit_test(test_errors_are_estimated),
        cmocka_unit_test(test_targets_need_not_be_the_sources),
        cmocka_unit_test(test_few_points_are_summed),
        cmocka_unit_test(test_results_have_the_same_bits_for_every_number_of_threads),
        cmocka_unit_test(test_laws_that_oscillate_or_are_not_smooth_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
