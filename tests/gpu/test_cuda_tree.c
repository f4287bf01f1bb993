/* Trees on the GPU: the same tree and the same lists as on the CPU, and the error that is
 * requested. */

#include "gpu_trees.h"

#include "gpu_simulating.h"
#include "tree/estimate.h"

static struct tree_scene scene;

static void assert_same(const void *on_gpu, const void *expected, size_t bytes, const char *what)
{
    void *found = to_host(on_gpu, bytes);
    if (memcmp(found, expected, bytes) != 0)
        fail_msg("%s differ from the CPU's", what);
    free(found);
}

static void check_tree(kith_context *gpu, kith_context *cpu, const struct tree_problem *problem,
                       int32_t leaf, struct octree_cuda *found, struct octree *expected)
{
    struct tree_problem moved = on_device(problem);
    const struct sort_points here = points_of(problem), there = points_of(&moved);
    assert_ok(octree_build_cpu(cpu, &here, problem->weight, leaf, expected));
    assert_ok(octree_build_cuda(gpu, &there, moved.weight, leaf, found));
    assert_int_equal(found->cell_count, expected->cell_count);
    assert_int_equal(found->generations, expected->generations);
    const size_t cells = (size_t)expected->cell_count, count = (size_t)expected->count;
    if (cells > 0) {
        assert_memory_equal(found->generation, expected->generation,
                            (size_t)(expected->generations + 1) * sizeof(int32_t));
        assert_same(found->order, expected->order, count * sizeof(uint32_t), "places");
        assert_same(found->cell, expected->cell, cells * sizeof *expected->cell, "cells");
        assert_same(found->sphere, expected->sphere, cells * sizeof *expected->sphere, "spheres");
        assert_same(found->weight_sum, expected->weight_sum, cells * sizeof(double), "weights");
        assert_same(found->net_weight, expected->net_weight, cells * sizeof(double), "net weights");
    }
    free_problem(&moved);
}

static void test_cuda_trees_have_the_bits_of_the_cpus(void **state)
{
    struct random_numbers *numbers = *state;
    static const int64_t sizes[] = {0, 1, 2, 19, 20, 21, 7000};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 2);
    struct octree_cuda found = {0};
    struct octree expected = {0};
    for (int32_t kind = 0; kind < scene_kinds; kind++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                if (test_is_quick() && (kind > 3 || (sizes[s] > 1 && sizes[s] < 100)))
                    continue;
                scene_fill(&scene, numbers, scene_names[kind], dimensions, sizes[s]);
                for (int d = 0; d < 2; d++) {
                    const struct tree_problem problem =
                        problem_of(&scene, d ? KITH_F32 : KITH_F64, 0);
                    check_tree(gpu, cpu, &problem, s < 6 ? 20 : 3 + 40 * d, &found, &expected);
                }
            }
    octree_free_cuda(gpu, &found);
    octree_free(&expected);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_cuda_lists_are_the_cpus(void **state)
{
    struct random_numbers *numbers = *state;
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 1);
    struct octree tree = {0};
    struct tree_state_cuda solved = {0};
    for (int32_t kind = 0; kind < scene_kinds; kind += scene_step())
        for (int turn = 0; turn < 4; turn++) {
            scene_fill(&scene, numbers, scene_names[kind], 2 + (kind + turn) % 2,
                       scene_count(4000));
            const struct tree_problem problem =
                problem_of(&scene, turn % 2 ? KITH_F32 : KITH_F64, turn == 3 ? 0.01 : 0);
            struct tree_problem moved = on_device(&problem);
            const struct sort_points points = points_of(&problem);
            const struct tree_request wanted = {.groups = turn == 2,
                                                .error = turn == 1 ? 0 : 1e-3,
                                                .theta = turn == 1 ? 0.6 : 0,
                                                .order = 4,
                                                .leaf = 10};
            const struct tree_request request = tree_choose_cuda(&problem, &wanted);
            assert_ok(octree_build_cpu(cpu, &points, problem.weight, request.leaf, &tree));
            assert_ok(tree_solve_cuda(gpu, &moved, &request, &solved));
            const struct tree_rule rule = tree_rule_for(&problem, &request);
            check_lists_by(gpu, cpu, &rule, &rule, turn == 0 ? 300 : 0, &solved, &tree);
            free_problem(&moved);
        }
    tree_free_cuda(gpu, &solved);
    octree_free(&tree);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* Counts the targets of a stratum, leaf by leaf, and finds number `wanted` of them. */
