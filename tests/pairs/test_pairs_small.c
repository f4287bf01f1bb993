/* Pairs of small systems: every bit as the definition has it, whichever way they are found. */

#include "testing.h"

#include "pairs_definition.h"

static kith_context *context_of(int32_t threads)
{
    kith_context *context = NULL;
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    assert_ok(kith_context_create(&options, &context));
    return context;
}

/* Along the axes, of either direction, and some of them open. */
static kith_cell random_box(struct random_numbers *random, double least, double most)
{
    kith_cell box = {0};
    for (int k = 0; k < 3; k++) {
        box.vectors[k][k] = random_uniform(random, least, most);
        if (random_chance(random, 0.2))
            box.vectors[k][k] = -box.vectors[k][k];
        box.periodic[k] = random_chance(random, 0.7);
    }
    return box;
}

static void drop(kith_array *array)
{
    free(array->data);
    *array = kith_array_none();
}

/* Of points in boxes that are mostly wider than two cutoffs, some of them hardly. */
static struct scene random_boxes(struct random_numbers *random, int64_t n)
{
    struct scene s = random_scene(random, n, 1 + 0.02 * (double)n * random_uniform(random, 0, 1));
    drop(&s.radii);
    drop(&s.query_radii);
    drop(&s.exclusions);
    drop(&s.exclusion_offsets);
    s.options.unsorted = random_chance(random, 0.2);
    for (int64_t k = 0; s.cells && k < s.systems; k++)
        s.cells[k] =
            random_box(random, (random_chance(random, 0.1) ? 1.5 : 2.001) * s.options.cutoff,
                       random_uniform(random, 2.1, 10) * s.options.cutoff);
    return s;
}

/* By each method that there is. */
static void assert_listed_as_defined(kith_context *context, const struct scene *s, const char *what)
{
    static const char *const names[] = {"auto", "cells", "brute force"};
    struct expectation expected = expect(s);
    for (int method = KITH_PAIRS_AUTO; method <= KITH_PAIRS_BRUTE_FORCE; method++) {
        char all[64];
        snprintf(all, sizeof all, "%s, %s", what, names[method]);
        kith_pairs *pairs = NULL;
        kith_pairs_options options = options_of(s);
        options.method = (kith_pairs_method)method;
        assert_ok(kith_pairs_compute(context, &options, s->positions, s->cells, &pairs));
        assert_is_expected(s, pairs, &expected, all);
        options.quantities = KITH_PAIRS_COUNTS;
        assert_ok(kith_pairs_compute(context, &options, s->positions, s->cells, &pairs));
        assert_int_equal(pairs->count, expected.list.count);
        assert_memory_equal(pairs->offsets.data, expected.offsets,
                            ((size_t)expected.rows + 1) * sizeof *expected.offsets);
        options.quantities = KITH_PAIRS_J;
        assert_ok(kith_pairs_compute(context, &options, s->positions, s->cells, &pairs));
        for (int64_t k = 0; k < pairs->count && !options.unsorted; k++)
            assert_int_equal(index_at(pairs->j, k), expected.list.pairs[k].j);
        kith_pairs_free(pairs);
    }
    expectation_free(&expected);
}

static void test_boxes_have_the_pairs_of_the_definition(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("boxes");
    kith_context *context = context_of(2);
    for (int turn = 0; turn < 400; turn++) {
        const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 33, 100};
        struct scene s =
            random_boxes(&random, turn < 200 ? sizes[turn % 9] : random_below(&random, 200));
        assert_listed_as_defined(context, &s, "boxes");
        scene_free(&s);
    }
    for (int turn = 0; turn < 4; turn++) {
        struct scene s = random_boxes(&random, 500 + random_below(&random, 700));
        assert_listed_as_defined(context, &s, "larger boxes");
        scene_free(&s);
    }
    kith_context_free(context);
}

