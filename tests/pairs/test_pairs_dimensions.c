/* Pairs and nearest points of 1 to 16 dimensions against their definition as a loop, every bit. */

#include "testing.h"

#include "pairs_dimensions.h"

enum { most = KITH_MAX_COORDINATES };

static struct random_numbers numbers;

static kith_context *context_of(int32_t threads)
{
    kith_context *context = NULL;
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    assert_ok(kith_context_create(&options, &context));
    return context;
}

/* Points in a cube; at a few places; on a line; on a grid, where many distances are equal; and in
 * clusters that are far apart. */
static void place_points(kith_array points, int kind, double size)
{
    const int64_t dimensions = points.shape[1];
    double base[most], slope[most];
    for (int c = 0; c < most; c++) {
        base[c] = random_uniform(&numbers, -size, size);
        slope[c] = random_uniform(&numbers, -1, 1);
    }
    for (int64_t i = 0; i < points.shape[0]; i++) {
        const double along = random_uniform(&numbers, 0, size);
        const double cluster = (double)random_below(&numbers, 3);
        for (int64_t c = 0; c < dimensions; c++) {
            const double x = random_uniform(&numbers, 0, size);
            const double each[] = {x, (double)random_below(&numbers, 2) * size,
                                   base[c] + slope[c] * along, floor(4 * x / size) * size / 4,
                                   x + 100 * size * cluster * slope[c]};
            put(points, i * dimensions + c, each[kind]);
        }
    }
}

enum { kinds = 5 };

/* How far the points of a scene are from each other, about: the cutoff is less. */
static double typical_distance(const struct scene *s)
{
    double sum = 0;
    const int64_t rows = targets_of(s).shape[0], samples = 8;
    for (int64_t k = 0; k < samples && rows > 0 && s->n > 0; k++)
        sum += distance_of(s, random_below(&numbers, rows), random_below(&numbers, s->n));
    return sum > 0 ? sum / (double)samples : 1;
}

static struct scene scene_of(int64_t dimensions, int kind, int64_t n)
{
    struct scene s = {.dtype = random_chance(&numbers, 0.5) ? KITH_F64 : KITH_F32,
                      .dimensions = dimensions,
                      .n = n,
                      .m = random_chance(&numbers, 0.3) ? random_below(&numbers, 2 * n + 2) : -1,
                      .systems = random_chance(&numbers, 0.25) ? 1 + random_below(&numbers, 5) : 1};
    const double size = exp(random_uniform(&numbers, -15, 15));
    s.positions =
        kith_array_matrix(vector_new(s.dtype, n * dimensions).data, s.dtype, n, dimensions);
    place_points(s.positions, kind, size);
    if (s.m >= 0) {
        s.queries =
            kith_array_matrix(vector_new(s.dtype, s.m * dimensions).data, s.dtype, s.m, dimensions);
        place_points(s.queries, kind, size);
    }
    if (s.systems > 1) {
        s.system_offsets = random_offsets(&numbers, n, s.systems);
        if (s.m >= 0)
            s.query_system_offsets = random_offsets(&numbers, s.m, s.systems);
    }
    s.options =
        (kith_pairs_options){.cutoff = typical_distance(&s) * random_uniform(&numbers, 0.2, 1.2),
                             .quantities = all_quantities,
                             .half = s.m < 0 && random_chance(&numbers, 0.3),
                             .unsorted = random_chance(&numbers, 0.2),
                             .narrow = random_chance(&numbers, 0.5)};
    return s;
}

/* Without exclusions and radii, which the nearest points do not have. */
static void add_options(struct scene *s)
{
    if (random_chance(&numbers, 0.3)) {
        s->radii = random_lengths(&numbers, s->dtype, s->n, s->options.cutoff / 2);
        if (s->m >= 0)
            s->query_radii = random_lengths(&numbers, s->dtype, s->m, s->options.cutoff / 2);
    }
    if (random_chance(&numbers, 0.3))
        exclude(&numbers, s);
}

/* The reference judges distances in double precision. */
static int last_method(const struct scene *s)
{
    return s->dtype == KITH_F64 && kith_array_is_none(s->radii) ? KITH_PAIRS_REFERENCE
                                                                : KITH_PAIRS_BRUTE_FORCE;
}

