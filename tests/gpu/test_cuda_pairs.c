/* Pairs on the GPU against their definition. */

#include "gpu_testing.h"

#include "pairs_definition.h"

/* Lists the scene twice, with the same memory. */
static void assert_lists_scene(kith_context *context, struct scene *s, const char *what)
{
    kith_pairs *pairs = NULL;
    struct expectation expected = expect(s);
    for (int turn = 0; turn < 2; turn++) {
        s->options.unsorted = turn == 1;
        const kith_pairs_options options = options_of(s);
        assert_ok(kith_pairs_compute(context, &options, s->positions, s->cells, &pairs));
        assert_is_expected(s, pairs, &expected, what);
    }
    s->options.unsorted = false;
    expectation_free(&expected);
    kith_pairs_free(pairs);
}

static void test_cuda_pairs_are_the_definitions(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const int scenes = test_is_quick() ? 40 : 400;
    for (int k = 0; k < scenes; k++) {
        struct scene s = random_scene(random, random_below(random, k % 8 == 0 ? 600 : 90),
                                      exp(random_uniform(random, 0, 4)));
        assert_lists_scene(context, &s, "a small scene");
        scene_free(&s);
    }
    kith_context_free(context);
}

static void test_cuda_pairs_of_few_points(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int64_t n = 0; n < 4; n++)
        for (int k = 0; k < (test_is_quick() ? 4 : 20); k++) {
            struct scene s = random_scene(random, n, 30);
            assert_lists_scene(context, &s, "few points");
            scene_free(&s);
        }
    kith_context_free(context);
}

/* Rows and neighborhoods longer than a warp keeps in its registers. */
static void test_cuda_pairs_of_crowds(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < (test_is_quick() ? 2 : 12); k++) {
        struct scene s =
            random_scene(random, 60 + random_below(random, 200), k % 2 == 0 ? 300 : 1500);
        assert_lists_scene(context, &s, "a crowd");
        scene_free(&s);
    }
    kith_context_free(context);
}

/* Most points in a small part of space, one very far away. */
static void test_cuda_pairs_of_clusters(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < (test_is_quick() ? 2 : 16); k++) {
        struct scene s = random_scene(random, 700, 5);
        for (int64_t i = 0; i < s.n; i++)
            for (int64_t c = 0; c < s.dimensions; c++) {
                const int64_t at = i * s.dimensions + c;
                put(s.positions, at, get(s.positions, at) * exp(random_uniform(random, -8, 3)));
            }
        if (!s.cells)
            put(s.positions, 3, 1e12 * get(s.positions, 3));
        assert_lists_scene(context, &s, "a cluster");
        scene_free(&s);
    }
    kith_context_free(context);
}

/* A lattice just wider than the cutoff, and far from it the one pair: what has most candidates has
 * no pair. Again, with the sizes of the first list. */
static void test_cuda_pairs_of_candidates_without_a_pair(void **state)
{
    (void)state;
    enum { side = 16, lattice = side * side * side, all = lattice + 2 };
    static double x[all][3] = {[lattice] = {100, 100, 100}, [lattice + 1] = {100.5, 100, 100}};
    for (int p = 0; p < lattice; p++)
        for (int c = 0, rest = p; c < 3; c++, rest /= side)
            x[p][c] = 1.02 * (rest % side);
    kith_context *context = new_gpu_context(NULL);
    kith_pairs *pairs = NULL;
    const kith_pairs_options options = {.cutoff = 1};
    for (int again = 0; again < 3; again++) {
        assert_ok(kith_pairs_compute(context, &options, kith_array_matrix(x, KITH_F64, all, 3),
                                     NULL, &pairs));
        assert_int_equal(pairs->count, 2);
        for (int k = 0; k < 2; k++)
            assert_int_equal(((const int64_t *)pairs->j.data)[k], lattice + 1 - k);
    }
    kith_pairs_free(pairs);
    kith_context_free(context);
}

