/* Sums of pair functions: the compiled kernels against the reference. */

#include "testing.h"

#include "sums_scene.h"

/* The same names without functions that take long: sums of these in planes have another kernel. */
static const kith_named_formula plain_lets[] = {{"hh", "(h_i + h_j) / 2"},
                                                {"W", "fmax(2 - r / hh, 0.5) / (hh * hh)"}};

static void test_kernels_agree_with_the_reference_in_every_cell(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 7, 31, 64, 200, 333};
    static const double cutoffs[] = {0.07, 0.3, 0.9, 2.6};
    for (int trial = 0; trial < 60; trial++) {
        const int reduction = trial % 5, dimensions = 2 + trial / 5 % 2;
        const double cutoff = cutoffs[trial % COUNT_OF(cutoffs)];
        const int64_t most = cutoff > 1 ? 31 : 333;
        int64_t count = counts[trial * 7 % COUNT_OF(counts)];
        count = count < most ? count : most;
        fill_cloud(&cloud_a, count, dimensions, 1);
        fill_cloud(&cloud_b, count + 5, dimensions, 1);
        const kith_cell cell = random_cell(dimensions, 1);
        const kith_sums_options options = {
            .cutoff = cutoff,
            .cell = trial % 11 == 4 ? NULL : &cell,
            .reduction = (kith_sums_reduction)reduction,
            .include_self = trial % 3 == 1 && trial % 7 != 0,
        };
        compare(options, (reduction + dimensions) % 2 ? KITH_F64 : KITH_F32, trial % 7 == 0);
    }
}

static void test_kernels_agree_with_the_reference_over_all_pairs(void **state)
{
    (void)state;
    for (int reduction = 0; reduction < 5; reduction++)
        for (int trial = 0; trial < 4; trial++) {
            const int dimensions = 2 + reduction % 2;
            fill_cloud(&cloud_a, trial == 3 ? 1100 : 3 + (int64_t)(90 * uniform()), dimensions, 1);
            fill_cloud(&cloud_b, 1 + (int64_t)(90 * uniform()), dimensions, 1);
            compare((kith_sums_options){.reduction = (kith_sums_reduction)reduction,
                                        .include_self = trial == 2},
                    trial == 1 ? KITH_F32 : KITH_F64, trial == 0);
        }
}

static void test_points_in_few_cells_and_far_apart_have_all_their_pairs(void **state)
{
    (void)state;
    fill_cloud(&cloud_a, 1100, 3, 0.01); /* more than one block of candidates, in one cell */
    compare((kith_sums_options){.cutoff = 0.004}, KITH_F64, false);
    fill_cloud(&cloud_a, 300, 3, 1);
    for (int64_t k = 0; k < 300; k++) /* groups whose cells share buckets */
        for (int c = 0; c < 3; c++)
            cloud_a.x[3 * k + c] += (double)(k % 10) * 7919 * (c + 1);
    compare((kith_sums_options){.cutoff = 0.3}, KITH_F64, false);
}

static void test_planes_in_single_precision_agree_with_the_reference(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 17, 64, 333};
    static const double cutoffs[] = {0.05, 0.2, 0.9, 2.6};
    for (int trial = 0; trial < 48; trial++) {
        const double cutoff = cutoffs[trial % COUNT_OF(cutoffs)];
        const int64_t count = counts[trial * 5 % COUNT_OF(counts)];
        fill_cloud(&cloud_a, cutoff > 1 && count > 31 ? 31 : count, 2, 1);
        fill_cloud(&cloud_b, cloud_a.count + 5, 2, 1);
        const kith_cell cell = random_cell(2, 1);
        compare((kith_sums_options){.cutoff = cutoff,
                                    .cell = trial % 5 == 0 ? NULL : &cell,
                                    .lets = plain_lets,
                                    .reduction = (kith_sums_reduction)(trial % 5),
                                    .include_self = trial % 3 == 1 && trial % 7 != 0},
                KITH_F32, trial % 7 == 0);
    }
    fill_cloud(&cloud_a, 1150, 2, 0.01); /* more than one block of candidates, in one cell */
    compare((kith_sums_options){.cutoff = 0.003, .lets = plain_lets}, KITH_F32, false);
    fill_cloud(&cloud_a, 300, 2, 0.5);
    for (int64_t k = 0; k < 300; k++) /* groups whose cells share buckets */
        for (int c = 0; c < 2; c++)
            cloud_a.x_narrow[2 * k + c] += (float)(k % 10) * 61 * (float)(c + 1);
    compare((kith_sums_options){.cutoff = 0.3, .lets = plain_lets}, KITH_F32, false);
}