static void test_every_instruction_set_lists_the_same(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("instruction sets");
    int64_t sets = 0;
    const kith_isa *isa = kith_isa_list(&sets);
    for (int64_t k = 0; k < sets; k++) {
        if (!isa[k].supported)
            continue;
        setenv("KITH_ISA", isa[k].name, 1);
        kith_context *context = context_of(1);
        for (int turn = 0; turn < 40; turn++) {
            struct scene s = random_boxes(&random, random_below(&random, 120));
            assert_listed_as_defined(context, &s, isa[k].name);
            scene_free(&s);
        }
        kith_context_free(context);
        unsetenv("KITH_ISA");
    }
}

/* A grid in a box that it fills: very many pairs are at the cutoff, but for rounding. */
static struct scene grid_scene(kith_dtype dtype, int64_t side, double spacing, bool periodic)
{
    struct scene s = {.dtype = dtype, .dimensions = 3, .n = side * side * side, .m = -1};
    s.systems = 1;
    s.positions = kith_array_matrix(vector_new(dtype, 3 * s.n).data, dtype, s.n, 3);
    for (int64_t k = 0; k < s.n; k++) {
        const int64_t at[3] = {k / (side * side), k / side % side, k % side};
        for (int c = 0; c < 3; c++)
            put(s.positions, 3 * k + c, (double)at[c] * spacing);
    }
    s.cells = calloc(1, sizeof *s.cells);
    assert_non_null(s.cells);
    for (int c = 0; c < 3; c++) {
        s.cells->vectors[c][c] = (double)side * spacing;
        s.cells->periodic[c] = periodic;
    }
    s.options.quantities = all_quantities;
    return s;
}

static void test_pairs_at_the_cutoff_are_judged_exactly(void **state)
{
    (void)state;
    kith_context *context = context_of(1);
    const double spacings[] = {1, 0.1, 1.0 / 3, 1e-7, 12345.678};
    for (int turn = 0; turn < 5 * 2 * 2 * 3; turn++) {
        const double spacing = spacings[turn % 5];
        struct scene s = grid_scene(turn / 5 % 2 ? KITH_F64 : KITH_F32, 7, spacing, turn / 10 % 2);
        const double cutoffs[] = {spacing, spacing * sqrt(2), nextafter(spacing, INFINITY)};
        s.options.cutoff = cutoffs[turn / 20];
        assert_listed_as_defined(context, &s, "grid");
        scene_free(&s);
    }
    kith_context_free(context);
}

static void test_strides_are_followed(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("strides");
    kith_context *context = context_of(1);
    enum { n = 70, row = 7, column = 2 };
    double wide[n * row] = {0}, dense[3 * n];
    for (int64_t k = 0; k < 3 * n; k++)
        dense[k] = wide[k / 3 * row + k % 3 * column] = random_uniform(&random, -3, 3);
    const kith_cell box = {{{2, 0, 0}, {0, -3, 0}, {0, 0, 4}}, {true, true, false}};
    const kith_pairs_options options = {.cutoff = 0.9, .quantities = all_quantities};
    kith_array strided = kith_array_matrix(wide, KITH_F64, n, 3);
    strided.strides[0] = row;
    strided.strides[1] = column;
    kith_pairs *found = NULL, *expected = NULL;
    assert_ok(kith_pairs_compute(context, &options, strided, &box, &found));
    assert_ok(kith_pairs_compute(context, &options, kith_array_matrix(dense, KITH_F64, n, 3), &box,
                                 &expected));
    assert_true(expected->count > n);
    assert_int_equal(found->count, expected->count);
    assert_memory_equal(found->vectors.data, expected->vectors.data, 24 * (size_t)found->count);
    kith_pairs_free(found);
    kith_pairs_free(expected);
    kith_context_free(context);
}

static void test_a_point_far_away_is_no_obstacle(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("far away");
    kith_context *context = context_of(1);
    for (int turn = 0; turn < 30; turn++) {
        struct scene s = random_boxes(&random, 1 + random_below(&random, 60));
        const int64_t row = random_below(&random, s.n);
        for (int64_t k = 0; s.cells && k < s.systems; k++)
            for (int c = 0; c < 3; c++)
                s.cells[k].periodic[c] = false;
        put(s.positions, row * s.dimensions,
            s.options.cutoff * pow(10, random_uniform(&random, 1, 12)));
        assert_listed_as_defined(context, &s, "far away");
        scene_free(&s);
    }
    kith_context_free(context);
}

