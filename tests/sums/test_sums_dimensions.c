/* Sums over points of 1 to 16 dimensions against the formulas as a loop: of all pairs, within a
 * cutoff, and of a list. */

#include "testing.h"

#include "cells/geometry.h"
#include "random_numbers.h"

#include <math.h>
#include <stdlib.h>

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

enum { output_count = sizeof outputs / sizeof outputs[0] };

/* Who is summed for whom. */
enum sides { two_sets, one_set, one_set_with_self, sides_count };

struct problem {
    int64_t dimensions;
    kith_dtype dtype;
    kith_sums_method method;
    enum sides sides;
    double cutoff; /* 0: all pairs */
};

#define DEFINE_SQUARE(real)                                                                        \
    static double square_##real(int64_t dimensions, const real *x, const real *y)                  \
    {                                                                                              \
        real r2 = 0;                                                                               \
        for (int64_t c = 0; c < dimensions; c++) {                                                 \
            const real d = y[c] - x[c];                                                            \
            r2 = r2 + d * d;                                                                       \
        }                                                                                          \
        return (double)r2;                                                                         \
    }

DEFINE_SQUARE(float)
DEFINE_SQUARE(double)

/* r² as it is compared with the cutoff, in the order and with the roundings of the dtype. */
static double square_of(const struct problem *problem, int64_t i, int64_t j)
{
    const int64_t d = problem->dimensions;
    const struct numbers_of_both *at = problem->sides == two_sets ? &target : &source;
    return problem->dtype == KITH_F32 ? square_float(d, &at->narrow[i * d], &source.narrow[j * d])
                                      : square_double(d, &at->wide[i * d], &source.wide[j * d]);
}

static bool counts(const struct problem *problem, int64_t i, int64_t j, double r2)
{
    const bool narrow = problem->dtype == KITH_F32;
    if (problem->sides == one_set && i == j)
        return false;
    return problem->cutoff == 0 || r2 < (narrow ? (double)pairs_limit_float((float)problem->cutoff)
                                                : pairs_limit_double(problem->cutoff));
}

static int64_t rows_of(const struct problem *problem)
{
    return problem->sides == two_sets ? n : m;
}

static kith_particles sources_of(const struct problem *problem)
{
    const kith_dtype dtype = problem->dtype;
    return (kith_particles){
        .positions = kith_array_matrix(data_of(&source, dtype), dtype, m, problem->dimensions),
        .columns = {{"m", kith_array_vector(data_of(&weight, dtype), dtype, m)}}};
}

static kith_particles targets_of(const struct problem *problem)
{
    const kith_dtype dtype = problem->dtype;
    return problem->sides == two_sets
               ? (kith_particles){.positions = kith_array_matrix(data_of(&target, dtype), dtype, n,
                                                                 problem->dimensions)}
               : (kith_particles){.positions = kith_array_none()};
}

static void compute(kith_context *with, const struct problem *problem, const kith_pairs *pairs,
                    struct numbers_of_both *found, int64_t *pair_count)
{
    const kith_dtype dtype = problem->dtype;
    const kith_particles targets = targets_of(problem), sources = sources_of(problem);
    const kith_sums_options options = {.method = problem->method,
                                       .cutoff = problem->cutoff,
                                       .pairs = pairs,
                                       .include_self = problem->sides == one_set_with_self,
                                       .pair_count = pair_count};
    memset(found, 0, sizeof *found);
    assert_ok(kith_sums_compute(
        with, &options, &targets, &sources, output_count, outputs,
        kith_array_matrix(data_of(found, dtype), dtype, rows_of(problem), output_count)));
}

static void check(const struct problem *problem)
{
    static struct numbers_of_both found;
    int64_t pair_count = 0, expected_count = 0;
    compute(context, problem, NULL, &found, &pair_count);
    /* Terms of at most 1 with some roundings of numbers of at most `dimensions` in each. */
    const double unit = problem->dtype == KITH_F32 ? 0x1p-24 : 0x1p-53;
    const double bound = unit * m * (m + 8.0 * (double)problem->dimensions);
    for (int64_t i = 0; i < rows_of(problem); i++) {
        double expected[output_count] = {0};
        for (int64_t j = 0; j < m; j++) {
            const double r2 = square_of(problem, i, j);
            if (!counts(problem, i, j, r2))
                continue;
            expected_count++;
            expected[0] += weight.wide[j] * exp(-r2);
            expected[1] += 1 / (1 + sqrt(r2));
        }
        for (int64_t k = 0; k < output_count; k++) {
            const int64_t at = output_count * i + k;
            const double value =
                problem->dtype == KITH_F32 ? (double)found.narrow[at] : found.wide[at];
            if (!(fabs(value - expected[k]) <= bound))
                fail_msg("%lld dimensions, row %lld, output %lld: %.17g, not %.17g",
                         (long long)problem->dimensions, (long long)i, (long long)k, value,
                         expected[k]);
        }
    }
    assert_int_equal(pair_count, expected_count);
}

