/* Numbers at the edges of their range. Lengths and masses in other units are the same problem: with
 * units that are powers of two, every bit of a result is the same. */

#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "forces_system.h"

#include "core/floors.h"

enum { bodies = 37 };

/* The system with lengths and masses multiplied by powers of two. */
static struct system scaled(const struct system *s, int length, int mass)
{
    struct system other = system_create(s->dtype, s->n, s->dimensions);
    for (int64_t k = 0; k < s->n * s->dimensions; k++)
        put(other.x, k, ldexp(get(s->x, k), length));
    for (int64_t k = 0; k < s->n; k++)
        put(other.m, k, ldexp(get(s->m, k), mass));
    return other;
}

static void assert_scaled(const char *what, kith_array scaled_array, kith_array array, int exponent)
{
    for (int64_t k = 0; k < elements(array); k++)
        if (get(scaled_array, k) != ldexp(get(array, k), exponent))
            fail_msg("%s %lld is %.17g, not %.17g times 2^%d", what, (long long)k,
                     get(scaled_array, k), get(array, k), exponent);
}

static void compare_in_units(kith_dtype dtype, int length, int mass,
                             const kith_forces_options *chosen)
{
    struct random_numbers random = {7};
    struct system s = system_random(&random, dtype, bodies, 3);
    struct system other = scaled(&s, length, mass);
    kith_context *context = new_context(NULL, 2);
    kith_forces_options options = *chosen;
    options.softening = 0.01;
    system_compute(context, &options, &s);
    options.softening = ldexp(0.01, length);
    system_compute(context, &options, &other);
    assert_scaled("acceleration", other.a, s.a, mass - 2 * length);
    assert_scaled("potential", other.phi, s.phi, mass - length);
    kith_context_free(context);
    system_free(&s);
    system_free(&other);
}

static void test_forces_are_the_same_in_any_unit(void **state)
{
    static const int wide[] = {-480, -300, -1, 1, 300, 490}, narrow[] = {-50, -20, 1, 20, 50};
    (void)state;
    const kith_forces_options each[] = {{.method = KITH_FORCES_AUTO},
                                        {.method = KITH_FORCES_DIRECT},
                                        {.method = KITH_FORCES_SPLIT},
                                        {.method = KITH_FORCES_SYMMETRIC},
                                        {.solver = solver_named("reference")}};
    for (size_t m = 0; m < sizeof each / sizeof each[0]; m++)
        for (int k = 0; k < 6; k++) {
            compare_in_units(KITH_F64, wide[k], 0, &each[m]);
            compare_in_units(KITH_F64, wide[k], wide[k], &each[m]);
            if (k < 5 && !each[m].solver)
                compare_in_units(KITH_F32, narrow[k], narrow[k], &each[m]);
        }
}

/* Of two bodies on the x axis, the acceleration of the first. */
static double pull(kith_context *context, double distance, double mass, double softening)
{
    double x[6] = {0, 0, 0, distance, 0, 0}, m[2] = {1, mass}, a[6];
    const kith_forces_options options = {.softening = softening};
    assert_ok(kith_forces_compute(
        context, &options, NULL,
        PARTICLES(kith_array_matrix(x, KITH_F64, 2, 3), {"m", kith_array_vector(m, KITH_F64, 2)}),
        kith_array_matrix(a, KITH_F64, 2, 3), kith_array_none()));
    assert_true(a[1] == 0 && a[2] == 0);
    return a[0];
}