/* Sums of columns, with all lengths times a power of two. */
static void sum_in_unit(kith_dtype dtype, kith_cell cell, int exponent, int which)
{
    static const kith_named_formula outputs[] = {{"n", "1"}, {"h", "h_j"}};
    static struct cloud scaled;
    scaled = cloud_a;
    for (int64_t i = 0; i < 3 * scaled.count; i++) {
        scaled.x[i] = ldexp(scaled.x[i], exponent);
        scaled.x_narrow[i] = ldexpf(scaled.x_narrow[i], exponent);
    }
    for (int k = 0; k < 9; k++)
        cell.vectors[k / 3][k % 3] = ldexp(cell.vectors[k / 3][k % 3], exponent);
    const kith_sums_options options = {.cutoff = ldexp(0.25, exponent), .cell = &cell};
    const kith_particles particles = particles_of(&scaled, dtype);
    assert_ok(kith_sums_compute(context, &options, NULL, &particles, 2, outputs,
                                results_of(dtype, which, scaled.count, 2)));
}

static void test_pairs_do_not_depend_on_the_unit_of_length(void **state)
{
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        const kith_dtype dtype = trial % 2 ? KITH_F32 : KITH_F64;
        const int most = dtype == KITH_F32 ? 45 : 490;
        fill_cloud(&cloud_a, 700, 3, 1);
        kith_cell cell = random_cell(3, 1);
        for (int k = 0; k < 3; k++)
            cell.periodic[k] = trial < 4;
        sum_in_unit(dtype, cell, 0, 0);
        for (int sign = -1; sign <= 1; sign += 2) {
            sum_in_unit(dtype, cell, sign * most, 1);
            for (int64_t k = 0; k < 1400; k++)
                assert_true(value_of(dtype, 0, k) == value_of(dtype, 1, k));
        }
    }
}

static void test_the_bits_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        const int32_t dimensions = turn == 2 ? 2 : 3;
        const kith_dtype dtype = turn == 2 ? KITH_F32 : KITH_F64;
        fill_cloud(&cloud_a, 1200, dimensions, 1);
        const kith_particles particles = particles_of(&cloud_a, dtype);
        const kith_cell cell = random_cell(dimensions, 1);
        for (int threads = 1; threads <= 7; threads += 2) {
            kith_context *other = NULL;
            const int which = threads > 1;
            const kith_context_options with = {.device = {KITH_CPU, 0}, .threads = threads};
            const kith_sums_options options = {.cutoff = turn == 1 ? 0 : 0.2,
                                               .cell = turn == 1 ? NULL : &cell,
                                               .let_count = COUNT_OF(mixed_lets),
                                               .lets = turn == 2 ? plain_lets : mixed_lets,
                                               .parameter_count = 1,
                                               .parameters = sigma};
            assert_ok(kith_context_create(&with, &other));
            assert_ok(kith_sums_compute(other, &options, NULL, &particles, 4, mixed_outputs,
                                        results_of(dtype, which, 1200, 4)));
            kith_context_free(other);
            if (which)
                assert_memory_equal(turn == 2 ? (void *)narrow[0] : wide[0],
                                    turn == 2 ? (void *)narrow[1] : wide[1],
                                    1200 * 4 * (size_t)kith_dtype_bytes(dtype));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_agree_with_the_reference_in_every_cell),
        cmocka_unit_test(test_kernels_agree_with_the_reference_over_all_pairs),
        cmocka_unit_test(test_points_in_few_cells_and_far_apart_have_all_their_pairs),
        cmocka_unit_test(test_planes_in_single_precision_agree_with_the_reference),
        cmocka_unit_test(test_pairs_do_not_depend_on_the_unit_of_length),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
