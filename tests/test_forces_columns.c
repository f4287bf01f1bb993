/* What is done to whole columns of arrays, against the plain loop. */

#include "forces_system.h"

#include "forces/columns.h"

static const kith_dtype dtypes[] = {KITH_F64, KITH_F32};
static const int32_t threads[] = {1, 2, 3, 7};
static kith_context *contexts[4];
static const int64_t row_counts[] = {0, 1, 1000, 16384, 16385, 70001};

enum { row_count_count = sizeof row_counts / sizeof row_counts[0] };

static kith_array random_matrix(struct random_numbers *random, kith_dtype dtype, int64_t rows)
{
    kith_array made = new_matrix(dtype, rows, 3);
    for (int64_t k = 0; k < 3 * rows; k++)
        put(made, k, random_uniform(random, -1, 1) * pow(10, random_uniform(random, -30, 30)));
    return made;
}

static double rounded(kith_dtype dtype, double value)
{
    return dtype == KITH_F64 ? value : (double)(float)value;
}

static void test_columns_are_packed_and_unpacked_with_a_factor(void **state)
{
    struct random_numbers *random = *state;
    const int exponents[] = {0, -20, 90, -1000, 1001, -1070, -2000, 1030};
    for (int k = 0; k < 4 * 4 * row_count_count; k++) {
        const kith_dtype from = dtypes[k & 1], to = dtypes[k >> 1 & 1];
        const int64_t rows = row_counts[k / 16];
        const int exponent = exponents[(k * 3 + k / 16) % 8];
        const double fraction = random_uniform(random, 0.5, 1);
        kith_array matrix = random_matrix(random, from, rows);
        kith_array column = new_vector(to, rows);

        assert_ok(forces_column_pack(contexts[k % 4], matrix, 1, fraction, to, column.data));
        for (int64_t row = 0; row < rows; row++)
            assert_true(get(column, row) == rounded(to, get(matrix, 3 * row + 1) * fraction));
        assert_ok(
            forces_column_unpack(contexts[k % 4], matrix, 2, fraction, exponent, to, column.data));
        for (int64_t row = 0; row < rows; row++)
            assert_true(get(matrix, 3 * row + 2) ==
                        rounded(from, ldexp(fraction * get(column, row), exponent)));
        free(matrix.data);
        free(column.data);
    }
}

/* Whether the column is good; *largest as it is found. */
static bool measure(kith_context *context, kith_array matrix, double least, double *largest)
{
    bool good = false;
    assert_ok(forces_column_measure(context, matrix, 0, least, largest, &good));
    return good;
}

static void test_columns_largest_number_is_found_and_so_is_a_bad_one(void **state)
{
    struct random_numbers *random = *state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 8 * row_count_count; k++) {
        const int64_t rows = row_counts[k / 8];
        kith_array matrix = random_matrix(random, dtypes[k & 1], rows);
        double expected = 0, largest = 0;
        for (int64_t row = 0; row < rows; row++)
            expected = fmax(expected, fabs(get(matrix, 3 * row)));
        assert_true(measure(contexts[k % 4], matrix, -INFINITY, &largest));
        assert_true(largest == expected);
        largest = 2 * expected;
        assert_true(measure(contexts[k % 4], matrix, -INFINITY, &largest));
        assert_true(largest == 2 * expected);
        if (rows > 0) {
            const int64_t row = (int64_t)random_uniform(random, 0, (double)rows);
            put(matrix, 3 * row, -1);
            assert_false(measure(contexts[k % 4], matrix, 0, &largest));
            put(matrix, 3 * row, bad[k % 3]);
            assert_false(measure(contexts[k % 4], matrix, -INFINITY, &largest));
        }
        free(matrix.data);
    }
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("forces_columns");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_columns_are_packed_and_unpacked_with_a_factor, &random),
        cmocka_unit_test_prestate(test_columns_largest_number_is_found_and_so_is_a_bad_one,
                                  &random),
    };
    for (int k = 0; k < 4; k++)
        contexts[k] = new_context(NULL, threads[k]);
    const int failed = cmocka_run_group_tests_name("forces_columns", tests, NULL, NULL);
    for (int k = 0; k < 4; k++)
        kith_context_free(contexts[k]);
    return failed;
}