/* Arrays on the device, with gaps, in and out: the same bits as by way of the host. */
static void test_cuda_pairs_of_device_arrays(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < (test_is_quick() ? 4 : 20); k++) {
        struct scene s = random_scene(random, 1 + random_below(random, 300), 20);
        if (s.m >= 0 || !kith_array_is_none(s.exclusions) || !kith_array_is_none(s.radii)) {
            scene_free(&s);
            continue;
        }
        kith_pairs *pairs = NULL;
        kith_pairs_options options = options_of(&s);
        const kith_array positions = gpu_array_of(s.positions, 2, 3);
        assert_ok(kith_pairs_compute(context, &options, positions, s.cells, &pairs));
        assert_ok(kith_context_synchronize(context));
        assert_int_equal(pairs->i.device.kind, KITH_CUDA);
        kith_pairs on_host = *pairs;
        kith_array *const arrays[] = {&on_host.offsets, &on_host.i,       &on_host.j,
                                      &on_host.shifts,  &on_host.vectors, &on_host.distances};
        for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++) {
            const int64_t count = arrays[a]->shape[0] * (arrays[a]->ndim == 2 ? s.dimensions : 1);
            const size_t bytes = (size_t)count * (size_t)kith_dtype_bytes(arrays[a]->dtype);
            void *copy = calloc(bytes + 8, 1);
            assert_non_null(copy);
            assert_cuda(cudaMemcpy(copy, arrays[a]->data, bytes, cudaMemcpyDeviceToHost));
            arrays[a]->data = copy;
        }
        struct expectation expected = expect(&s);
        assert_is_expected(&s, &on_host, &expected, "on the device");
        expectation_free(&expected);
        for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++)
            free(arrays[a]->data);
        kith_pairs_free(pairs);
        cudaFree(positions.data);
        scene_free(&s);
    }
    kith_context_free(context);
}

/* A list that is used again is begun with the sizes of the last one, which may be too small, too
 * large, or of other options. */
static void test_cuda_pairs_of_a_list_used_again(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    kith_pairs *pairs = NULL;
    for (int k = 0; k < (test_is_quick() ? 40 : 300); k++) {
        struct scene s = random_scene(random, random_below(random, 300),
                                      exp(random_uniform(random, 0, k % 10 == 9 ? 6 : 4)));
        struct expectation expected = expect(&s);
        s.options.unsorted = random_chance(random, 0.5);
        s.options.quantities = random_chance(random, 0.5) ? all_quantities : 0;
        const kith_pairs_options options = options_of(&s);
        for (int turn = 0; turn < 2; turn++) {
            assert_ok(kith_pairs_compute(context, &options, s.positions, s.cells, &pairs));
            assert_int_equal(pairs->count, expected.list.count);
            if (s.options.quantities == all_quantities)
                assert_is_expected(&s, pairs, &expected, "a list used again");
            else if (!s.options.unsorted)
                for (int64_t p = 0; p < pairs->count; p++) {
                    assert_int_equal(index_at(pairs->i, p), expected.list.pairs[p].i);
                    assert_int_equal(index_at(pairs->j, p), expected.list.pairs[p].j);
                }
        }
        expectation_free(&expected);
        scene_free(&s);
    }
    kith_pairs_free(pairs);
    kith_context_free(context);
}

/* Hundreds of thousands of points: as many pairs as on average, each listed from both sides, and
 * the same bits again. */
static void test_cuda_pairs_of_many_points_are_the_same_each_time(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const int64_t n = test_is_quick() ? 20000 : 300000;
    const double size = cbrt((double)n / 10);
    kith_array points = vector_new(KITH_F32, 3 * n);
    for (int64_t k = 0; k < 3 * n; k++)
        put(points, k, random_uniform(random, 0, size));
    const kith_array positions = kith_array_matrix(points.data, KITH_F32, n, 3);
    const kith_cell cell = {{{size, 0, 0}, {0, size, 0}, {0, 0, size}}, {true, true, true}};
    const kith_pairs_options full = {.cutoff = 1, .narrow = true},
                             half = {.cutoff = 1, .half = true};
    kith_pairs *first = NULL, *again = NULL, *halves = NULL;
    assert_ok(kith_pairs_compute(context, &full, positions, &cell, &first));
    assert_ok(kith_pairs_compute(context, &full, positions, &cell, &again));
    assert_ok(kith_pairs_compute(context, &half, positions, &cell, &halves));
    assert_true(fabs((double)first->count / (double)n - 40 * 1.0471975512) < 0.5);
    assert_int_equal(first->count, again->count);
    assert_int_equal(first->count, 2 * halves->count);
    assert_memory_equal(first->j.data, again->j.data, (size_t)first->count * 4);
    for (int64_t k = 1; k < first->count; k++) {
        const int64_t i = index_at(first->i, k), before = index_at(first->i, k - 1);
        assert_true(i > before ||
                    (i == before && index_at(first->j, k) > index_at(first->j, k - 1)));
    }
    kith_pairs_free(first);
    kith_pairs_free(again);
    kith_pairs_free(halves);
    free(points.data);
    kith_context_free(context);
}