static void test_forces_of_extreme_distances_and_masses(void **state)
{
    static const struct {
        double distance, mass, softening;
    } cases[] = {
        {1e150, 1, 0},        {1e300, 1e300, 0},        {1e-150, 1, 0},       {1e-300, 1e-300, 0},
        {1e-160, 1e-250, 0},  {DBL_MAX / 4, 1e308, 0},  {1, 5e-324, 0},       {1, 1e308, 0},
        {DBL_MIN, 1e-308, 0}, {1e-300, 1e-300, 1e-300}, {1e300, 1e300, 1e299}};
    (void)state;
    kith_context *context = new_context(NULL, 1);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const long double d = cases[k].distance, e = cases[k].softening, s = sqrtl(d * d + e * e);
        const long double exact = (long double)cases[k].mass * d / s / s / s;
        const double found = pull(context, cases[k].distance, cases[k].mass, cases[k].softening);
        if (!(fabsl(found - exact) <= 1e-14L * exact + 5e-324L))
            fail_msg("distance %g, mass %g: %.17g, not %.17Lg", cases[k].distance, cases[k].mass,
                     found, exact);
    }
    assert_true(pull(context, 0, 1, 0) == 0);
    assert_true(pull(context, -0.0, 1, 0) == 0);
    assert_true(pull(context, 1, 0, 0) == 0);
    assert_true(pull(context, 1, -0.0, 0) == 0);
    kith_context_free(context);
}

/* A list of points and its numbers. */
struct listed {
    kith_pairs *pairs;
    int exponent;
};

static struct listed list(kith_context *context, kith_dtype dtype, int exponent, double cutoff)
{
    struct random_numbers random = {11};
    struct listed made = {.exponent = exponent};
    const kith_array x = new_matrix(dtype, 90, 3);
    for (int64_t k = 0; k < 270; k++)
        put(x, k, ldexp((double)(float)random_uniform(&random, -2, 2), exponent));
    kith_cell cell = {{{1, 0.25, 0}, {0, 0.875, 0.125}, {-0.25, 0, 1.125}}, {true, true, false}};
    for (int k = 0; k < 9; k++)
        cell.vectors[k / 3][k % 3] = ldexp(cell.vectors[k / 3][k % 3], exponent);
    const kith_pairs_options options = {.cutoff = ldexp(cutoff, exponent), .quantities = 31};
    assert_ok(kith_pairs_compute(context, &options, x, &cell, &made.pairs));
    free(x.data);
    return made;
}

static void assert_same_list(const struct listed *a, const struct listed *b)
{
    const size_t count = (size_t)b->pairs->count;
    assert_int_equal(a->pairs->count, b->pairs->count);
    assert_memory_equal(a->pairs->i.data, b->pairs->i.data, count * sizeof(int64_t));
    assert_memory_equal(a->pairs->j.data, b->pairs->j.data, count * sizeof(int64_t));
    assert_memory_equal(a->pairs->shifts.data, b->pairs->shifts.data, 3 * count * sizeof(int32_t));
    assert_scaled("vector", a->pairs->vectors, b->pairs->vectors, a->exponent);
    assert_scaled("distance", a->pairs->distances, b->pairs->distances, a->exponent);
}

static void test_pairs_are_the_same_in_any_unit(void **state)
{
    static const int wide[] = {-990, -600, -333, 333, 600, 1000}, narrow[] = {-110, -60, 60, 110};
    (void)state;
    kith_context *context = new_context(NULL, 2);
    for (int k = 0; k < 6; k++) {
        struct listed plain = list(context, KITH_F64, 0, 0.375);
        struct listed edge = list(context, KITH_F64, wide[k], 0.375);
        assert_true(plain.pairs->count > 500);
        assert_same_list(&edge, &plain);
        kith_pairs_free(edge.pairs);
        kith_pairs_free(plain.pairs);
    }
    for (int k = 0; k < 4; k++) {
        struct listed plain = list(context, KITH_F32, 0, 0.375);
        struct listed edge = list(context, KITH_F32, narrow[k], 0.375);
        assert_same_list(&edge, &plain);
        kith_pairs_free(edge.pairs);
        kith_pairs_free(plain.pairs);
    }
    kith_context_free(context);
}

/* The list of two points with a cutoff and a cell that is periodic along all vectors. */
static kith_status list_two(kith_context *context, kith_dtype dtype, double cutoff, double edge,
                            double height, kith_pairs **pairs)
{
    double x[6] = {0, 0, 0, 0.25, 0, 0};
    float narrow[6] = {0, 0, 0, 0.25f, 0, 0};
    const kith_cell cell = {{{edge, 0, 0}, {0, edge, 0}, {0, edge, height}}, {true, true, true}};
    const kith_pairs_options options = {.cutoff = cutoff};
    return kith_pairs_compute(
        context, &options, kith_array_matrix(dtype == KITH_F64 ? (void *)x : narrow, dtype, 2, 3),
        edge > 0 ? &cell : NULL, pairs);
}

