/* The nearest points on the GPU against their definition. */

#include "gpu_testing.h"

#include "pairs_definition.h"

static int compare_by_distance(const void *a, const void *b)
{
    const struct pair *first = a, *second = b;
    if (first->i == second->i && first->distance != second->distance)
        return first->distance < second->distance ? -1 : 1;
    return compare_pairs(a, b);
}

static void assert_rows_begin_alike(const struct scene *s, const kith_pairs *pairs,
                                    struct expectation *expected, int64_t k, bool all)
{
    const int64_t *offsets = pairs->offsets.data;
    assert_int_equal(pairs->row_count, expected->rows);
    qsort(expected->list.pairs, (size_t)expected->list.count, sizeof *expected->list.pairs,
          compare_by_distance);
    for (int64_t i = 0; i < expected->rows; i++) {
        const int64_t there = expected->offsets[i + 1] - expected->offsets[i];
        if (there < k && !all)
            continue; /* the definition did not look far enough */
        assert_int_equal(offsets[i + 1] - offsets[i], there < k ? there : k);
        for (int64_t p = 0; p < there && p < k; p++) {
            const struct pair found = pair_at(pairs, offsets[i] + p, s->dimensions);
            const struct pair wanted = expected->list.pairs[expected->offsets[i] + p];
            if (!is_same_pair(&found, &wanted, s->dimensions))
                fail_msg("n = %lld, m = %lld, k = %lld, %s: neighbor %lld of %lld is %lld at "
                         "%.17g, expected %lld at %.17g",
                         (long long)s->n, (long long)s->m, (long long)k,
                         s->dtype == KITH_F64 ? "double" : "float", (long long)p, (long long)i,
                         (long long)found.j, found.distance, (long long)wanted.j, wanted.distance);
        }
    }
}

/* A scene that the nearest can be asked of. */
static struct scene nearest_scene(struct random_numbers *random, int64_t n, double neighbors)
{
    struct scene s = random_scene(random, n, neighbors);
    free(s.radii.data);
    free(s.query_radii.data);
    free(s.exclusions.data);
    free(s.exclusion_offsets.data);
    s.radii = s.query_radii = s.exclusions = s.exclusion_offsets = kith_array_none();
    s.options.half = false;
    return s;
}

static void assert_lists_nearest(kith_context *context, struct scene *s, int64_t k)
{
    struct expectation expected = expect(s);
    kith_pairs *pairs = NULL;
    kith_pairs_options options = options_of(s);
    assert_ok(kith_pairs_nearest(context, &options, s->positions, s->cells, k, &pairs));
    assert_rows_begin_alike(s, pairs, &expected, k, true);
    options.cutoff = 0;
    assert_ok(kith_pairs_nearest(context, &options, s->positions, s->cells, k, &pairs));
    assert_rows_begin_alike(s, pairs, &expected, k, false);
    kith_pairs_free(pairs);
    expectation_free(&expected);
}

static void test_cuda_nearest_are_the_definitions(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int t = 0; t < (test_is_quick() ? 20 : 200); t++) {
        const int64_t k = random_below(random, t % 10 == 0 ? 200 : 20);
        const int64_t n = random_below(random, t % 8 == 0 ? 600 : 90);
        struct scene s = nearest_scene(random, n, 2 * (double)k + 4);
        assert_lists_nearest(context, &s, k);
        scene_free(&s);
    }
    kith_context_free(context);
}

static void test_cuda_nearest_of_clusters(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int t = 0; t < (test_is_quick() ? 2 : 10); t++) {
        struct scene s = nearest_scene(random, 900, 30);
        for (int64_t at = 0; at < s.n * s.dimensions; at++)
            put(s.positions, at, get(s.positions, at) * exp(random_uniform(random, -8, 1)));
        assert_lists_nearest(context, &s, 1 + random_below(random, 20));
        scene_free(&s);
    }
    kith_context_free(context);
}

/* Fewer than k points, and none. */
static void test_cuda_nearest_may_be_fewer(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int64_t n = 0; n < 6; n++) {
        kith_array points = vector_new(KITH_F32, 3 * n);
        for (int64_t c = 0; c < 3 * n; c++)
            put(points, c, random_uniform(random, -1, 1));
        const kith_array positions = kith_array_matrix(points.data, KITH_F32, n, 3);
        const kith_pairs_options options = {.cutoff = 0};
        kith_pairs *pairs = NULL;
        assert_ok(kith_pairs_nearest(context, &options, positions, NULL, 8, &pairs));
        assert_int_equal(pairs->count, n * (n > 0 ? n - 1 : 0));
        kith_pairs_free(pairs);
        free(points.data);
    }
    kith_context_free(context);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_nearest"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("test_cuda_nearest");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_nearest_are_the_definitions, &random),
        cmocka_unit_test_prestate(test_cuda_nearest_of_clusters, &random),
        cmocka_unit_test_prestate(test_cuda_nearest_may_be_fewer, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