/* Nothing is sorted at the end: what any step does in the order of its threads would be seen. */
static void test_cuda_pairs_unsorted_are_the_same_each_time(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const int64_t n = test_is_quick() ? 5000 : 100000;
    kith_array points = vector_new(KITH_F32, 3 * n);
    for (int64_t k = 0; k < 3 * n; k++)
        put(points, k, random_uniform(random, 0, cbrt((double)n / 10)));
    const kith_array positions = kith_array_matrix(points.data, KITH_F32, n, 3);
    const kith_pairs_options options = {.cutoff = 1, .narrow = true, .unsorted = true};
    kith_pairs *first = NULL, *again = NULL;
    assert_ok(kith_pairs_compute(context, &options, positions, NULL, &first));
    for (int turn = 0; turn < 5; turn++) {
        assert_ok(kith_pairs_compute(context, &options, positions, NULL, &again));
        assert_int_equal(first->count, again->count);
        assert_memory_equal(first->j.data, again->j.data, (size_t)first->count * 4);
    }
    kith_pairs_free(first);
    kith_pairs_free(again);
    free(points.data);
    kith_context_free(context);
}

static void test_cuda_pairs_name_the_first_bad_row(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    kith_array points = vector_new(KITH_F64, 3 * 1000);
    for (int64_t k = 0; k < 3000; k++)
        put(points, k, random_uniform(random, 0, 10));
    const kith_array positions = kith_array_matrix(points.data, KITH_F64, 1000, 3);
    const kith_cell cell = {{{10, 0, 0}, {0, 10, 0}, {0, 0, 10}}, {true, true, true}};
    kith_pairs_options options = {.cutoff = 1};
    kith_pairs *pairs = NULL;
    put(points, 3 * 700 + 1, NAN);
    put(points, 3 * 900 + 1, INFINITY);
    assert_fails(kith_pairs_compute(context, &options, positions, &cell, &pairs),
                 KITH_INVALID_ARGUMENT, "row 700");
    put(points, 3 * 700 + 1, 1);
    put(points, 3 * 900 + 1, 1e30);
    assert_fails(kith_pairs_compute(context, &options, positions, &cell, &pairs),
                 KITH_INVALID_ARGUMENT, "row 900");
    put(points, 3 * 900 + 1, 1);
    options.memory_limit = 10000;
    assert_fails(kith_pairs_compute(context, &options, positions, &cell, &pairs),
                 KITH_OUT_OF_MEMORY, "memory_limit");
    options.memory_limit = 0;
    options.radii = random_lengths(random, KITH_F64, 1000, 0.1);
    put(options.radii, 30, -1);
    assert_fails(kith_pairs_compute(context, &options, positions, &cell, &pairs),
                 KITH_INVALID_ARGUMENT, "30 radii");
    assert_null(pairs);
    free(options.radii.data);
    free(points.data);
    kith_context_free(context);
}

/* Every point with every other: 1.35 TB. The message has their number, and the next call its list.
 */
static void test_cuda_a_list_larger_than_the_device_is_refused(void **state)
{
    enum { n = 150000 };
    struct random_numbers *random = *state;
    if (test_is_quick()) /* 2·10^10 candidates are minutes under a sanitizer */
        return;
    kith_context *context = new_gpu_context(NULL);
    const kith_array points = vector_new(KITH_F64, 3 * n);
    for (int64_t k = 0; k < 3 * n; k++)
        put(points, k, random_uniform(random, 0, 1));
    kith_pairs *pairs = NULL;
    kith_pairs_options options = {.cutoff = 5,
                                  .quantities = KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_SHIFTS |
                                                KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES};
    assert_fails(kith_pairs_compute(context, &options,
                                    kith_array_matrix(points.data, KITH_F64, n, 3), NULL, &pairs),
                 KITH_OUT_OF_MEMORY, "22499850000 pairs");
    assert_null(pairs);
    assert_ok(kith_pairs_compute(context, &options, kith_array_matrix(points.data, KITH_F64, 9, 3),
                                 NULL, &pairs));
    assert_int_equal(pairs->count, 72);
    kith_pairs_free(pairs);
    free(points.data);
    kith_context_free(context);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_pairs"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("test_cuda_pairs");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_pairs_are_the_definitions, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_of_few_points, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_of_crowds, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_of_clusters, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_of_candidates_without_a_pair, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_of_device_arrays, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_of_a_list_used_again, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_of_many_points_are_the_same_each_time, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_unsorted_are_the_same_each_time, &random),
        cmocka_unit_test_prestate(test_cuda_pairs_name_the_first_bad_row, &random),
        cmocka_unit_test_prestate(test_cuda_a_list_larger_than_the_device_is_refused, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