static void check_pairs(kith_context *context, struct scene *s)
{
    kith_pairs *pairs = NULL;
    for (int method = KITH_PAIRS_AUTO; method <= last_method(s); method++) {
        kith_pairs_options options = options_of(s);
        options.method = (kith_pairs_method)method;
        assert_ok(kith_pairs_compute(context, &options, s->positions, NULL, &pairs));
        assert_pairs(s, pairs);
        const int64_t count = pairs->count;
        options.quantities = KITH_PAIRS_COUNTS;
        assert_ok(kith_pairs_compute(context, &options, s->positions, NULL, &pairs));
        assert_int_equal(pairs->count, count);
    }
    kith_pairs_free(pairs);
}

static void check_nearest(kith_context *context, struct scene *s)
{
    const int64_t wanted[] = {0, 1, 2, 5, 8, 33, s->n, s->n + 7};
    kith_pairs *pairs = NULL;
    s->options.half = false;
    for (int way = 0; way < 2; way++) {
        for (int method = KITH_PAIRS_AUTO; method <= last_method(s); method++) {
            const int64_t k = wanted[random_below(&numbers, 8)];
            kith_pairs_options options = options_of(s);
            options.method = (kith_pairs_method)method;
            assert_ok(kith_pairs_nearest(context, &options, s->positions, NULL, k, &pairs));
            assert_nearest(s, k, pairs);
        }
        s->options.cutoff = 0;
    }
    kith_pairs_free(pairs);
}

static void test_lists_are_those_of_the_definition(void **state)
{
    const int64_t sizes[] = {0, 1, 2, 16, 31, 32, 33, 63, 64, 65, 130, 257};
    (void)state;
    for (int turn = 0; turn < 3 * most; turn++) {
        kith_context *context = context_of(1 + turn % 3);
        const int64_t d = 1 + turn % most;
        if (d == 2 || d == 3) {
            kith_context_free(context);
            continue;
        }
        for (int kind = 0; kind < kinds; kind++) {
            struct scene s = scene_of(d, kind, sizes[random_below(&numbers, 12)]);
            check_nearest(context, &s);
            s.options.cutoff = typical_distance(&s) * random_uniform(&numbers, 0.2, 1.2);
            add_options(&s);
            check_pairs(context, &s);
            scene_free(&s);
        }
        kith_context_free(context);
    }
}

static void test_every_instruction_set_lists_the_same(void **state)
{
    (void)state;
    int64_t sets = 0;
    const kith_isa *isa = kith_isa_list(&sets);
    for (int64_t k = 0; k < sets; k++) {
        if (!isa[k].supported)
            continue;
        setenv("KITH_ISA", isa[k].name, 1);
        kith_context *context = context_of(1);
        for (int turn = 0; turn < 12; turn++) {
            struct scene s = scene_of(4 + random_below(&numbers, 13), turn % kinds, 150);
            check_pairs(context, &s);
            check_nearest(context, &s);
            scene_free(&s);
        }
        kith_context_free(context);
        unsetenv("KITH_ISA");
    }
}

static void assert_same_list(const kith_pairs *a, const kith_pairs *b, double factor)
{
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->count, b->count);
    for (int64_t i = 0; i <= a->row_count; i++)
        assert_int_equal(index_of(a->offsets, i), index_of(b->offsets, i));
    for (int64_t p = 0; p < a->count; p++) {
        assert_int_equal(index_of(a->j, p), index_of(b->j, p));
        assert_true(get(a->distances, p) * factor == get(b->distances, p));
    }
}

/* Larger ones, of several leaves for each thread, also where rows are not sorted. */
static void test_every_number_of_threads_lists_the_same(void **state)
{
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        struct scene s = scene_of(4 + random_below(&numbers, 13), turn % 2 ? 4 : 2, 3000);
        kith_pairs_options options = options_of(&s);
        kith_pairs *first[2] = {NULL, NULL};
        kith_context *one = context_of(1);
        options.half = false;
        options.unsorted = true;
        options.cutoff /= 4;
        assert_ok(kith_pairs_compute(one, &options, s.positions, NULL, &first[0]));
        assert_ok(kith_pairs_nearest(one, &options, s.positions, NULL, 6, &first[1]));
        for (int32_t threads = 2; threads <= 7; threads += 5) {
            kith_context *several = context_of(threads);
            kith_pairs *again = NULL;
            assert_ok(kith_pairs_compute(several, &options, s.positions, NULL, &again));
            assert_same_list(first[0], again, 1);
            assert_ok(kith_pairs_nearest(several, &options, s.positions, NULL, 6, &again));
            assert_same_list(first[1], again, 1);
            kith_pairs_free(again);
            kith_context_free(several);
        }
        kith_pairs_free(first[0]);
        kith_pairs_free(first[1]);
        kith_context_free(one);
        scene_free(&s);
    }
}