static int64_t find_target(const struct octree_cell *cell, int32_t cells, int32_t stratum,
                           int64_t wanted)
{
    for (int32_t k = 0; k < cells; k++) {
        if (cell[k].children > 0 || cell[k].level + 1 != stratum)
            continue;
        if (wanted < cell[k].count)
            return cell[k].first + wanted;
        wanted -= cell[k].count;
    }
    fail_msg("stratum %d has fewer targets", (int)stratum);
    return 0;
}

/* What the estimate of a solution is, from the samples that it takes. */
static double estimate_directly(const struct tree_problem *problem, const struct direct_sum *exact,
                                const struct tree_state_cuda *solved)
{
    const int64_t n = problem->target_count;
    const int32_t cells = solved->target_tree->cell_count;
    uint32_t *order = to_host(solved->target_tree->order, (size_t)n * sizeof *order);
    struct octree_cell *cell = to_host(solved->target_tree->cell, (size_t)cells * sizeof *cell);
    double *sums = to_host(solved->results.memory, 4 * (size_t)n * sizeof *sums), errors2 = 0;
    unsigned long long count[tree_strata] = {0};
    struct tree_sampling sampling;
    for (int32_t k = 0; k < cells; k++)
        if (cell[k].children == 0)
            count[cell[k].level + 1] += (unsigned long long)cell[k].count;
    tree_make_sampling(count, tree_samples_for(problem->law), &sampling);
    assert_int_equal(sampling.samples, n < 64 ? n : 64);
    for (int32_t k = 0; k < sampling.samples; k++) {
        const int32_t stratum = tree_stratum_of(&sampling, k);
        const int64_t wanted =
            tree_sample(k - sampling.first_of[stratum], sampling.samples_of[stratum],
                        sampling.targets_of[stratum]);
        const int64_t i = find_target(cell, cells, stratum, wanted);
        errors2 +=
            tree_part(&sampling, k) * tree_error2(KITH_F64, &sums[4 * i], exact[order[i]].field,
                                                  0.1 * exact[order[i]].magnitude);
    }
    free(order);
    free(cell);
    free(sums);
    return tree_estimate(errors2, n);
}

static void test_cuda_trees_keep_the_requested_error(void **state)
{
    struct random_numbers *numbers = *state;
    static const double errors[] = {1e-2, 1e-3, 1e-5, 1e-8};
    kith_context *gpu = new_gpu_context(NULL);
    struct tree_state_cuda solved = {0};
    for (int32_t kind = 0; kind < scene_kinds; kind += scene_step()) {
        scene_fill(&scene, numbers, scene_names[kind], 3, scene_count(5000));
        const struct tree_problem problem = problem_of(&scene, KITH_F64, 0);
        const struct direct_sum *exact = sum_all_directly(&problem);
        for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
            for (int groups = 0; groups < 2; groups++) {
                const struct tree_request request = {
                    .groups = groups, .error = errors[k], .leaf = 24, .estimates = true};
                const struct errors found = solve(gpu, &problem, exact, &request, &solved);
                check_estimated(scene_names[kind], found, solved.report.error_estimated, KITH_F64);
                check_kept(scene_names[kind], found, errors[k]);
                if (!groups && !(found.momentum <= 1e-14))
                    fail_msg("%s: momentum %g", scene_names[kind], found.momentum);
            }
    }
    tree_free_cuda(gpu, &solved);
    kith_context_free(gpu);
}

/* Where a list is in memory depends on the order of the blocks, and on the room for lists whether
 * there are batches. */
