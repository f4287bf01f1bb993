/* Trees on the GPU by laws other than 1/s and ln s: the CPU's lists, and the error that is
 * requested. */

#include "gpu_trees.h"

#include "tree/law_bins.h"
#include "tree_laws.h"
#include "tree_weights.h"

static struct tree_scene scene;
static struct law_estimates estimates;

static double softened_yukawa(double s)
{
    return exp(-sqrt(s * s + 0.01) / 3) / sqrt(s * s + 0.01);
}

static double softened_yukawa_factor(double s)
{
    const double r = sqrt(s * s + 0.01);
    return -softened_yukawa(s) * (1 / r + 1.0 / 3) / r;
}

static const struct pair_law formulas[] = {
    {"expr:m_i * m_j * exp(-sqrt(r2 + 0.01) / 3) / sqrt(r2 + 0.01)", softened_yukawa,
     softened_yukawa_factor},
    {"expr:m_i * m_j / r", inverse, inverse_factor},
};

/* Several errors of one problem, by fmm and by groups in turns. */
static void check(void *user, const struct pair_law *law, const char *name, kith_dtype dtype,
                  double softening, const double errors[], int count, int groups)
{
    kith_context *gpu = user;
    kith_law *parsed = NULL;
    struct tree_state_cuda solved = {0};
    const struct tree_problem problem = problem_by(&scene, law->text, dtype, softening, &parsed);
    const struct direct_sum *exact = sum_by(&problem, law);
    for (int k = 0; k < count; k++, groups = !groups) {
        const struct tree_request request = {
            .groups = groups, .error = errors[k], .leaf = 16, .estimates = true};
        const struct errors found = solve(gpu, &problem, exact, &request, &solved);
        char what[100];
        snprintf(what, sizeof what, "%s of %s", law->text, name);
        if (scene.count > 0)
            check_kept(what, found, errors[k]);
        if (scene.count > 100 && dtype == KITH_F64)
            count_estimate(&estimates, what, found, solved.report.error_estimated, dtype);
    }
    tree_free_cuda(gpu, &solved);
    kith_law_free(parsed);
}

static struct law_checks checks_on(kith_context *gpu, struct random_numbers *numbers)
{
    return (struct law_checks){check, gpu, &scene, numbers, scene_count(2000)};
}

static void test_cuda_the_requested_error_is_kept_by_any_law(void **state)
{
    kith_context *gpu = new_gpu_context(NULL);
    const struct law_checks checks = checks_on(gpu, *state);
    check_every_law(&checks, scene_step());
    kith_context_free(gpu);
}

static void test_cuda_it_is_kept_by_any_law_in_other_settings(void **state)
{
    kith_context *gpu = new_gpu_context(NULL);
    const struct law_checks checks = checks_on(gpu, *state);
    check_other_settings(&checks);
    kith_context_free(gpu);
}

/* What is compiled at run time; 1/s by its series has errors of 1e-10 too. */
static void test_cuda_it_is_kept_by_formulas(void **state)
{
    struct random_numbers *numbers = *state;
    static const double errors[] = {1e-3, 1e-5, 1e-7}, small[] = {1e-10, 1e-5};
    kith_context *gpu = new_gpu_context(NULL);
    scene_fill(&scene, numbers, "cube", 3, scene_count(3000));
    check(gpu, &formulas[0], "cube", KITH_F32, 0, errors, 2, 1);
    scene_fill(&scene, numbers, "hernquist", 3, scene_count(3000));
    check(gpu, &formulas[0], "hernquist", KITH_F64, 0, errors, 3, 0);
    check(gpu, &formulas[1], "hernquist", KITH_F64, 0, small, 2, 0);
    check(gpu, &formulas[1], "hernquist", KITH_F64, 0.1, small, 2, 0);
    check(gpu, &formulas[1], "hernquist", KITH_F32, 0, &(double){1e-5}, 1, 0);
    kith_context_free(gpu);
}

static void test_cuda_errors_by_any_law_are_estimated(void **state)
{
    (void)state;
    check_estimates(&estimates);
}

static void test_cuda_few_points_are_summed_by_any_law(void **state)
{
    static const int64_t counts[] = {0, 1, 16, 17};
    kith_context *gpu = new_gpu_context(NULL);
    const struct law_checks checks = checks_on(gpu, *state);
    check_few_points(&checks);
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) { /* compiled at run time */
        scene_fill(&scene, *state, "cube", 3, counts[n]);
        check(gpu, &formulas[0], "few points", KITH_F64, 0, &(double){1e-6}, 1, n % 2);
    }
    kith_context_free(gpu);
}

