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
    const kith_pairs_method methods[] = {KITH_PAIRS_AUTO, KITH_PAIRS_CELLS,
                                         KITH_PAIRS_BRUTE_FORCE};
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
        compare_with_reference(context, &numbers, random_whole(&numbers, 0, 90),
                               turn % 2 ? 3 : 2, &fast, &slow);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_of_random_cells_are_those_of_the_definition),
        cmocka_unit_test(test_the_nearest_points_are_those_of_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