static void test_cutoffs_beyond_the_precision_or_the_cell_are_told(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    kith_pairs *pairs = NULL;
    assert_fails(list_two(context, KITH_F32, 5e-324, 0, 0, &pairs), KITH_INVALID_ARGUMENT,
                 "float32");
    assert_fails(list_two(context, KITH_F32, 1e39, 0, 0, &pairs), KITH_INVALID_ARGUMENT, "float64");
    assert_fails(list_two(context, KITH_F64, 5e-324, 0, 0, &pairs), KITH_INVALID_ARGUMENT,
                 "lengths");
    assert_fails(list_two(context, KITH_F64, 1e30, 1, 1, &pairs), KITH_UNSUPPORTED, "1e+30");
    assert_fails(list_two(context, KITH_F64, 1, 1e-5, 1e-5, &pairs), KITH_UNSUPPORTED, "images");
    assert_fails(list_two(context, KITH_F64, 1, 1, 1e-13, &pairs), KITH_INVALID_ARGUMENT,
                 "dependent");
    assert_fails(list_two(context, KITH_F64, 1, 1e-90, 1e-90, &pairs), KITH_UNSUPPORTED, "images");
    assert_null(pairs);
    assert_ok(list_two(context, KITH_F64, DBL_MIN, 0, 0, &pairs));
    assert_int_equal(pairs->count, 0);
    assert_ok(list_two(context, KITH_F64, DBL_MAX, 0, 0, &pairs));
    assert_int_equal(pairs->count, 2);
    kith_pairs_free(pairs);
    kith_context_free(context);
}

static void test_a_list_with_huge_radii_is_refused(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    double x[6] = {0, 0, 0, 0.25, 0, 0}, radius[2] = {1e30, 0};
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    kith_pairs_options options = {.radii = kith_array_vector(radius, KITH_F64, 2)};
    kith_pairs *pairs = NULL;
    for (kith_pairs_method method = KITH_PAIRS_AUTO; method <= KITH_PAIRS_REFERENCE; method++) {
        options.method = method;
        assert_fails(kith_pairs_compute(context, &options, kith_array_matrix(x, KITH_F64, 2, 3),
                                        &cell, &pairs),
                     KITH_UNSUPPORTED, "images");
    }
    kith_context_free(context);
}

/* Products of denormal numbers are what IEEE 754 says, in every format. */
static void test_sparse_products_keep_denormal_numbers(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 2);
    int32_t row[] = {0, 1, 1}, column[] = {0, 0, 1};
    double value[] = {5e-324, 1, -0.5}, x[] = {1, 1e-323}, y[2];
    for (kith_sparse_format format = KITH_SPARSE_AUTO; format <= KITH_SPARSE_DIA; format++) {
        const kith_sparse_options options = {.format = format};
        kith_sparse *sparse = NULL;
        assert_ok(kith_sparse_create_coo(context, &options, 2, 2,
                                         kith_array_vector(row, KITH_I32, 3),
                                         kith_array_vector(column, KITH_I32, 3),
                                         kith_array_vector(value, KITH_F64, 3), &sparse));
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1,
                                       kith_array_vector(x, KITH_F64, 2), 0,
                                       kith_array_vector(y, KITH_F64, 2)));
        assert_true(y[0] == 5e-324 && y[1] == 1);
        kith_sparse_free(sparse);
    }
    kith_context_free(context);
}

/* Whether an element is right: distances below the range of laws (docs/laws.md), whose r² is lost
 * against its floor, need only not be NaN. */
static bool is_right(double x[2][3], double found, double exact)
{
    double r2 = 0;
    for (int c = 0; c < 3; c++)
        r2 += (x[1][c] - x[0][c]) * (x[1][c] - x[0][c]);
    if (r2 > 0 && r2 < S2_FLOOR_DOUBLE)
        return isnan(exact) || !isnan(found);
    return found == exact || fabs(found - exact) <= 1e-12 * fabs(exact) ||
           (isnan(found) && isnan(exact));
}