static void test_cuda_targets_need_not_be_the_sources_of_a_law(void **state)
{
    static struct tree_scene targets;
    struct random_numbers *numbers = *state;
    kith_context *gpu = new_gpu_context(NULL);
    struct tree_state_cuda solved = {0};
    scene_fill(&scene, numbers, "plummer", 3, scene_count(3000));
    scene_fill(&targets, numbers, "cube", 3, 777);
    for (int k = 0; k < law_count; k++) { /* the state is kept from law to law */
        kith_law *law = NULL;
        const struct tree_problem problem = problem_of_others(&scene, &targets, k, &law);
        const struct tree_request request = {.groups = k % 2, .error = 1e-5, .leaf = 24};
        check_kept(laws[k].text,
                   solve(gpu, &problem, sum_by(&problem, &laws[k]), &request, &solved), 1e-5);
        kith_law_free(law);
    }
    tree_free_cuda(gpu, &solved);
    kith_context_free(gpu);
}

/* The CPU's lists by the CPU's bins are the GPU's by its own. */
static void check_lists_of_law(kith_context *gpu, kith_context *cpu, int turn,
                               struct random_numbers *numbers)
{
    struct octree tree = {0};
    struct tree_state_cuda solved = {0};
    struct tree_law_bins bins = {0};
    kith_law *law = NULL;
    scene_fill(&scene, numbers, scene_names[turn % scene_kinds], 2 + turn % 2, scene_count(4000));
    const struct tree_problem problem =
        problem_by(&scene, laws[turn % law_count].text, turn % 3 ? KITH_F64 : KITH_F32,
                   turn % 4 == 3 ? 0.01 : 0, &law);
    struct tree_problem moved = on_device(&problem);
    const struct sort_points points = points_of(&problem);
    const struct tree_request wanted = {.groups = turn % 4 == 2,
                                        .error = turn % 4 == 1 ? 0 : 1e-3,
                                        .theta = turn % 4 == 1 ? 0.6 : 0,
                                        .order = 4,
                                        .leaf = 10};
    const struct tree_request request = tree_choose_cuda(&problem, &wanted);
    assert_ok(octree_build_cpu(cpu, &points, problem.weight, request.leaf, &tree));
    assert_ok(tree_solve_cuda(gpu, &moved, &request, &solved));
    assert_ok(tree_law_bins_create(&problem, request.order, 2 * tree.sphere[0].radius, &bins));
    struct tree_rule here = tree_rule_for(&problem, &request), there = here;
    here.decay = &bins.decay;
    there.decay = &solved.bins->decay;
    assert_int_equal(here.decay->first, there.decay->first);
    assert_true(here.decay->per_unit == there.decay->per_unit);
    check_lists_by(gpu, cpu, &here, &there, turn == 0 ? 300 : 0, &solved, &tree);
    tree_law_bins_free(&bins);
    tree_free_cuda(gpu, &solved);
    octree_free(&tree);
    free_problem(&moved);
    kith_law_free(law);
}

static void test_cuda_lists_of_any_law_are_the_cpus(void **state)
{
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 1);
    for (int turn = 0; turn < 2 * scene_kinds; turn += scene_step())
        check_lists_of_law(gpu, cpu, turn, *state);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_cuda_any_law_has_the_same_bits_on_every_run(void **state)
{
    struct random_numbers *numbers = *state;
    kith_context *gpu = new_gpu_context(NULL);
    for (int kind = 0; kind < 3; kind++) {
        kith_law *law = NULL;
        const kith_dtype dtype = kind == 2 ? KITH_F64 : KITH_F32;
        scene_fill(&scene, numbers, "nested clusters", 3, scene_count(5000));
        const struct tree_problem problem =
            problem_by(&scene, kind == 0 ? formulas[0].text : laws[kind].text, dtype, 0, &law);
        struct tree_problem moved = on_device(&problem);
        const struct tree_request wanted = {.groups = kind == 1, .error = 1e-4, .leaf = 12};
        const struct tree_request request = tree_choose_cuda(&problem, &wanted);
        expect_same_bits(gpu, &moved, &request, 5, kind != 1, kind);
        free_problem(&moved);
        kith_law_free(law);
    }
    kith_context_free(gpu);
}

