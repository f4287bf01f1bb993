/* Pairs where it is easy to be wrong: at the cutoff, on faces, with nothing there, with bad input.
 */

#include "testing.h"

#include "pairs_system.h"

static kith_pairs *list_of(kith_context *context, const kith_pairs_options *options, double *x,
                           int64_t n, int64_t dimensions, const kith_cell *cell)
{
    kith_pairs *pairs = NULL;
    assert_ok(kith_pairs_compute(context, options, kith_array_matrix(x, KITH_F64, n, dimensions),
                                 cell, &pairs));
    return pairs;
}

static int64_t count_of(kith_context *context, double cutoff, double *x, int64_t n,
                        int64_t dimensions, const kith_cell *cell)
{
    const kith_pairs_options options = {.cutoff = cutoff};
    kith_pairs *pairs = list_of(context, &options, x, n, dimensions, cell);
    const int64_t count = pairs->count;
    kith_pairs_free(pairs);
    return count;
}

static void test_a_pair_at_the_cutoff_is_none(void **state)
{
    (void)state;
    kith_context *context = pairs_context(1);
    double x[] = {0, 0, 0, 1, 1, 0};
    assert_int_equal(count_of(context, sqrt(2), x, 2, 3, NULL), 0);
    assert_int_equal(count_of(context, nextafter(sqrt(2), 2), x, 2, 3, NULL), 2);
    double line[] = {0, 0, 3, 0, 6, 0};
    assert_int_equal(count_of(context, 3, line, 3, 2, NULL), 0);
    kith_context_free(context);
}

/* In a simple cubic crystal with all points on the faces of cells. */
static void test_points_on_faces_have_all_their_neighbors_once(void **state)
{
    (void)state;
    enum { edge = 6, n = edge * edge * edge };
    kith_context *context = pairs_context(2);
    double x[3 * n];
    for (int i = 0; i < n; i++) {
        x[3 * i] = i % edge;
        const int row = i / edge % edge;
        x[3 * i + 1] = row;
        const int layer = i / (edge * edge);
        x[3 * i + 2] = layer;
    }
    const kith_cell cell = {{{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}}, {true, true, true}};
    assert_int_equal(count_of(context, 1, x, n, 3, &cell), 0);
    assert_int_equal(count_of(context, 1.1, x, n, 3, &cell), 6 * n);
    assert_int_equal(count_of(context, 1.5, x, n, 3, &cell), 18 * n);
    assert_int_equal(count_of(context, 2, x, n, 3, &cell), 26 * n);
    for (int k = 0; k < 3 * n; k++) /* the upper faces instead of the lower */
        x[k] = x[k] == 0 ? edge : x[k];
    assert_int_equal(count_of(context, 1.5, x, n, 3, &cell), 18 * n);
    kith_context_free(context);
}