/* A power of two in all lengths changes nothing but the distances, by that power. */
static void test_no_scale_changes_a_list(void **state)
{
    enum { n = 90 };
    (void)state;
    kith_context *context = context_of(2);
    for (int turn = 0; turn < 24; turn++) {
        const kith_dtype dtype = turn % 2 ? KITH_F64 : KITH_F32;
        const int64_t d = turn % 4 < 2 ? 1 : 4 + random_below(&numbers, 13);
        const int exponent = (dtype == KITH_F64 ? 1000 : 105) * (turn % 3 - 1);
        kith_array x[2];
        for (int k = 0; k < 2; k++)
            x[k] = kith_array_matrix(vector_new(dtype, n * d).data, dtype, n, d);
        for (int64_t k = 0; k < n * d; k++) {
            put(x[0], k, (double)random_below(&numbers, 1 << 16) * 0x1p-16);
            put(x[1], k, ldexp(get(x[0], k), exponent));
        }
        kith_pairs *near[2] = {NULL, NULL}, *nearest[2] = {NULL, NULL};
        for (int k = 0; k < 2; k++) {
            kith_pairs_options options = {
                .cutoff = ldexp(0.4 * sqrt((double)d / 6), k == 0 ? 0 : exponent),
                .quantities = KITH_PAIRS_J | KITH_PAIRS_DISTANCES};
            assert_ok(kith_pairs_compute(context, &options, x[k], NULL, &near[k]));
            options.cutoff = 0;
            assert_ok(kith_pairs_nearest(context, &options, x[k], NULL, 5, &nearest[k]));
        }
        assert_same_list(near[0], near[1], ldexp(1, exponent));
        assert_same_list(nearest[0], nearest[1], ldexp(1, exponent));
        for (int k = 0; k < 2; k++) {
            kith_pairs_free(near[k]);
            kith_pairs_free(nearest[k]);
            free(x[k].data);
        }
    }
    kith_context_free(context);
}

/* Squares of these distances underflow in units in which the farthest point is near 1. */
static void test_distances_that_differ_much_in_size(void **state)
{
    (void)state;
    kith_context *context = context_of(1);
    for (int dtype = 0; dtype < 2; dtype++) {
        const int step = dtype == 0 ? -250 : -30; /* double, float */
        const kith_dtype type = dtype == 0 ? KITH_F64 : KITH_F32;
        enum { n = 5, d = 4 };
        const kith_array x = kith_array_matrix(vector_new(type, n * d).data, type, n, d);
        for (int i = 1; i < n; i++) /* 0; and 2^(step·i) along axis i − 1 */
            put(x, i * d + i - 1, ldexp(1, step * (i - 1) + 20));
        kith_pairs *pairs = NULL;
        const kith_pairs_options options = {.quantities = KITH_PAIRS_J | KITH_PAIRS_DISTANCES};
        assert_ok(kith_pairs_nearest(context, &options, x, NULL, n - 1, &pairs));
        for (int p = 0; p < n - 1; p++) { /* of the point at the origin */
            assert_int_equal(index_of(pairs->j, p), n - 1 - p);
            assert_true(get(pairs->distances, p) == ldexp(1, step * (n - 2 - p) + 20));
        }
        kith_pairs_free(pairs);
        free(x.data);
    }
    kith_context_free(context);
}