static void test_cuda_trees_have_the_same_bits_on_every_run(void **state)
{
    struct random_numbers *numbers = *state;
    kith_context *gpu = new_gpu_context(NULL);
    for (int kind = 0; kind < 3; kind++) { /* the last has rotations */
        const bool groups = kind == 1;
        const kith_dtype dtype = kind == 2 ? KITH_F64 : KITH_F32;
        scene_fill(&scene, numbers, "nested clusters", 3, scene_count(5000));
        const struct tree_problem problem = problem_of(&scene, dtype, 0);
        struct tree_problem moved = on_device(&problem);
        const struct tree_request wanted = {
            .groups = groups, .error = kind == 2 ? 1e-7 : 1e-4, .leaf = 12};
        const struct tree_request request = tree_choose_cuda(&problem, &wanted);
        expect_same_bits(gpu, &moved, &request, 6, !groups, kind);
        free_problem(&moved);
    }
    kith_context_free(gpu);
}

static void test_cuda_trees_keep_the_requested_error_in_single_precision(void **state)
{
    struct random_numbers *numbers = *state;
    static const char *const names[] = {"plummer", "cube",         "disk",       "charges",
                                        "outlier", "two clusters", "sparse halo"};
    static const double errors[] = {1e-3, 1e-5};
    kith_context *gpu = new_gpu_context(NULL);
    struct tree_state_cuda solved = {0};
    for (size_t kind = 0; kind < sizeof names / sizeof *names; kind += (size_t)scene_step()) {
        scene_fill(&scene, numbers, names[kind], 3, scene_count(5000));
        const struct tree_problem problem = problem_of(&scene, KITH_F32, 0);
        const struct direct_sum *exact = sum_all_directly(&problem);
        for (size_t k = 0; k < 4; k++)
            check_kept(
                names[kind],
                solve(gpu, &problem, exact,
                      &(struct tree_request){.error = errors[k / 2], .groups = k % 2, .leaf = 24},
                      &solved),
                errors[k / 2]);
    }
    tree_free_cuda(gpu, &solved);
    kith_context_free(gpu);
}

static void test_cuda_trees_keep_it_with_softening_and_in_the_plane(void **state)
{
    struct random_numbers *numbers = *state;
    static const double softenings[] = {0, 0.001, 0.1, 10}, errors[] = {1e-3, 1e-6, 1e-10};
    kith_context *gpu = new_gpu_context(NULL);
    struct tree_state_cuda solved = {0};
    for (int32_t dimensions = 2; dimensions <= 3; dimensions++)
        for (size_t k = 0; k < sizeof softenings / sizeof *softenings;
             k += test_is_quick() ? 3 : 1) {
            scene_fill(&scene, numbers, "plummer", dimensions, scene_count(5000));
            const struct tree_problem problem = problem_of(&scene, KITH_F64, softenings[k]);
            const struct direct_sum *exact = sum_all_directly(&problem);
            for (int turn = 0; turn < 6; turn++) {
                const struct tree_request request = {
                    .groups = turn % 2, .error = errors[turn / 2], .leaf = 24};
                check_kept("plummer", solve(gpu, &problem, exact, &request, &solved),
                           errors[turn / 2]);
            }
        }
    tree_free_cuda(gpu, &solved);
    kith_context_free(gpu);
}

static void test_cuda_trees_keep_it_by_the_logarithm(void **state)
{
    struct random_numbers *numbers = *state;
    static const double errors[] = {1e-2, 1e-4, 1e-8};
    kith_context *gpu = new_gpu_context(NULL);
    struct tree_state_cuda solved = {0};
    for (int32_t kind = 0; kind < scene_kinds; kind += scene_step()) {
        scene_fill(&scene, numbers, scene_names[kind], 2, scene_count(2000));
        for (int d = 0; d < 2; d++) {
            const kith_dtype dtype = d ? KITH_F32 : KITH_F64;
            struct tree_problem problem = problem_of(&scene, dtype, kind == 0 ? 0.03 : 0);
            problem.law = expansion_logarithm;
            const struct direct_sum *exact = sum_all_directly(&problem);
            for (int turn = 0; turn < 6; turn++) {
                const double error = errors[turn / 2];
                const struct tree_request request = {
                    .groups = turn % 2, .error = error, .leaf = 24};
                if (error >= tree_least_error(dtype))
                    check_kept(scene_names[kind], solve(gpu, &problem, exact, &request, &solved),
                               error);
            }
        }
    }
    tree_free_cuda(gpu, &solved);
    kith_context_free(gpu);
}