static void test_a_bad_number_is_named(void **state)
{
    (void)state;
    kith_context *context = context_of(1);
    kith_pairs *pairs = NULL;
    double x[] = {0, 0, 0, 1, 0, 0, 0, NAN, 0, 0.5, 0, 0};
    int64_t offsets[] = {0, 2, 4};
    kith_pairs_options options = {.cutoff = 2};
    const kith_array positions = kith_array_matrix(x, KITH_F64, 4, 3);
    assert_fails(kith_pairs_compute(context, &options, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "positions row 2 nan");
    options.system_offsets = kith_array_vector(offsets, KITH_I64, 3);
    assert_fails(kith_pairs_compute(context, &options, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "positions row 2 nan");
    x[7] = 0;
    x[0] = 1e300;
    const kith_cell cell = {{{5, 0, 0}, {0, 5, 0}, {0, 0, 5}}, {true, true, true}};
    options.system_offsets = kith_array_none();
    assert_fails(kith_pairs_compute(context, &options, positions, &cell, &pairs),
                 KITH_INVALID_ARGUMENT, "positions row 0 2^30");
    kith_context_free(context);
}

/* Molecules: more systems than are found at a time, and rows for more than one thread. */
static void test_a_batch_of_molecules_is_the_same_for_every_number_of_threads(void **state)
{
    (void)state;
    enum { molecules = 600, atoms = 40, n = molecules * atoms };
    struct random_numbers random = random_numbers_begin("molecules");
    double *x = calloc(3 * (size_t)n, sizeof *x);
    int64_t *offsets = calloc(molecules + 1, sizeof *offsets);
    assert_non_null(x);
    assert_non_null(offsets);
    for (int64_t k = 0; k < 3 * n; k++)
        x[k] = random_uniform(&random, 0, 9);
    for (int64_t s = 0; s <= molecules; s++)
        offsets[s] = s * atoms;
    kith_pairs_options options = {.cutoff = 5,
                                  .quantities = all_quantities,
                                  .system_offsets =
                                      kith_array_vector(offsets, KITH_I64, molecules + 1),
                                  .method = KITH_PAIRS_CELLS};
    kith_context *one = context_of(1);
    const kith_array positions = kith_array_matrix(x, KITH_F64, n, 3);
    kith_pairs *expected = NULL;
    assert_ok(kith_pairs_compute(one, &options, positions, NULL, &expected));
    options.method = KITH_PAIRS_AUTO;
    for (int32_t threads = 1; threads < 5; threads++) {
        kith_context *context = context_of(threads);
        kith_pairs *pairs = NULL;
        for (int turn = 0; turn < 3; turn++)
            assert_ok(kith_pairs_compute(context, &options, positions, NULL, &pairs));
        const size_t count = (size_t)expected->count;
        assert_int_equal(pairs->count, expected->count);
        assert_memory_equal(pairs->offsets.data, expected->offsets.data, 8 * ((size_t)n + 1));
        assert_memory_equal(pairs->i.data, expected->i.data, 8 * count);
        assert_memory_equal(pairs->j.data, expected->j.data, 8 * count);
        assert_memory_equal(pairs->shifts.data, expected->shifts.data, 12 * count);
        assert_memory_equal(pairs->vectors.data, expected->vectors.data, 24 * count);
        assert_memory_equal(pairs->distances.data, expected->distances.data, 8 * count);
        kith_pairs_free(pairs);
        kith_context_free(context);
    }
    kith_pairs_free(expected);
    kith_context_free(one);
    free(offsets);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_have_the_pairs_of_the_definition),
        cmocka_unit_test(test_every_instruction_set_lists_the_same),
        cmocka_unit_test(test_pairs_at_the_cutoff_are_judged_exactly),
        cmocka_unit_test(test_strides_are_followed),
        cmocka_unit_test(test_a_point_far_away_is_no_obstacle),
        cmocka_unit_test(test_a_bad_number_is_named),
        cmocka_unit_test(test_a_batch_of_molecules_is_the_same_for_every_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
