/* Pairs nearer than a cutoff, against their definition. */

#include "testing.h"

#include "pairs_system.h"

/* Lists of random systems, made quickly and by the definition. */
static void compare_with_reference(kith_context *context, struct random_numbers *numbers, int64_t n,
                                   int32_t dimensions, kith_pairs **fast, kith_pairs **slow)
{
    struct pairs_system_of_test system = random_system(numbers, n, dimensions);
    const kith_array positions = positions_of(&system, KITH_F64);
    kith_pairs_options options = {
        .cutoff = random_uniform(numbers, 0, 1) < 0.2 ? random_uniform(numbers, 0.5, 1.5)
                                                      : random_uniform(numbers, 0.02, 0.5),
        .quantities = pairs_everything,
        .half = random_uniform(numbers, 0, 1) < 0.5,
        .narrow = random_uniform(numbers, 0, 1) < 0.5,
    };
    const kith_pairs_method methods[] = {KITH_PAIRS_AUTO, KITH_PAIRS_CELLS, KITH_PAIRS_BRUTE_FORCE};
    const kith_cell *cell = random_uniform(numbers, 0, 1) < 0.9 ? &system.cell : NULL;
    options.method = methods[random_whole(numbers, 0, 2)];
    assert_ok(kith_pairs_compute(context, &options, positions, cell, fast));
    options.method = KITH_PAIRS_REFERENCE;
    assert_ok(kith_pairs_compute(context, &options, positions, cell, slow));
    assert_same_pairs(*fast, *slow, 1e-13);
    free_points(&system);
}

static void test_pairs_of_random_cells_are_those_of_the_definition(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("random cells");
    kith_context *context = pairs_context(2);
    kith_pairs *fast = NULL, *slow = NULL;
    for (int turn = 0; turn < 400; turn++)
        compare_with_reference(context, &numbers, random_whole(&numbers, 0, 90), turn % 2 ? 3 : 2,
                               &fast, &slow);
    for (int turn = 0; turn < 20; turn++)
        compare_with_reference(context, &numbers, random_whole(&numbers, 200, 700),
                               turn % 2 ? 3 : 2, &fast, &slow);
    kith_pairs_free(fast);
    kith_pairs_free(slow);
    kith_context_free(context);
}

static void test_the_nearest_points_are_those_of_the_definition(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("nearest");
    kith_context *context = pairs_context(2);
    kith_pairs *fast = NULL, *slow = NULL;
    for (int turn = 0; turn < 150; turn++) {
        struct pairs_system_of_test system =
            random_system(&numbers, random_whole(&numbers, 0, 60), turn % 2 ? 3 : 2);
        const kith_array positions = positions_of(&system, KITH_F64);
        const kith_cell *cell = turn % 3 ? &system.cell : NULL;
        const int64_t k = random_whole(&numbers, 0, 40);
        kith_pairs_options options = {.quantities = pairs_everything,
                                      .cutoff = turn % 4 ? 0 : random_uniform(&numbers, 0.1, 1)};
        assert_ok(kith_pairs_nearest(context, &options, positions, cell, k, &fast));
        options.method = KITH_PAIRS_REFERENCE;
        assert_ok(kith_pairs_nearest(context, &options, positions, cell, k, &slow));
        assert_same_pairs(fast, slow, 1e-13);
        free_points(&system);
    }
    kith_pairs_free(fast);
    kith_pairs_free(slow);
    kith_context_free(context);
}

static double number_at(kith_array vector, int64_t k)
{
    return vector.dtype == KITH_F32 ? ((const float *)vector.data)[k]
                                    : ((const double *)vector.data)[k];
}