/* Each order's operators, with loops of its own and those of all orders. */
static void test_cuda_the_error_of_an_angle_falls_with_the_order(void **state)
{
    struct random_numbers *numbers = *state;
    kith_context *gpu = new_gpu_context(NULL);
    struct tree_state_cuda solved = {0};
    for (int basis = 0; basis < 3; basis++) {
        scene_fill(&scene, numbers, "cube", basis == 1 ? 2 : 3, scene_count(3000));
        const struct tree_problem problem = problem_of(&scene, KITH_F64, basis == 2 ? 0.01 : 0);
        const struct direct_sum *exact = sum_all_directly(&problem);
        for (int groups = 0; groups < 2; groups++) {
            double before = 1, earlier = 1; /* one order and two orders less */
            for (int32_t order = 1; order <= (basis == 2 ? 14 : 19);
                 order += test_is_quick() ? 6 : 1) {
                const struct tree_request request = {
                    .groups = groups, .theta = 0.5, .order = order, .leaf = 16, .estimates = true};
                const struct errors found = solve(gpu, &problem, exact, &request, &solved);
                if (!(found.rms < before && found.rms < 0.8 * earlier))
                    fail_msg("basis %d, order %d: rms %g after %g and %g", basis, (int)order,
                             found.rms, before, earlier);
                earlier = before;
                before = found.rms;
                const double estimate = estimate_directly(&problem, exact, &solved);
                assert_near(solved.report.error_estimated, estimate, 1e-5 * estimate + 1e-12);
            }
        }
    }
    tree_free_cuda(gpu, &solved);
    kith_context_free(gpu);
}

static void test_cuda_tree_targets_need_not_be_the_sources(void **state)
{
    static struct tree_scene targets;
    struct random_numbers *numbers = *state;
    kith_context *gpu = new_gpu_context(NULL);
    struct tree_state_cuda solved = {0};
    scene_fill(&scene, numbers, "plummer", 3, scene_count(5000));
    scene_fill(&targets, numbers, "cube", 3, 777);
    for (int turn = 0; turn < 4; turn++) {
        struct tree_problem problem = problem_of(&scene, KITH_F64, 0);
        problem.self = false;
        problem.target_count = turn < 2 ? targets.count : 1;
        for (int c = 0; c < 3; c++)
            problem.target_position[c] = targets.x[c];
        const struct tree_request request = {.groups = turn % 2, .error = 1e-5, .leaf = 24};
        const struct errors found =
            solve(gpu, &problem, sum_all_directly(&problem), &request, &solved);
        if (turn < 2)
            check_kept("targets", found, 1e-5);
        else /* what is kept is a mean of many */
            assert_less(found.greatest, 30e-5);
    }
    tree_free_cuda(gpu, &solved);
    kith_context_free(gpu);
}