static void test_one_atom_has_images_of_itself(void **state)
{
    (void)state;
    kith_context *context = pairs_context(1);
    double x[] = {0.3, 40, -7};
    const kith_cell fcc = {{{0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}, {true, true, true}};
    assert_int_equal(count_of(context, 0.71, x, 1, 3, &fcc), 12);
    assert_int_equal(count_of(context, 1.01, x, 1, 3, &fcc), 18);
    const kith_pairs_options half = {.cutoff = 1.01, .half = true};
    kith_pairs *pairs = list_of(context, &half, x, 1, 3, &fcc);
    assert_int_equal(pairs->count, 9);
    kith_pairs_free(pairs);

    pairs = NULL;
    const kith_pairs_options by_distance = {.quantities = KITH_PAIRS_DISTANCES};
    assert_ok(kith_pairs_nearest(context, &by_distance, kith_array_matrix(x, KITH_F64, 1, 3), &fcc,
                                 13, &pairs));
    assert_int_equal(pairs->count, 13);
    assert_true(fabs(real_at(pairs->distances, 11) - sqrt(0.5)) < 1e-14);
    assert_true(fabs(real_at(pairs->distances, 12) - 1) < 1e-14);
    kith_pairs_free(pairs);
    kith_context_free(context);
}

static void test_few_points_and_points_in_one_place(void **state)
{
    (void)state;
    kith_context *context = pairs_context(1);
    double x[2000] = {0};
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    for (int64_t n = 0; n < 3; n++) {
        assert_int_equal(count_of(context, 0.1, x, n, 3, NULL), n * (n - 1));
        assert_int_equal(count_of(context, 0.1, x, n, 2, &cell), n * (n - 1));
    }
    assert_int_equal(count_of(context, 0.1, x, 1000, 2, NULL), 1000 * 999);
    for (int k = 0; k < 1000; k++) /* collinear */
        x[2 * k] = k;
    assert_int_equal(count_of(context, 1.5, x, 1000, 2, NULL), 2 * 999);
    kith_context_free(context);
}

static void test_an_open_axis_needs_no_vector(void **state)
{
    (void)state;
    kith_context *context = pairs_context(1);
    double x[] = {0.1, 0, 0, 0.9, 0, 5};
    const kith_cell wire = {{{1, 0, 0}}, {true, false, false}};
    assert_int_equal(count_of(context, 0.9, x, 2, 3, &wire), 0);
    assert_int_equal(count_of(context, 1.1, x, 2, 3, &wire), 4);
    assert_int_equal(count_of(context, 5.1, x, 2, 3, &wire), 2 * (10 + 1) + 2);
    kith_context_free(context);
}

/* A list with a skin is kept while nothing has moved by more than half of it. */
static void test_a_list_with_a_skin_is_kept(void **state)
{
    (void)state;
    enum { n = 400 };
    struct random_numbers numbers = random_numbers_begin("skin");
    kith_context *context = pairs_context(2);
    struct pairs_system_of_test system = random_system(&numbers, n, 3);
    const kith_pairs_options options = {.cutoff = 0.2, .skin = 0.1, .quantities = pairs_everything};
    kith_pairs *pairs = NULL;
    bool rebuilt = false;
    const kith_array positions = positions_of(&system, KITH_F64);
    assert_ok(kith_pairs_update(context, &options, positions, &system.cell, &pairs, &rebuilt));
    assert_true(rebuilt);
    const int64_t count = pairs->count;
    const double before = real_at(pairs->vectors, 0);
    system.x[3 * whole_at(pairs->i, 0)] += 0.049;
    assert_ok(kith_pairs_update(context, &options, positions, &system.cell, &pairs, &rebuilt));
    assert_false(rebuilt);
    assert_int_equal(pairs->count, count);
    if (whole_at(pairs->i, 0) != whole_at(pairs->j, 0))
        assert_true(fabs(real_at(pairs->vectors, 0) - (before - 0.049)) < 1e-12);
    system.x[3 * whole_at(pairs->i, 0)] += 0.002;
    assert_ok(kith_pairs_update(context, &options, positions, &system.cell, &pairs, &rebuilt));
    assert_true(rebuilt);
    system.cell.vectors[1][1] += 0.01;
    assert_ok(kith_pairs_update(context, &options, positions, &system.cell, &pairs, &rebuilt));
    assert_true(rebuilt);
    kith_pairs_free(pairs);
    free_points(&system);
    kith_context_free(context);
}

/* Half of the skin exactly is still near enough; other counts, options, queries and bad numbers are
 * seen, and a list that failed is rebuilt. */
static void test_updates_at_the_edges(void **state)
{
    (void)state;
    kith_context *context = pairs_context(2);
    float x[] = {0, 0, 1, 0, 5, 0}, q[] = {0.5F, 0};
    const kith_array all = kith_array_matrix(x, KITH_F32, 3, 2);
    kith_pairs_options options = {.cutoff = 1.5, .skin = 0.5, .quantities = KITH_PAIRS_DISTANCES};
    kith_pairs *pairs = NULL;
    bool rebuilt = false;
    assert_ok(kith_pairs_update(context, &options, all, NULL, &pairs, &rebuilt));
    assert_true(rebuilt && pairs->count == 2);
    x[2] = 1.25F;
    assert_ok(kith_pairs_update(context, &options, all, NULL, &pairs, &rebuilt));
    assert_false(rebuilt);
    assert_true(real_at(pairs->distances, 0) == 1.25);
    x[2] = nextafterf(1.25F, 2);
    assert_ok(kith_pairs_update(context, &options, all, NULL, &pairs, &rebuilt));
    assert_true(rebuilt);
    assert_ok(kith_pairs_update(context, &options, kith_array_matrix(x, KITH_F32, 2, 2), NULL,
                                &pairs, &rebuilt));
    assert_true(rebuilt && pairs->row_count == 2);
    options.queries = kith_array_matrix(q, KITH_F32, 1, 2);
    assert_ok(kith_pairs_update(context, &options, all, NULL, &pairs, &rebuilt));
    assert_true(rebuilt && pairs->row_count == 1 && pairs->count == 2);
    q[1] = 0.375F;
    assert_ok(kith_pairs_update(context, &options, all, NULL, &pairs, NULL));
    assert_ok(kith_pairs_update(context, &options, all, NULL, &pairs, &rebuilt));
    assert_false(rebuilt);
    q[1] = NAN;
    assert_fails(kith_pairs_update(context, &options, all, NULL, &pairs, &rebuilt),
                 KITH_INVALID_ARGUMENT, "row 0");
    q[1] = 0.375F;
    assert_ok(kith_pairs_update(context, &options, all, NULL, &pairs, &rebuilt));
    assert_int_equal(pairs->count, 2);
    assert_ok(kith_pairs_update(context, &options, kith_array_matrix(x, KITH_F32, 0, 2), NULL,
                                &pairs, &rebuilt));
    assert_int_equal(pairs->count, 0);
    kith_pairs_free(pairs);
    kith_context_free(context);
}

static void test_bad_arguments_are_named(void **state)
{
    (void)state;
    kith_context *context = pairs_context(1);
    kith_pairs *pairs = NULL;
    double x[6] = {0};
    const kith_array positions = kith_array_matrix(x, KITH_F64, 2, 3);
    const kith_cell flat = {{{1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {true, true, true}};
    const kith_pairs_options good = {.cutoff = 1};
    assert_fails(kith_pairs_compute(context, NULL, positions, NULL, &pairs), KITH_INVALID_ARGUMENT,
                 "options NULL");
    assert_fails(kith_pairs_compute(context, &(kith_pairs_options){0}, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "cutoff 0");
    assert_fails(
        kith_pairs_compute(context, &(kith_pairs_options){.cutoff = NAN}, positions, NULL, &pairs),
        KITH_INVALID_ARGUMENT, "cutoff");
    assert_fails(kith_pairs_compute(context, &good, positions, &flat, &pairs),
                 KITH_INVALID_ARGUMENT, "dependent");
    assert_fails(kith_pairs_compute(context, &(kith_pairs_options){.cutoff = 1, .memory_limit = 8},
                                    positions, NULL, &pairs),
                 KITH_OUT_OF_MEMORY, "56 bytes");
    x[4] = NAN;
    assert_fails(kith_pairs_compute(context, &good, positions, NULL, &pairs), KITH_INVALID_ARGUMENT,
                 "row 1");
    x[4] = INFINITY;
    assert_fails(kith_pairs_compute(context, &good, positions, NULL, &pairs), KITH_INVALID_ARGUMENT,
                 "row 1");
    x[4] = 1e12;
    const kith_cell unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    assert_fails(kith_pairs_compute(context, &good, positions, &unit, &pairs),
                 KITH_INVALID_ARGUMENT, "");
    assert_null(pairs);
    kith_context_free(context);
}

static void test_bad_arrays_of_options_are_named(void **state)
{
    (void)state;
    kith_context *context = pairs_context(1);
    kith_pairs *pairs = NULL;
    double x[12] = {0}, radii[4] = {0};
    int64_t offsets[] = {0, 2, 1, 4};
    const kith_array positions = kith_array_matrix(x, KITH_F64, 4, 3);
    kith_pairs_options options = {.cutoff = 1, .radii = kith_array_vector(radii, KITH_F64, 3)};
    assert_fails(kith_pairs_compute(context, &options, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "radii 3 4");
    options.radii = kith_array_vector(radii, KITH_F64, 4);
    options.radii.device = (kith_device){KITH_CUDA, 3};
    assert_fails(kith_pairs_compute(context, &options, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "positions radii cuda:3 host's");
    options.radii = kith_array_none();
    options.queries = kith_array_matrix(x, KITH_F64, 6, 2);
    assert_fails(kith_pairs_compute(context, &options, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "queries 6 2 3");
    options.queries = kith_array_none();
    options.system_offsets = kith_array_vector(offsets, KITH_I64, 4);
    assert_fails(kith_pairs_compute(context, &options, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "system_offsets 1 2 2");
    assert_null(pairs);
    kith_context_free(context);
}

/* A struct of zeros, as other libraries have their lists begin with. */
static void test_a_list_that_kith_has_not_made_is_refused(void **state)
{
    (void)state;
    kith_context *context = pairs_context(1);
    double x[6] = {0, 0, 0, 1, 0, 0};
    bool rebuilt = true;
    kith_pairs zeros = {0}, *pairs = &zeros;
    const kith_array positions = kith_array_matrix(x, KITH_F64, 2, 3);
    const kith_pairs_options options = {.cutoff = 2};
    assert_fails(kith_pairs_compute(context, &options, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "NULL");
    assert_fails(kith_pairs_update(context, &options, positions, NULL, &pairs, &rebuilt),
                 KITH_INVALID_ARGUMENT, "NULL");
    assert_fails(kith_pairs_nearest(context, &options, positions, NULL, 1, &pairs),
                 KITH_INVALID_ARGUMENT, "NULL");
    assert_ptr_equal(pairs, &zeros);
    kith_sparse *sparse = NULL;
    assert_fails(kith_sparse_create_pairs(context, NULL, &zeros, NULL, &sparse),
                 KITH_INVALID_ARGUMENT, "offsets");
    assert_null(sparse);
    kith_pairs_free(&zeros);
    kith_context_free(context);
}

static void test_offsets_go_to_the_end_of_the_last_row(void **state)
{
    (void)state;
    kith_context *context = pairs_context(1);
    double x[] = {0, 0, 1, 0, 5, 0};
    const kith_pairs_options options = {.cutoff = 1.5};
    kith_pairs *pairs = list_of(context, &options, x, 3, 2, NULL);
    assert_int_equal(pairs->offsets.shape[0], 4);
    assert_memory_equal(pairs->offsets.data, ((int64_t[]){0, 1, 2, 2}), 4 * sizeof(int64_t));
    kith_pairs_free(pairs);
    kith_context_free(context);
}

/* Every instruction set's list of a scene, which is long, against the definition. */
static void compare_long_lists(const struct pairs_system_of_test *system, const kith_cell *cell,
                               kith_dtype dtype, kith_pairs_options options)
{
    enum { long_list = 1 << 18 };
    const kith_array positions = positions_of(system, dtype);
    kith_context *plain = pairs_context(2);
    kith_pairs *found = NULL, *expected = NULL;
    options.quantities = pairs_everything;
    options.method = KITH_PAIRS_REFERENCE;
    assert_ok(kith_pairs_compute(plain, &options, positions, cell, &expected));
    assert_true(expected->count > long_list);
    options.method = KITH_PAIRS_AUTO;
    int64_t isas = 0;
    const kith_isa *list = kith_isa_list(&isas);
    for (int64_t isa = 0; isa < isas; isa++) {
        if (!list[isa].supported)
            continue;
        setenv("KITH_ISA", list[isa].name, 1);
        kith_context *context = pairs_context(2);
        unsetenv("KITH_ISA");
        assert_ok(kith_pairs_compute(context, &options, positions, cell, &found));
        assert_same_pairs(found, expected, dtype == KITH_F32 ? 1e-6 : 1e-13);
        kith_pairs_free(found);
        kith_context_free(context);
        found = NULL;
    }
    kith_pairs_free(expected);
    kith_context_free(plain);
}

/* Lists of this length are written past the caches, each column by stores of its own. Points beyond
 * the faces of a cell have integers of vectors of their own in the shifts. */
static void test_long_lists_are_those_of_the_reference(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("long lists");
    const kith_cell cell = {{{1, 0, 0}, {0.2, 0.9, 0}, {-0.1, 0.3, 1.1}}, {true, true, true}};
    const kith_cell flat = {{{1, 0, 0}, {0.2, 0.9, 0}}, {true, true, false}};
    const struct {
        int64_t n;
        const kith_cell *cell;
        kith_pairs_options options;
        int32_t dimensions;
        kith_dtype dtype;
    } scenes[] = {
        {5000, NULL, {.cutoff = 0.16}, 3, KITH_F64},
        {5000, NULL, {.cutoff = 0.16, .narrow = true}, 3, KITH_F32},
        {2200, &cell, {.cutoff = 0.26}, 3, KITH_F64},
        {2200, &flat, {.cutoff = 0.26}, 2, KITH_F64},
    };
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        struct pairs_system_of_test system = new_points(scenes[k].n, scenes[k].dimensions);
        for (int64_t p = 0; p < scenes[k].n * scenes[k].dimensions; p++)
            system.x[p] = scenes[k].cell ? random_uniform(&numbers, -1.5, 2.5)
                                         : random_uniform(&numbers, 0, 1);
        compare_long_lists(&system, scenes[k].cell, scenes[k].dtype, scenes[k].options);
        free_points(&system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pair_at_the_cutoff_is_none),
        cmocka_unit_test(test_points_on_faces_have_all_their_neighbors_once),
        cmocka_unit_test(test_one_atom_has_images_of_itself),
        cmocka_unit_test(test_few_points_and_points_in_one_place),
        cmocka_unit_test(test_an_open_axis_needs_no_vector),
        cmocka_unit_test(test_a_list_with_a_skin_is_kept),
        cmocka_unit_test(test_updates_at_the_edges),
        cmocka_unit_test(test_bad_arguments_are_named),
        cmocka_unit_test(test_bad_arrays_of_options_are_named),
        cmocka_unit_test(test_a_list_that_kith_has_not_made_is_refused),
        cmocka_unit_test(test_offsets_go_to_the_end_of_the_last_row),
        cmocka_unit_test(test_long_lists_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