/* Points around one: of many the squares of the distances differ, and their roots do not. */
static void test_the_nearest_of_one_distance_go_by_their_index(void **state)
{
    (void)state;
    enum { n = 200 };
    struct random_numbers numbers = random_numbers_begin("around one");
    kith_context *context = pairs_context(1);
    kith_pairs *found = NULL;
    for (int turn = 0; turn < 20; turn++) {
        struct pairs_system_of_test system = new_points(n, 2);
        for (int64_t i = 1; i < n; i++) {
            const double angle = random_uniform(&numbers, 0, 6.28);
            system.x[2 * i] = cos(angle);
            system.x[2 * i + 1] = sin(angle);
        }
        const kith_array positions = positions_of(&system, turn % 2 ? KITH_F32 : KITH_F64);
        const kith_pairs_options options = {.quantities = KITH_PAIRS_J | KITH_PAIRS_DISTANCES};
        assert_ok(kith_pairs_nearest(context, &options, positions, NULL, n - 1, &found));
        const int64_t *j = found->j.data;
        for (int64_t k = 1; k < n - 1; k++) {
            const double before = number_at(found->distances, k - 1);
            const double distance = number_at(found->distances, k);
            assert_true(before < distance || (before == distance && j[k - 1] < j[k]));
        }
        free_points(&system);
    }
    kith_pairs_free(found);
    kith_context_free(context);
}

/* Systems of random cells and of points some cells away from them. */
enum { batch_systems = 40, batch_dimensions = 3 };

struct batch {
    struct pairs_system_of_test points; /* of all systems */
    int64_t offsets[batch_systems + 1];
    kith_cell cells[batch_systems];
};

static struct batch random_batch(struct random_numbers *numbers, int64_t most, int64_t most_of_one)
{
    struct batch batch = {.offsets = {0}};
    for (int s = 0; s < batch_systems; s++) {
        batch.offsets[s + 1] =
            batch.offsets[s] + random_whole(numbers, 0, s == 7 ? most_of_one : most);
        batch.cells[s] = random_cell(numbers, batch_dimensions);
    }
    batch.points = new_points(batch.offsets[batch_systems], batch_dimensions);
    for (int64_t k = 0; k < batch.points.n * batch_dimensions; k++)
        batch.points.x[k] = random_uniform(numbers, -2, 2);
    return batch;
}

/* Everything at once: lists of many systems are those of the systems, one after the other. */
static void test_systems_of_a_batch_do_not_meet(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("batch");
    kith_context *context = pairs_context(2);
    struct batch batch = random_batch(&numbers, 60, 3000);
    kith_pairs_options options = {
        .cutoff = 0.2,
        .quantities = pairs_everything,
        .system_offsets = kith_array_vector(batch.offsets, KITH_I64, batch_systems + 1)};
    kith_pairs *fast = NULL, *slow = NULL;
    const kith_array positions = positions_of(&batch.points, KITH_F64);
    assert_ok(kith_pairs_compute(context, &options, positions, batch.cells, &fast));
    options.method = KITH_PAIRS_REFERENCE;
    assert_ok(kith_pairs_compute(context, &options, positions, batch.cells, &slow));
    assert_same_pairs(fast, slow, 1e-13);
    kith_pairs_free(fast);
    kith_pairs_free(slow);
    free_points(&batch.points);
    kith_context_free(context);
}

static void test_the_nearest_of_a_batch_are_of_their_systems(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("nearest of a batch");
    kith_context *context = pairs_context(2);
    kith_pairs *fast = NULL, *slow = NULL;
    for (int turn = 0; turn < 4; turn++) {
        struct batch batch = random_batch(&numbers, 12, 40);
        struct pairs_system_of_test queries = new_points(batch.points.n, batch_dimensions);
        for (int64_t k = 0; k < queries.n * batch_dimensions; k++)
            queries.x[k] = random_uniform(&numbers, -2, 2);
        const kith_array offsets = kith_array_vector(batch.offsets, KITH_I64, batch_systems + 1);
        kith_pairs_options options = {.quantities = pairs_everything, .system_offsets = offsets};
        if (turn % 2) {
            options.queries = positions_of(&queries, KITH_F64);
            options.query_system_offsets = offsets;
        }
        const kith_array positions = positions_of(&batch.points, KITH_F64);
        const int64_t k = random_whole(&numbers, 1, 12);
        assert_ok(kith_pairs_nearest(context, &options, positions, batch.cells, k, &fast));
        options.method = KITH_PAIRS_REFERENCE;
        assert_ok(kith_pairs_nearest(context, &options, positions, batch.cells, k, &slow));
        assert_same_pairs(fast, slow, 1e-13);
        free_points(&queries);
        free_points(&batch.points);
    }
    kith_pairs_free(fast);
    kith_pairs_free(slow);
    kith_context_free(context);
}