/* As users call them: gravity and coulomb, arrays of the host and of the device, few bodies. */
static void test_cuda_tree_solvers_agree_with_the_reference(void **state)
{
    struct random_numbers *random = *state;
    static const char *const names[] = {"tree", "fmm"};
    static const int64_t sizes[] = {0, 1, 2, 127, 128, 129, 3000};
    kith_context *context = new_gpu_context(NULL);
    for (int turn = 0; turn < 4 * 7; turn++) {
        const kith_dtype dtype = turn % 2 ? KITH_F32 : KITH_F64;
        struct system s = system_random(random, dtype, sizes[turn / 4], 2 + turn / 2 % 2);
        struct system expected = system_copy(&s);
        kith_forces_options options = {.gravitational_constant = 3,
                                       .softening = turn % 3 ? 0 : 0.05};
        system_reference(&options, &expected);
        options.solver = solver_named(names[turn % 2]);
        options.accuracy.error = turn % 2 ? 1e-5 : 1e-9;
        struct system there = gpu_system(&s, true), again = gpu_system(&s, true);
        struct system repeated = system_copy(&s);
        system_compute(context, &options, &s);
        assert_less(relative_difference(s.a, expected.a), 10 * options.accuracy.error);
        assert_less(relative_difference(s.phi, expected.phi), 10 * options.accuracy.error);
        system_compute(context, &options, &there);
        system_compute(context, &options, &again);
        assert_ok(kith_context_synchronize(context));
        gpu_fetch(&there, &repeated);
        assert_same_forces(&s, &repeated);
        gpu_fetch(&again, &repeated);
        assert_same_forces(&s, &repeated);
        gpu_system_free(&there);
        gpu_system_free(&again);
        system_free(&s);
        system_free(&expected);
        system_free(&repeated);
    }
    kith_context_free(context);
}

static void test_cuda_tree_solvers_have_charges_and_the_logarithm(void **state)
{
    struct random_numbers *random = *state;
    static const char *const texts[] = {"coulomb", "log2d"};
    kith_context *context = new_gpu_context(NULL), *cpu = new_context(NULL, 2);
    for (int k = 0; k < 2; k++) {
        kith_law *law = NULL;
        struct system s = system_random(random, KITH_F64, 2000, k == 0 ? 3 : 2);
        struct system expected = system_copy(&s);
        kith_array charges = new_vector(KITH_F64, s.n);
        for (int64_t i = 0; i < s.n; i++)
            put(charges, i, random_uniform(random, -1, 1));
        s.q = expected.q = charges;
        assert_ok(kith_law_parse(texts[k], 0, NULL, &law));
        kith_forces_options options = {.law = law};
        system_compute(cpu, &options, &expected);
        options.accuracy.error = 1e-8;
        options.solver = solver_named("fmm");
        system_compute(context, &options, &s);
        assert_less(relative_difference(s.a, expected.a), 1e-6);
        assert_less(relative_difference(s.phi, expected.phi), 1e-6);
        kith_law_free(law);
        free(charges.data);
        system_free(&s);
        system_free(&expected);
    }
    kith_context_free(context);
    kith_context_free(cpu);
}

/* Their results are brought to their places in another way than those of fewer bodies. */
static void test_cuda_trees_have_results_beyond_the_cache(void **state)
{
    struct random_numbers *random = *state;
    enum { samples = 40 };
    const int64_t n = 4000037;
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_random(random, KITH_F32, n, 3),
                  few = system_random(random, KITH_F32, samples, 3);
    for (int64_t k = 0; k < 3 * samples; k++)
        put(few.x, k, get(s.x, n / samples * (k / 3) * 3 + k % 3));
    kith_forces_options options = {.softening = 1e-3};
    assert_ok(
        kith_forces_compute(context, &options, POINTS(few.x), PARTICLES_OF(&s), few.a, few.phi));
    options.solver = solver_named("fmm");
    options.accuracy.error = 0.01;
    system_compute(context, &options, &s);
    for (int64_t k = 0; k < samples; k++) {
        const int64_t i = n / samples * k;
        const double own = get(s.m, i) / options.softening; /* the targets are no bodies */
        assert_near(get(s.phi, i) - own, get(few.phi, k), 1e-2 * fabs(get(few.phi, k)));
        for (int64_t c = 0; c < 3; c++)
            assert_near(get(s.a, 3 * i + c), get(few.a, 3 * k + c), 0.1 * fabs(get(few.phi, k)));
    }
    system_free(&few);
    system_free(&s);
    kith_context_free(context);
}

