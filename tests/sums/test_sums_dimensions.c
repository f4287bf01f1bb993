/* Sums over all pairs of points of 1 to 16 dimensions against the formulas as a loop. */

#include "testing.h"

#include "random_numbers.h"

#include <math.h>

enum { most = KITH_MAX_COORDINATES, n = 19, m = 83 };

static struct random_numbers numbers;
static kith_context *context;

/* Numbers of single precision, as both dtypes hold them. */
struct numbers_of_both {
    double wide[most * m];
    float narrow[most * m];
};

static struct numbers_of_both target, source, weight;

static void fill(struct numbers_of_both *both, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        both->wide[k] = (double)(both->narrow[k] = (float)random_uniform(&numbers, 0, 1));
}

static void *data_of(struct numbers_of_both *both, kith_dtype dtype)
{
    return dtype == KITH_F32 ? (void *)both->narrow : both->wide;
}

static const kith_named_formula outputs[] = {{"gaussian", "m_j * exp(-r2)"},
                                             {"near", "1 / (1 + r)"}};

static double distance2(int64_t dimensions, int64_t i, int64_t j)
{
    double r2 = 0;
    for (int64_t c = 0; c < dimensions; c++) {
        const double d = source.wide[j * dimensions + c] - target.wide[i * dimensions + c];
        r2 += d * d;
    }
    return r2;
}

static void check(int64_t dimensions, kith_dtype dtype, kith_sums_method method)
{
    static struct numbers_of_both found;
    const kith_particles targets = {
        .positions = kith_array_matrix(data_of(&target, dtype), dtype, n, dimensions)};
    const kith_particles sources = {
        .positions = kith_array_matrix(data_of(&source, dtype), dtype, m, dimensions),
        .columns = {{"m", kith_array_vector(data_of(&weight, dtype), dtype, m)}}};
    assert_ok(kith_sums_compute(context, &(kith_sums_options){.method = method}, &targets, &sources,
                                2, outputs,
                                kith_array_matrix(data_of(&found, dtype), dtype, n, 2)));
    /* Terms of at most 1 with some roundings of numbers of at most `dimensions` in each. */
    const double unit = dtype == KITH_F32 ? 0x1p-24 : 0x1p-53;
    const double bound = unit * m * (m + 8.0 * (double)dimensions);
    for (int64_t i = 0; i < n; i++) {
        double expected[2] = {0};
        for (int64_t j = 0; j < m; j++) {
            const double r2 = distance2(dimensions, i, j);
            expected[0] += weight.wide[j] * exp(-r2);
            expected[1] += 1 / (1 + sqrt(r2));
        }
        for (int64_t k = 0; k < 2; k++) {
            const double value =
                dtype == KITH_F32 ? (double)found.narrow[2 * i + k] : found.wide[2 * i + k];
            if (!(fabs(value - expected[k]) <= bound))
                fail_msg("%lld dimensions, row %lld, output %lld: %.17g, not %.17g",
                         (long long)dimensions, (long long)i, (long long)k, value, expected[k]);
        }
    }
}

static void sums_are_those_of_the_formulas_in_every_number_of_dimensions(void **state)
{
    (void)state;
    fill(&target, most * n);
    fill(&source, most * m);
    fill(&weight, m);
    for (int64_t dimensions = 1; dimensions <= most; dimensions++)
        for (int method = 0; method < 2; method++) {
            check(dimensions, KITH_F64, (kith_sums_method)method);
            if (dimensions % 5 == 1)
                check(dimensions, KITH_F32, (kith_sums_method)method);
        }
}

static void what_more_dimensions_cannot_have_is_refused(void **state)
{
    (void)state;
    double x[4 * (most + 1)] = {0}, y[4];
    const kith_array results = kith_array_matrix(y, KITH_F64, 4, 1);
    const kith_named_formula along = {"along", "dx"}, plain = {"plain", "r2"};
    const kith_particles four = {.positions = kith_array_matrix(x, KITH_F64, 4, 4)};
    const kith_particles many = {.positions = kith_array_matrix(x, KITH_F64, 4, most + 1)};
    const kith_sums_options near = {.cutoff = 1};
    assert_fails(kith_sums_compute(context, NULL, NULL, &four, 1, &along, results),
                 KITH_INVALID_ARGUMENT, "4 columns");
    assert_fails(kith_sums_compute(context, &near, NULL, &four, 1, &plain, results),
                 KITH_INVALID_ARGUMENT, "4 columns");
    assert_fails(kith_sums_compute(context, NULL, NULL, &many, 1, &plain, results),
                 KITH_INVALID_ARGUMENT, "17 columns");
    for (int method = 0; method < 2; method++) {
        const kith_sums_options options = {.method = (kith_sums_method)method};
        x[7] = NAN;
        assert_fails(kith_sums_compute(context, &options, NULL, &four, 1, &plain, results),
                     KITH_INVALID_ARGUMENT, "nan");
        x[7] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_formulas_in_every_number_of_dimensions),
        cmocka_unit_test(what_more_dimensions_cannot_have_is_refused),
    };
    numbers = random_numbers_begin("test_sums_dimensions");
    if (kith_context_create(&(kith_context_options){.threads = 2, .device = {KITH_CPU, 0}},
                            &context) != KITH_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(context);
    return failed;
}