static void fill_all(void)
{
    fill(&target, most * n);
    fill(&source, most * m);
    fill(&weight, m);
}

static void sums_are_those_of_the_formulas_in_every_number_of_dimensions(void **state)
{
    (void)state;
    fill_all();
    for (int64_t dimensions = 1; dimensions <= most; dimensions++)
        for (int method = 0; method < 2; method++) {
            struct problem problem = {
                .dimensions = dimensions, .dtype = KITH_F64, .method = (kith_sums_method)method};
            check(&problem);
            problem.dtype = KITH_F32;
            if (dimensions % 5 == 1)
                check(&problem);
        }
}

/* A number of single precision that divides the pairs of points in the unit cube. */
static double cutoff_for(int64_t dimensions)
{
    return (double)(float)(sqrt((double)dimensions / 6) * random_uniform(&numbers, 0.6, 1.2));
}

static void within_a_cutoff_every_pair_counts_once(void **state)
{
    (void)state;
    fill_all();
    for (int64_t dimensions = 1; dimensions <= most; dimensions++)
        for (int sides = 0; sides < sides_count; sides++) {
            struct problem problem = {.dimensions = dimensions,
                                      .dtype = KITH_F64,
                                      .sides = (enum sides)sides,
                                      .cutoff = cutoff_for(dimensions)};
            if (dimensions < 6 || dimensions % 5 == 1) /* each is compiled */
                check(&problem);
            problem.dtype = KITH_F32;
            if (dimensions % 5 == 1)
                check(&problem);
            problem.method = KITH_SUMS_REFERENCE;
            check(&problem);
            problem.dtype = KITH_F64;
            check(&problem);
        }
}

static kith_pairs *list_of(kith_context *with, const struct problem *problem)
{
    kith_pairs *pairs = NULL;
    const kith_array x = sources_of(problem).positions;
    assert_ok(kith_pairs_compute(
        with,
        &(kith_pairs_options){.cutoff = problem->cutoff, .queries = targets_of(problem).positions},
        x, NULL, &pairs));
    return pairs;
}

/* The same pairs in the same order. */
static void a_list_and_other_threads_give_the_same_bits(void **state)
{
    (void)state;
    static struct numbers_of_both found, listed, by_one;
    kith_context *one = NULL;
    fill_all();
    assert_ok(
        kith_context_create(&(kith_context_options){.threads = 1, .device = {KITH_CPU, 0}}, &one));
    for (int64_t dimensions = 1; dimensions <= most; dimensions += 3)
        for (int sides = 0; sides < 2; sides++) {
            const struct problem problem = {.dimensions = dimensions,
                                            .dtype = dimensions == 7 ? KITH_F32 : KITH_F64,
                                            .sides = (enum sides)sides,
                                            .cutoff = cutoff_for(dimensions)};
            kith_pairs *pairs = list_of(one, &problem);
            int64_t pair_count = 0;
            compute(context, &problem, NULL, &found, NULL);
            compute(one, &problem, NULL, &by_one, NULL);
            compute(one, &problem, pairs, &listed, &pair_count);
            assert_memory_equal(&found, &by_one, sizeof found);
            assert_memory_equal(&found, &listed, sizeof found);
            assert_int_equal(pair_count, pairs->count);
            kith_pairs_free(pairs);
        }
    kith_context_free(one);
}