/* As users call them; the state is kept from law to law, and from parameter to parameter. */
static void test_cuda_tree_solvers_by_laws_agree_with_the_cpus(void **state)
{
    struct random_numbers *random = *state;
    static const char *const texts[] = {"yukawa:0.5", "yukawa:0.1", "power:2",
                                        "expr:q_i * q_j * exp(-r) / r", "expr:1 / (1 + r2)"};
    static const char *const names[] = {"fmm", "tree", "auto"};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 2);
    for (int turn = 0; turn < (test_is_quick() ? 5 : 15); turn++) {
        kith_law *law = NULL;
        struct system s = system_random(random, turn % 2 ? KITH_F32 : KITH_F64, 2500, 3);
        struct system expected = system_copy(&s);
        s.q = new_vector(s.x.dtype, s.n);
        expected.q = s.q;
        for (int64_t i = 0; i < s.n; i++)
            put(s.q, i, random_uniform(random, -1, 1));
        assert_ok(kith_law_parse(texts[turn % 5], 0, NULL, &law));
        kith_forces_options options = {.law = law};
        system_compute(cpu, &options, &expected);
        options.accuracy.error = turn % 2 ? 1e-4 : 1e-6;
        options.solver = solver_named(names[turn / 5]);
        system_compute(gpu, &options, &s);
        assert_less(relative_difference(s.a, expected.a), 10 * options.accuracy.error);
        assert_less(relative_difference(s.phi, expected.phi), 10 * options.accuracy.error);
        kith_law_free(law);
        free(s.q.data);
        system_free(&s);
        system_free(&expected);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_cuda_weights_may_have_any_size(void **state)
{
    kith_context *gpu = new_gpu_context(NULL);
    check_weights_of_any_size(gpu, *state);
    kith_context_free(gpu);
}

static void test_cuda_laws_that_are_not_smooth_are_refused(void **state)
{
    struct random_numbers *random = *state;
    static const char *const texts[] = {"expr:m_i * m_j * cos(500 * r) / r",
                                        "expr:m_i * m_j * fmin(1 / r, 5)"};
    kith_context *gpu = new_gpu_context(NULL);
    struct system s = system_random(random, KITH_F64, 1000, 3);
    for (int k = 0; k < 3; k++) {
        kith_law *law = NULL;
        assert_ok(kith_law_parse(k < 2 ? texts[k] : "yukawa:1", 0, NULL, &law));
        kith_forces_options options = {.law = law, .solver = solver_named("fmm")};
        if (k < 2)
            options.accuracy.error = 1e-4;
        else
            options.accuracy = (kith_accuracy){.theta = 0.5, .order = 15};
        assert_fails(
            kith_forces_compute(gpu, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
            KITH_UNSUPPORTED, k < 2 ? "no converging series" : "order is 15");
        kith_law_free(law);
    }
    system_free(&s);
    kith_context_free(gpu);
}

int main(void)
{
    static struct random_numbers numbers;
    if (gpu_is_absent("test_cuda_tree_laws"))
        return exit_skipped;
    numbers = random_numbers_begin("test_cuda_tree_laws");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_lists_of_any_law_are_the_cpus, &numbers),
        cmocka_unit_test_prestate(test_cuda_few_points_are_summed_by_any_law, &numbers),
        cmocka_unit_test_prestate(test_cuda_the_requested_error_is_kept_by_any_law, &numbers),
        cmocka_unit_test_prestate(test_cuda_it_is_kept_by_any_law_in_other_settings, &numbers),
        cmocka_unit_test_prestate(test_cuda_it_is_kept_by_formulas, &numbers),
        cmocka_unit_test(test_cuda_errors_by_any_law_are_estimated),
        cmocka_unit_test_prestate(test_cuda_targets_need_not_be_the_sources_of_a_law, &numbers),
        cmocka_unit_test_prestate(test_cuda_any_law_has_the_same_bits_on_every_run, &numbers),
        cmocka_unit_test_prestate(test_cuda_tree_solvers_by_laws_agree_with_the_cpus, &numbers),
        cmocka_unit_test_prestate(test_cuda_laws_that_are_not_smooth_are_refused, &numbers),
        cmocka_unit_test_prestate(test_cuda_weights_may_have_any_size, &numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
