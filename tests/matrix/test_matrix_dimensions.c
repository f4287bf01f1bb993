/* The interaction matrix of points of 1 to 16 dimensions against the formula as a loop. */

#include "matrix_system.h"

static kith_context *shared;
static struct random_numbers numbers;

enum { most = KITH_MAX_COORDINATES };

static double distance2(const struct matrix_set *a, int64_t i, const struct matrix_set *b,
                        int64_t j)
{
    const int64_t d = a->particles.positions.shape[1];
    double r2 = 0;
    for (int64_t c = 0; c < d; c++) {
        const double x = matrix_at(b->particles.positions, j * d + c) -
                         matrix_at(a->particles.positions, i * d + c);
        r2 += x * x;
    }
    return r2;
}

/* The values of three laws, of which the last is compiled at run time. */
static const char *const laws[] = {"distance2", "gaussian:0.8", "expr:q_j/(1 + r2)"};

static double value_of(int law, const struct matrix_set *b, int64_t j, double r2)
{
    const double charge = matrix_at(b->particles.columns[1].values, j);
    return law == 0 ? r2 : law == 1 ? exp(-r2 / (2 * 0.64)) : charge / (1 + r2);
}

static void check(int64_t dimensions, int law, kith_dtype dtype, int64_t n, int64_t m)
{
    struct matrix_set rows = matrix_set_create(&numbers, dtype, n, dimensions);
    struct matrix_set columns = matrix_set_create(&numbers, dtype, m, dimensions);
    const kith_array matrix = matrix_new(dtype, n, m), product = matrix_new_vector(dtype, n);
    const kith_array place = matrix_new_vector(KITH_I64, n);
    const kith_array b = columns.particles.columns[0].values;
    const double bound = matrix_tolerance(dtype) * (double)dimensions;
    kith_law *chosen = matrix_law(laws[law]);
    const kith_particles *r = &rows.particles, *c = &columns.particles;
    assert_ok(kith_matrix_compute(shared, chosen, NULL, r, c, matrix));
    assert_ok(kith_matrix_multiply(shared, chosen, NULL, r, c, b, product));
    assert_ok(kith_matrix_reduce(shared, chosen, NULL, r, c, KITH_REDUCE_ARGMIN, place));
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        int64_t least = -1;
        for (int64_t j = 0; j < m; j++) {
            const double expected = value_of(law, &columns, j, distance2(&rows, i, &columns, j));
            const double found = matrix_at(matrix, i * m + j);
            if (!(fabs(found - expected) <= bound))
                fail_msg("%s in %lld dimensions: element %lld, %lld is %.17g, not %.17g", laws[law],
                         (long long)dimensions, (long long)i, (long long)j, found, expected);
            sum += expected * matrix_at(b, j);
            if (least < 0 || found < matrix_at(matrix, i * m + least))
                least = j;
        }
        /* The terms have weights of at most 2. */
        if (!(fabs(matrix_at(product, i) - sum) <= 2 * (double)(m + 1) * bound))
            fail_msg("%s in %lld dimensions: row %lld of the product is %.17g, not %.17g",
                     laws[law], (long long)dimensions, (long long)i, matrix_at(product, i), sum);
        assert_int_equal(((const int64_t *)place.data)[i], least);
    }
    kith_law_free(chosen);
    free(matrix.data);
    free(product.data);
    free(place.data);
    matrix_set_free(&rows);
    matrix_set_free(&columns);
}

static void a_matrix_is_that_of_the_formula_in_every_number_of_dimensions(void **state)
{
    (void)state;
    for (int64_t dimensions = 1; dimensions <= most; dimensions++)
        for (int law = 0; law < 3; law++)
            for (int dtype = 0; dtype < 2; dtype++)
                check(dimensions, law, dtype ? KITH_F32 : KITH_F64, 13, 70 + dimensions);
}

/* Further axes in which all points agree add zeros to r²: the bits of three dimensions. */
static void equal_coordinates_change_no_bit(void **state)
{
    enum { n = 37, wide = 9 };
    (void)state;
    struct matrix_set set = matrix_set_create(&numbers, KITH_F64, n, 3);
    double x[n * wide];
    for (int i = 0; i < n; i++)
        for (int c = 0; c < wide; c++)
            x[i * wide + c] = c < 3 ? matrix_at(set.particles.positions, 3 * i + c) : 0.1 * c;
    kith_particles more = set.particles;
    more.positions = kith_array_matrix(x, KITH_F64, n, wide);
    const kith_array a = matrix_new(KITH_F64, n, n), b = matrix_new(KITH_F64, n, n);
    assert_ok(kith_matrix_compute(shared, NULL, NULL, &set.particles, NULL, a));
    assert_ok(kith_matrix_compute(shared, NULL, NULL, &more, NULL, b));
    assert_memory_equal(a.data, b.data, n * n * sizeof(double));
    const kith_matrix_options reference = {.method = KITH_MATRIX_REFERENCE};
    assert_ok(kith_matrix_compute(shared, NULL, &reference, &set.particles, NULL, a));
    assert_ok(kith_matrix_compute(shared, NULL, &reference, &more, NULL, b));
    assert_memory_equal(a.data, b.data, n * n * sizeof(double));
    free(a.data);
    free(b.data);
    matrix_set_free(&set);
}

static void what_more_dimensions_cannot_have_is_refused(void **state)
{
    (void)state;
    double x[4 * (most + 1)] = {0}, v[16];
    const kith_array matrix = kith_array_matrix(v, KITH_F64, 4, 4);
    const kith_particles four = {.positions = kith_array_matrix(x, KITH_F64, 4, 4)};
    const kith_particles many = {.positions = kith_array_matrix(x, KITH_F64, 4, most + 1)};
    kith_law *along = matrix_law("expr:dx + r"), *plane = matrix_law("log2d");
    assert_fails(kith_matrix_compute(shared, along, NULL, &four, NULL, matrix),
                 KITH_INVALID_ARGUMENT, "4 columns");
    assert_fails(kith_matrix_compute(shared, plane, NULL, &four, NULL, matrix),
                 KITH_INVALID_ARGUMENT, "log2d");
    assert_fails(kith_matrix_compute(shared, NULL, NULL, &many, NULL, matrix),
                 KITH_INVALID_ARGUMENT, "17 columns");
    x[5] = NAN;
    assert_fails(kith_matrix_compute(shared, NULL, NULL, &four, NULL, matrix),
                 KITH_INVALID_ARGUMENT, "1 rows.positions nan");
    kith_law_free(along);
    kith_law_free(plane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_is_that_of_the_formula_in_every_number_of_dimensions),
        cmocka_unit_test(equal_coordinates_change_no_bit),
        cmocka_unit_test(what_more_dimensions_cannot_have_is_refused),
    };
    numbers = random_numbers_begin("test_matrix_dimensions");
    shared = new_context(NULL, 2);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(shared);
    return failed;
}