static void test_queries_radii_and_exclusions_are_heeded(void **state)
{
    (void)state;
    enum { n = 300, m = 120 };
    struct random_numbers numbers = random_numbers_begin("queries");
    kith_context *context = pairs_context(2);
    for (int turn = 0; turn < 40; turn++) {
        struct pairs_system_of_test points = random_system(&numbers, n, turn % 2 ? 3 : 2);
        struct pairs_system_of_test queries = random_system(&numbers, m, turn % 2 ? 3 : 2);
        const bool two_sets = turn % 4 < 2, has_radii = turn % 8 < 4;
        const int64_t rows = two_sets ? m : n;
        double radii[n], query_radii[m];
        int64_t offsets[n + 1] = {0}, exclusions[4 * n];
        for (int i = 0; i < n; i++)
            radii[i] = random_uniform(&numbers, 0, 0.1);
        for (int i = 0; i < m; i++)
            query_radii[i] = random_uniform(&numbers, 0, 0.2);
        for (int64_t i = 0; i < rows; i++) {
            offsets[i + 1] = offsets[i] + random_whole(&numbers, 0, 4);
            for (int64_t p = offsets[i]; p < offsets[i + 1]; p++)
                exclusions[p] = random_whole(&numbers, 0, n - 1);
        }
        kith_pairs_options options = {
            .cutoff = has_radii ? random_uniform(&numbers, 0, 0.1) : 0.3,
            .quantities = pairs_everything,
            .half = !two_sets && turn % 3 == 0,
            .exclusion_offsets = kith_array_vector(offsets, KITH_I64, rows + 1),
            .exclusions = kith_array_vector(exclusions, KITH_I64, offsets[rows]),
        };
        if (two_sets)
            options.queries = positions_of(&queries, KITH_F64);
        if (has_radii)
            options.radii = kith_array_vector(radii, KITH_F64, n);
        if (has_radii && two_sets)
            options.query_radii = kith_array_vector(query_radii, KITH_F64, m);
        kith_pairs *fast = NULL, *slow = NULL;
        const kith_array positions = positions_of(&points, KITH_F64);
        assert_ok(kith_pairs_compute(context, &options, positions, &points.cell, &fast));
        options.method = KITH_PAIRS_REFERENCE;
        assert_ok(kith_pairs_compute(context, &options, positions, &points.cell, &slow));
        assert_same_pairs(fast, slow, 1e-13);
        kith_pairs_free(fast);
        kith_pairs_free(slow);
        free_points(&points);
        free_points(&queries);
    }
    kith_context_free(context);
}

/* Clusters, clumps at one place and some points very far away: no table of all cells is possible.
 */
static void test_uneven_points_are_no_obstacle(void **state)
{
    (void)state;
    enum { n = 3000 };
    struct random_numbers numbers = random_numbers_begin("uneven");
    kith_context *context = pairs_context(2);
    kith_pairs *fast = NULL, *slow = NULL;
    for (int turn = 0; turn < 6; turn++) {
        const int32_t dimensions = turn % 2 ? 3 : 2;
        struct pairs_system_of_test system = new_points(n, dimensions);
        system.cell = random_cell(&numbers, dimensions);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                system.cell.vectors[k][c] *= 1e5;
        for (int64_t i = 0; i < n; i++) {
            const double size = pow(10, (double)random_whole(&numbers, -3, turn < 3 ? 1 : 6));
            for (int32_t c = 0; c < dimensions; c++)
                system.x[i * dimensions + c] = random_uniform(&numbers, -size, size);
        }
        system.x[0] = turn % 3 ? 1e12 : 0;
        kith_pairs_options options = {.cutoff = 0.05, .quantities = pairs_everything};
        const kith_array positions = positions_of(&system, KITH_F64);
        const kith_cell *cell = turn < 4 ? NULL : &system.cell;
        assert_ok(kith_pairs_compute(context, &options, positions, cell, &fast));
        options.method = KITH_PAIRS_REFERENCE;
        assert_ok(kith_pairs_compute(context, &options, positions, cell, &slow));
        assert_same_pairs(fast, slow, 1e-9);
        free_points(&system);
    }
    kith_pairs_free(fast);
    kith_pairs_free(slow);
    kith_context_free(context);
}