/* Lists with a skin: kept, and their distances brought up to date. */
static void test_lists_are_kept(void **state)
{
    enum { n = 200, d = 6 };
    (void)state;
    kith_context *context = context_of(2);
    struct scene s = {.dtype = KITH_F64, .dimensions = d, .n = n, .m = -1, .systems = 1};
    s.positions = kith_array_matrix(vector_new(KITH_F64, n * d).data, KITH_F64, n, d);
    place_points(s.positions, 0, 1);
    s.options = (kith_pairs_options){.cutoff = 0.5, .skin = 0.2, .quantities = all_quantities};
    kith_pairs *pairs = NULL;
    bool rebuilt = false;
    assert_ok(kith_pairs_update(context, &s.options, s.positions, NULL, &pairs, &rebuilt));
    assert_true(rebuilt);
    put(s.positions, 7 * d + 5, get(s.positions, 7 * d + 5) + 0.05);
    assert_ok(kith_pairs_update(context, &s.options, s.positions, NULL, &pairs, &rebuilt));
    assert_false(rebuilt);
    for (int64_t p = 0; p < pairs->count; p++)
        assert_true(fabs(get(pairs->distances, p) -
                         distance_of(&s, index_of(pairs->i, p), index_of(pairs->j, p))) < 1e-15);
    put(s.positions, 7 * d + 5, get(s.positions, 7 * d + 5) + 0.1);
    assert_ok(kith_pairs_update(context, &s.options, s.positions, NULL, &pairs, &rebuilt));
    assert_true(rebuilt);
    kith_pairs_free(pairs);
    scene_free(&s);
    kith_context_free(context);
}

/* Rows and columns with gaps, as the caller's array has them. */
static void test_strides(void **state)
{
    enum { n = 70, d = 5 };
    (void)state;
    kith_context *context = context_of(1);
    double dense[n * d], wide[n * 2 * d];
    for (int i = 0; i < n; i++)
        for (int c = 0; c < d; c++)
            wide[i * 2 * d + 2 * c] = dense[i * d + c] = random_uniform(&numbers, 0, 1);
    kith_array gaps = kith_array_matrix(wide, KITH_F64, n, d);
    gaps.strides[0] = 2 * d;
    gaps.strides[1] = 2;
    const kith_pairs_options options = {.cutoff = 0.5,
                                        .quantities = KITH_PAIRS_J | KITH_PAIRS_DISTANCES};
    kith_pairs *a = NULL, *b = NULL;
    assert_ok(
        kith_pairs_compute(context, &options, kith_array_matrix(dense, KITH_F64, n, d), NULL, &a));
    assert_ok(kith_pairs_compute(context, &options, gaps, NULL, &b));
    assert_same_list(a, b, 1);
    kith_pairs_free(a);
    kith_pairs_free(b);
    kith_context_free(context);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    kith_context *context = context_of(1);
    double x[4 * (most + 1)] = {0};
    const kith_array five = kith_array_matrix(x, KITH_F64, 4, 5);
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    kith_pairs_options options = {.cutoff = 1};
    kith_pairs *pairs = NULL;
    assert_fails(kith_pairs_compute(context, &options, five, &cell, &pairs), KITH_INVALID_ARGUMENT,
                 "cell");
    assert_fails(kith_pairs_compute(context, &options, kith_array_matrix(x, KITH_F64, 4, most + 1),
                                    NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "17 columns");
    options.queries = kith_array_matrix(x, KITH_F64, 2, 4);
    assert_fails(kith_pairs_compute(context, &options, five, NULL, &pairs), KITH_INVALID_ARGUMENT,
                 "queries");
    options.queries = kith_array_none();
    options.memory_limit = 100;
    assert_fails(kith_pairs_compute(context, &options, five, NULL, &pairs), KITH_OUT_OF_MEMORY,
                 "100");
    x[13] = NAN;
    assert_fails(kith_pairs_compute(context, &options, five, NULL, &pairs), KITH_INVALID_ARGUMENT,
                 "row 2 of positions");
    x[13] = 0x1.8p1023;
    options.cutoff = 0;
    assert_fails(kith_pairs_nearest(context, &options, five, NULL, 1, &pairs),
                 KITH_INVALID_ARGUMENT, "positions");
    assert_null(pairs);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_are_those_of_the_definition),
        cmocka_unit_test(test_every_instruction_set_lists_the_same),
        cmocka_unit_test(test_every_number_of_threads_lists_the_same),
        cmocka_unit_test(test_no_scale_changes_a_list),
        cmocka_unit_test(test_distances_that_differ_much_in_size),
        cmocka_unit_test(test_lists_are_kept),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_what_is_refused),
    };
    numbers = random_numbers_begin("test_pairs_dimensions");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