static void test_cuda_trees_refuse_what_they_cannot(void **state)
{
    struct random_numbers *random = *state;
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    assert_cuda(cudaStreamCreate(&stream));
    kith_context *context = new_gpu_context(stream);
    struct system s = system_random(random, KITH_F64, 300, 3);
    struct system there = gpu_system(&s, false);
    kith_forces_options options = {
        .solver = solver_named("fmm"), .softening = 0.1, .accuracy = {.error = 1e-4}};
    system_compute(context, &options, &there);
    assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    assert_fails(kith_forces_compute(context, &options, NULL, PARTICLES(there.x, {"m", there.m}),
                                     there.a, there.phi),
                 KITH_UNSUPPORTED, "captured");
    assert_cuda(cudaStreamEndCapture(stream, &graph));
    cudaGraphDestroy(graph);
    options.accuracy = (kith_accuracy){.theta = 0.5, .order = 15};
    assert_fails(
        kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
        KITH_UNSUPPORTED, "order 15");
    put(s.x, 5, NAN);
    gpu_transfer(there.x, s.x, true);
    options.accuracy = (kith_accuracy){.error = 1e-4};
    system_compute(context, &options, &there);
    assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT, "row 1");
    gpu_fetch(&there, &s);
    for (int64_t i = 0; i < s.n; i++)
        assert_true(isnan(get(s.phi, i)) && isnan(get(s.a, 3 * i)));
    gpu_system_free(&there);
    system_free(&s);
    kith_context_free(context);
    cudaStreamDestroy(stream);
}

static void test_cuda_a_simulation_by_fmm_keeps_its_energy(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    kith_bodies *bodies = NULL;
    kith_simulation *simulation = NULL;
    kith_simulation_options options = {.dt = 0.01};
    kith_diagnostics begin, end;
    options.forces.solver = solver_named("fmm");
    options.forces.accuracy.error = 1e-5;
    options.forces.softening = 0.05;
    assert_ok(kith_initial_make(
        "plummer", &(kith_initial_options){.count = scene_count(4000), .seed = 1}, &bodies));
    assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    assert_ok(kith_simulation_diagnose(simulation, &begin));
    assert_ok(kith_simulation_step(simulation, 50));
    assert_ok(kith_simulation_diagnose(simulation, &end));
    assert_near(end.total_energy, begin.total_energy, 1e-4 * fabs(begin.total_energy));
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    static struct random_numbers numbers;
    if (gpu_is_absent("test_cuda_tree"))
        return exit_skipped;
    numbers = random_numbers_begin("test_cuda_tree");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_trees_have_the_bits_of_the_cpus, &numbers),
        cmocka_unit_test_prestate(test_cuda_lists_are_the_cpus, &numbers),
        cmocka_unit_test_prestate(test_cuda_trees_have_the_same_bits_on_every_run, &numbers),
        cmocka_unit_test_prestate(test_cuda_the_error_of_an_angle_falls_with_the_order, &numbers),
        cmocka_unit_test_prestate(test_cuda_trees_keep_the_requested_error, &numbers),
        cmocka_unit_test_prestate(test_cuda_trees_keep_the_requested_error_in_single_precision,
                                  &numbers),
        cmocka_unit_test_prestate(test_cuda_trees_keep_it_with_softening_and_in_the_plane,
                                  &numbers),
        cmocka_unit_test_prestate(test_cuda_trees_keep_it_by_the_logarithm, &numbers),
        cmocka_unit_test_prestate(test_cuda_tree_targets_need_not_be_the_sources, &numbers),
        cmocka_unit_test_prestate(test_cuda_tree_solvers_agree_with_the_reference, &numbers),
        cmocka_unit_test_prestate(test_cuda_tree_solvers_have_charges_and_the_logarithm, &numbers),
        cmocka_unit_test_prestate(test_cuda_trees_have_results_beyond_the_cache, &numbers),
        cmocka_unit_test_prestate(test_cuda_trees_refuse_what_they_cannot, &numbers),
        cmocka_unit_test_prestate(test_cuda_a_simulation_by_fmm_keeps_its_energy, &numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