static void compare_matrices(kith_context *context, const char *name)
{
    double x[][3] = {{0, 0, 0},      {-0.0, 0, 0},   {1e-160, 0, 0}, {5e-324, 0, 0}, {1e150, 0, 0},
                     {0, -1e150, 0}, {1e-300, 0, 1}, {3, 4, 0},      {1e-150, 0, 0}};
    enum { n = sizeof x / sizeof x[0] };
    kith_law *law = NULL;
    double found[n * n], exact[n * n];
    kith_matrix_options options = {.method = KITH_MATRIX_DIRECT};
    const kith_particles rows = {.positions = kith_array_matrix(x, KITH_F64, n, 3)};
    assert_ok(kith_law_parse(name, 0, NULL, &law));
    assert_ok(kith_matrix_compute(context, law, &options, &rows, NULL,
                                  kith_array_matrix(found, KITH_F64, n, n)));
    options.method = KITH_MATRIX_REFERENCE;
    assert_ok(kith_matrix_compute(context, law, &options, &rows, NULL,
                                  kith_array_matrix(exact, KITH_F64, n, n)));
    for (int e = 0; e < n * n; e++) {
        double pair[2][3];
        memcpy(pair[0], x[e / n], sizeof pair[0]);
        memcpy(pair[1], x[e % n], sizeof pair[1]);
        if (!is_right(pair, found[e], exact[e]))
            fail_msg("%s, %s: element %d, %d is %.17g, not %.17g", kith_context_isa(context), name,
                     e / n, e % n, found[e], exact[e]);
    }
    kith_law_free(law);
}

static void test_matrices_of_extreme_numbers_are_the_references(void **state)
{
    static const char *const names[] = {
        "gravity", "coulomb",    "distance", "distance2",     "power:2",    "sum",
        "product", "gaussian:1", "yukawa:1", "lennard-jones", "thin-plate", "multiquadric:1"};
    (void)state;
    for (int64_t isa = 0; isa_at(isa); isa++) {
        if (!isa_at(isa)->supported)
            continue;
        kith_context *context = new_context(isa_at(isa)->name, 2);
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            compare_matrices(context, names[k]);
        kith_context_free(context);
    }
}

/* Two points next to each other, a subnormal square apart, in single precision. */
static void test_matrices_of_floats_a_subnormal_square_apart_are_numbers(void **state)
{
    static const char *const names[] = {"gravity",  "coulomb",  "power:1",
                                        "yukawa:1", "distance", "gaussian:1"};
    (void)state;
    for (int64_t isa = 0; isa_at(isa); isa++) {
        if (!isa_at(isa)->supported)
            continue;
        kith_context *context = new_context(isa_at(isa)->name, 1);
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            float x[2][3] = {{0, 0, 0}, {1e-20f, 0, 0}}, found[4];
            kith_law *law = NULL;
            const kith_particles rows = {.positions = kith_array_matrix(x, KITH_F32, 2, 3)};
            assert_ok(kith_law_parse(names[k], 0, NULL, &law));
            assert_ok(kith_matrix_compute(context, law, NULL, &rows, NULL,
                                          kith_array_matrix(found, KITH_F32, 2, 2)));
            assert_false(isnan(found[1]) || isnan(found[2]));
            kith_law_free(law);
        }
        kith_context_free(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_are_the_same_in_any_unit),
        cmocka_unit_test(test_forces_of_extreme_distances_and_masses),
        cmocka_unit_test(test_pairs_are_the_same_in_any_unit),
        cmocka_unit_test(test_cutoffs_beyond_the_precision_or_the_cell_are_told),
        cmocka_unit_test(test_a_list_with_huge_radii_is_refused),
        cmocka_unit_test(test_sparse_products_keep_denormal_numbers),
        cmocka_unit_test(test_matrices_of_extreme_numbers_are_the_references),
        cmocka_unit_test(test_matrices_of_floats_a_subnormal_square_apart_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