/* More than the rows of one leaf, and than one block of partners. */
static void many_points_are_summed_like_few(void **state)
{
    (void)state;
    enum { points = 3000, dimensions = 5 };
    double *x = malloc(points * dimensions * sizeof *x), *y = malloc(points * sizeof *y);
    double *expected = malloc(points * sizeof *y);
    assert_true(x && y && expected);
    for (int64_t k = 0; k < points * dimensions; k++)
        x[k] = random_uniform(&numbers, 0, 1);
    const kith_particles particles = {.positions =
                                          kith_array_matrix(x, KITH_F64, points, dimensions)};
    const kith_named_formula number = {"n", "1"};
    kith_sums_options options = {.cutoff = 1.1};
    assert_ok(kith_sums_compute(context, &options, NULL, &particles, 1, &number,
                                kith_array_matrix(y, KITH_F64, points, 1)));
    options.method = KITH_SUMS_REFERENCE;
    assert_ok(kith_sums_compute(context, &options, NULL, &particles, 1, &number,
                                kith_array_matrix(expected, KITH_F64, points, 1)));
    assert_memory_equal(y, expected, points * sizeof *y);
    free(x);
    free(y);
    free(expected);
}

/* Of formulas without functions some kernels evaluate more candidates than pairs. */
static void plain_formulas_are_summed_in_single_precision(void **state)
{
    (void)state;
    enum { points = 60 };
    float x[4 * points], y[2 * points], expected[2 * points];
    const kith_named_formula plain[] = {{"n", "1"}, {"twice", "2 * r2"}};
    for (int64_t dimensions = 1; dimensions <= 4; dimensions++) {
        for (int64_t k = 0; k < points * dimensions; k++)
            x[k] = (float)random_uniform(&numbers, 0, 1);
        const kith_particles particles = {.positions =
                                              kith_array_matrix(x, KITH_F32, points, dimensions)};
        kith_sums_options options = {.cutoff = 0.4};
        assert_ok(kith_sums_compute(context, &options, NULL, &particles, 2, plain,
                                    kith_array_matrix(y, KITH_F32, points, 2)));
        options.method = KITH_SUMS_REFERENCE;
        assert_ok(kith_sums_compute(context, &options, NULL, &particles, 2, plain,
                                    kith_array_matrix(expected, KITH_F32, points, 2)));
        for (int64_t k = 0; k < points; k++) {
            assert_true(y[2 * k] == expected[2 * k]);
            assert_true(fabsf(y[2 * k + 1] - expected[2 * k + 1]) <= 1e-5f * expected[2 * k]);
        }
    }
}

static void no_points_have_no_sums(void **state)
{
    (void)state;
    double x[5] = {1, 2, 3, 4, 5}, y[1] = {-1};
    const kith_named_formula number = {"n", "1"};
    for (int64_t count = 0; count < 2; count++) {
        const kith_particles particles = {.positions = kith_array_matrix(x, KITH_F64, count, 5)};
        assert_ok(kith_sums_compute(context, &(kith_sums_options){.cutoff = 1}, NULL, &particles, 1,
                                    &number, kith_array_matrix(y, KITH_F64, count, 1)));
        assert_true(y[0] == (count == 0 ? -1 : 0));
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
    const kith_cell cell = {.vectors = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const kith_sums_options near = {.cutoff = 1}, in_a_cell = {.cutoff = 1, .cell = &cell};
    assert_fails(kith_sums_compute(context, NULL, NULL, &four, 1, &along, results),
                 KITH_INVALID_ARGUMENT, "4 columns");
    assert_fails(kith_sums_compute(context, &near, NULL, &four, 1, &along, results),
                 KITH_INVALID_ARGUMENT, "4 columns");
    assert_fails(kith_sums_compute(context, &in_a_cell, NULL, &four, 1, &plain, results),
                 KITH_INVALID_ARGUMENT, "4 columns");
    assert_fails(kith_sums_compute(context, NULL, NULL, &many, 1, &plain, results),
                 KITH_INVALID_ARGUMENT, "17 columns");
    for (int method = 0; method < 2; method++) {
        kith_sums_options options = {.method = (kith_sums_method)method};
        x[7] = NAN;
        for (int within = 0; within < 2; within++) {
            options.cutoff = within;
            assert_fails(kith_sums_compute(context, &options, NULL, &four, 1, &plain, results),
                         KITH_INVALID_ARGUMENT, "nan");
        }
        x[7] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_formulas_in_every_number_of_dimensions),
        cmocka_unit_test(within_a_cutoff_every_pair_counts_once),
        cmocka_unit_test(a_list_and_other_threads_give_the_same_bits),
        cmocka_unit_test(many_points_are_summed_like_few),
        cmocka_unit_test(plain_formulas_are_summed_in_single_precision),
        cmocka_unit_test(no_points_have_no_sums),
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
