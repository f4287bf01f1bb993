/* Sums over a list of pairs that the caller keeps. */

#include "testing.h"

#include "sums_scene.h"

static kith_pairs *list_pairs(kith_dtype dtype, const kith_cell *cell, double cutoff, bool two_sets,
                              bool narrow_list)
{
    kith_pairs *pairs = NULL;
    const kith_particles targets = particles_of(&cloud_a, dtype);
    const kith_particles sources = particles_of(two_sets ? &cloud_b : &cloud_a, dtype);
    const kith_pairs_options options = {.cutoff = cutoff,
                                        .quantities = KITH_PAIRS_J | KITH_PAIRS_SHIFTS,
                                        .narrow = narrow_list,
                                        .queries =
                                            two_sets ? targets.positions : kith_array_none()};
    assert_ok(kith_pairs_compute(context, &options, sources.positions, cell, &pairs));
    return pairs;
}

static void test_sums_over_a_list_are_those_over_its_pairs(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        const kith_dtype dtype = trial % 2 ? KITH_F32 : KITH_F64;
        const int dimensions = 2 + trial % 3 % 2;
        const bool two_sets = trial % 4 == 3, is_open = trial % 5 == 2;
        fill_cloud(&cloud_a, trial < 3 ? trial : 150, dimensions, 1);
        fill_cloud(&cloud_b, 90, dimensions, 1);
        const kith_cell cell = random_cell(dimensions, 1);
        kith_pairs *pairs = list_pairs(dtype, is_open ? NULL : &cell, 0.4, two_sets, trial % 7 < 3);
        int64_t count = 0;
        kith_sums_options options = {.cell = is_open ? NULL : &cell,
                                     .reduction = (kith_sums_reduction)(trial % 5),
                                     .include_self = !two_sets && trial % 3 == 1,
                                     .pairs = pairs};
        compare(options, dtype, two_sets); /* the kernel and the reference */
        options.pair_count = &count;
        const kith_particles of = particles_of(two_sets ? &cloud_b : &cloud_a, dtype);
        const kith_particles at = particles_of(&cloud_a, dtype);
        assert_ok(kith_sums_compute(context, &options, &at, &of, 1,
                                    (kith_named_formula[]){{"n", "1"}},
                                    results_of(dtype, 0, cloud_a.count, 1)));
        assert_int_equal(count, pairs->count + (options.include_self ? cloud_a.count : 0));
        options.cutoff = 0.25; /* shorter than the list's */
        compare(options, dtype, two_sets);
        kith_pairs_free(pairs);
    }
}

static void test_a_list_is_evaluated_at_the_positions_of_now(void **state)
{
    (void)state;
    double x[2][2] = {{0.5, 0}, {5.5, 0}}, out[2];
    const kith_cell cell = {{{6, 0, 0}, {0, 50, 0}}, {true, false}};
    const kith_array positions = kith_array_matrix(x, KITH_F64, 2, 2);
    const kith_pairs_options wanted = {.cutoff = 2, .quantities = KITH_PAIRS_J | KITH_PAIRS_SHIFTS};
    kith_pairs *pairs = NULL;
    assert_ok(kith_pairs_compute(context, &wanted, positions, &cell, &pairs));
    x[0][0] = -0.5; /* out of the cell, and the list does not know */
    kith_sums_options options = {.cell = &cell, .pairs = pairs};
    const kith_named_formula outputs[] = {{"f", "dx"}};
    const kith_array to = kith_array_matrix(out, KITH_F64, 2, 1);
    assert_ok(kith_sums_compute(context, &options, NULL, POINTS(positions), 1, outputs, to));
    assert_true(out[0] == 0 && out[1] == 0);
    x[1][0] = 5.25;
    assert_ok(kith_sums_compute(context, &options, NULL, POINTS(positions), 1, outputs, to));
    assert_true(out[0] == -0.25 && out[1] == 0.25);

    int64_t j[2] = {1, 2}, offsets[3] = {0, 1, 2};
    int32_t shifts[4] = {0};
    kith_pairs own = {.row_count = 2, .count = 2};
    options.pairs = &own;
    const struct {
        kith_array j, shifts;
        const char *words;
    } mistakes[] = {
        {kith_array_none(), kith_array_none(), "KITH_PAIRS_J"},
        {kith_array_vector(j, KITH_I64, 2), kith_array_none(), "KITH_PAIRS_SHIFTS"},
        {kith_array_vector(j, KITH_I64, 1), kith_array_none(), "pairs.j 2"},
        {kith_array_vector(j, KITH_F64, 2), kith_array_none(), "pairs.j float64"},
        {kith_array_vector(j, KITH_I64, 2), kith_array_matrix(shifts, KITH_I32, 2, 2),
         "pairs.j[1] 2 0 1"},
    };
    own.offsets = kith_array_vector(offsets, KITH_I64, 3);
    for (int k = 0; k < COUNT_OF(mistakes); k++) {
        own.j = mistakes[k].j;
        own.shifts = mistakes[k].shifts;
        assert_fails(kith_sums_compute(context, &options, NULL, POINTS(positions), 1, outputs, to),
                     KITH_INVALID_ARGUMENT, mistakes[k].words);
    }
    offsets[1] = 3;
    assert_fails(kith_sums_compute(context, &options, NULL, POINTS(positions), 1, outputs, to),
                 KITH_INVALID_ARGUMENT, "pairs.offsets 0 2");
    kith_pairs_free(pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_over_a_list_are_those_over_its_pairs),
        cmocka_unit_test(test_a_list_is_evaluated_at_the_positions_of_now),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