static void test_pairs_in_float_differ_only_at_the_cutoff(void **state)
{
    (void)state;
    enum { n = 500 };
    struct random_numbers numbers = random_numbers_begin("float");
    kith_context *context = pairs_context(1);
    kith_pairs *single = NULL, *twice = NULL;
    for (int turn = 0; turn < 20; turn++) {
        struct pairs_system_of_test system = random_system(&numbers, n, turn % 2 ? 3 : 2);
        for (int64_t k = 0; k < n * system.dimensions; k++) /* exact in both */
            system.x[k] = round(system.x[k] * 256) / 256;
        for (int k = 0; k < 9; k++)
            system.cell.vectors[k / 3][k % 3] =
                round(system.cell.vectors[k / 3][k % 3] * 256) / 256;
        const kith_pairs_options options = {.cutoff = 0.2001, .quantities = pairs_everything};
        assert_ok(kith_pairs_compute(context, &options, positions_of(&system, KITH_F64),
                                     &system.cell, &twice));
        assert_ok(kith_pairs_compute(context, &options, positions_of(&system, KITH_F32),
                                     &system.cell, &single));
        assert_same_pairs(single, twice, 1e-6);
        free_points(&system);
    }
    kith_pairs_free(single);
    kith_pairs_free(twice);
    kith_context_free(context);
}

/* Several calls, so that the threads have been woken. */
static void assert_threads_change_no_bit(const struct pairs_system_of_test *system,
                                         const kith_cell *cell, const kith_pairs_options *options)
{
    kith_pairs *expected = NULL;
    kith_context *one = pairs_context(1);
    const kith_array positions = positions_of(system, KITH_F32);
    assert_ok(kith_pairs_compute(one, options, positions, cell, &expected));
    assert_true(expected->count > system->n);
    for (int32_t threads = 2; threads < 8; threads += 3) {
        kith_context *context = pairs_context(threads);
        kith_pairs *pairs = NULL;
        for (int turn = 0; turn < 3; turn++) {
            assert_ok(kith_pairs_compute(context, options, positions, cell, &pairs));
            assert_int_equal(pairs->count, expected->count);
            assert_memory_equal(pairs->j.data, expected->j.data, 8 * (size_t)expected->count);
            assert_memory_equal(pairs->shifts.data, expected->shifts.data,
                                12 * (size_t)expected->count);
            assert_memory_equal(pairs->vectors.data, expected->vectors.data,
                                12 * (size_t)expected->count);
        }
        kith_pairs_free(pairs);
        kith_context_free(context);
    }
    kith_pairs_free(expected);
    kith_context_free(one);
}

static void test_the_number_of_threads_changes_no_bit(void **state)
{
    (void)state;
    enum { n = 30000 };
    struct random_numbers numbers = random_numbers_begin("threads");
    struct pairs_system_of_test even = new_points(n, 3), uneven = new_points(n, 3);
    for (int64_t k = 0; k < 3 * n; k++)
        even.x[k] = uneven.x[k] = random_uniform(&numbers, 0, 1);
    uneven.x[0] = 1e9;
    const kith_cell cell = {{{1, 0, 0}, {0.2, 1, 0}, {0, 0, 1}}, {true, true, false}};
    for (int unsorted = 0; unsorted < 2; unsorted++) {
        const kith_pairs_options options = {
            .cutoff = 0.06, .quantities = pairs_everything, .unsorted = unsorted};
        assert_threads_change_no_bit(&even, &cell, &options);
        assert_threads_change_no_bit(&uneven, NULL, &options);
    }
    free_points(&even);
    free_points(&uneven);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_of_random_cells_are_those_of_the_definition),
        cmocka_unit_test(test_the_nearest_points_are_those_of_the_definition),
        cmocka_unit_test(test_the_nearest_of_one_distance_go_by_their_index),
        cmocka_unit_test(test_systems_of_a_batch_do_not_meet),
        cmocka_unit_test(test_the_nearest_of_a_batch_are_of_their_systems),
        cmocka_unit_test(test_queries_radii_and_exclusions_are_heeded),
        cmocka_unit_test(test_uneven_points_are_no_obstacle),
        cmocka_unit_test(test_pairs_in_float_differ_only_at_the_cutoff),
        cmocka_unit_test(test_the_number_of_threads_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
