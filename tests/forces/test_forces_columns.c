/* What is done to whole arrays before and after forces, against the plain loop. */

#include "forces_system.h"

#include "core/memory.h"
#include "forces/columns.h"

static const kith_dtype dtypes[] = {KITH_F64, KITH_F32};
static const int32_t threads[] = {1, 2, 3, 7};
static kith_context *contexts[4];
static const int64_t row_counts[] = {0, 1, 67, 1000, 16385, 70001};

enum { row_count_count = sizeof row_counts / sizeof row_counts[0] };

/* Of 1 to 3 columns; dense, or every second row or element of a larger one, or a vector. */
static kith_array random_array(struct random_numbers *random, kith_dtype dtype, int64_t rows)
{
    const int64_t columns = (int64_t)random_uniform(random, 1, 4);
    kith_array made = new_matrix(dtype, 2 * rows, 2 * columns);
    for (int64_t k = 0; k < 4 * rows * columns; k++)
        put(made, k, random_uniform(random, -1, 1) * pow(10, random_uniform(random, -30, 30)));
    const double shape = random_uniform(random, 0, 4);
    made.shape[0] = rows;
    made.shape[1] = columns;
    made.strides[0] = shape < 1 ? columns : shape < 2 ? 2 * columns : 4 * columns;
    made.strides[1] = shape < 2 ? 1 : 2;
    if (shape >= 3)
        made = kith_array_vector(made.data, dtype, rows);
    return made;
}

static double element(kith_array array, int64_t row, int64_t column)
{
    return get(array, row * array.strides[0] + (array.ndim == 2 ? column * array.strides[1] : 0));
}

static int64_t columns_of(kith_array array)
{
    return array.ndim == 2 ? array.shape[1] : 1;
}

static double rounded(kith_dtype dtype, double value)
{
    return dtype == KITH_F64 ? value : (double)(float)value;
}

static void test_arrays_are_packed_and_unpacked_with_a_factor(void **state)
{
    struct random_numbers *random = *state;
    const int exponents[] = {0, -20, 90, -1000, 1001, -1070, -2000, 1030};
    for (int k = 0; k < 4 * 6 * row_count_count; k++) {
        const kith_dtype of_array = dtypes[k % 3 > 0], of_columns = dtypes[k % 3 > 1];
        const int64_t rows = row_counts[k / 24], padded = kith_padded(rows);
        const int exponent = exponents[(k * 3 + k / 24) % 8];
        const double fraction = random_uniform(random, 0.5, 1);
        kith_array array = random_array(random, of_array, rows), column[3];
        const void *packed[3];
        for (int c = 0; c < 3; c++) {
            column[c] = new_vector(of_columns, padded);
            packed[c] = column[c].data;
            for (int64_t row = 0; row < padded; row++)
                put(column[c], row, NAN);
        }

        assert_ok(forces_pack_columns(contexts[k % 4], array, -k, of_columns, packed));
        for (int64_t c = 0; c < columns_of(array); c++)
            for (int64_t row = 0; row < padded; row++)
                assert_true(
                    get(column[c], row) ==
                    (row < rows ? rounded(of_columns, ldexp(element(array, row, c), -k)) : 0));
        assert_ok(forces_unpack_columns(contexts[k % 4], array, fraction, exponent, of_columns,
                                        (void *const *)packed));
        for (int64_t c = 0; c < columns_of(array); c++)
            for (int64_t row = 0; row < rows; row++)
                assert_true(element(array, row, c) ==
                            rounded(of_array, ldexp(fraction * get(column[c], row), exponent)));
        free(array.data);
        for (int c = 0; c < 3; c++)
            free(column[c].data);
    }
}

/* Whether the array is good; *largest as it is found. */
static bool measure(kith_context *context, kith_array array, double least, double *largest)
{
    bool good = false;
    assert_ok(forces_measure(context, array, least, largest, &good));
    return good;
}

static void test_arrays_largest_number_is_found_and_so_is_a_bad_one(void **state)
{
    struct random_numbers *random = *state;
    const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 24 * row_count_count; k++) {
        const int64_t rows = row_counts[k / 24];
        kith_array array = random_array(random, dtypes[k & 1], rows);
        double expected = 0, largest = 0;
        for (int64_t row = 0; row < rows; row++)
            for (int64_t c = 0; c < columns_of(array); c++)
                expected = fmax(expected, fabs(element(array, row, c)));
        assert_true(measure(contexts[k % 4], array, -INFINITY, &largest));
        assert_true(largest == expected);
        largest = 2 * expected;
        assert_true(measure(contexts[k % 4], array, -INFINITY, &largest));
        assert_true(largest == 2 * expected);
        if (rows > 0) {
            const int64_t row = (int64_t)random_uniform(random, 0, (double)rows);
            const int64_t c = (int64_t)random_uniform(random, 0, (double)columns_of(array));
            const int64_t at =
                row * array.strides[0] + (array.ndim == 2 ? c * array.strides[1] : 0);
            put(array, at, -1);
            assert_false(measure(contexts[k % 4], array, 0, &largest));
            put(array, at, bad[k / 2 % 4]);
            assert_false(measure(contexts[k % 4], array, -INFINITY, &largest));
        }
        free(array.data);
    }
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("forces_columns");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_arrays_are_packed_and_unpacked_with_a_factor, &random),
        cmocka_unit_test_prestate(test_arrays_largest_number_is_found_and_so_is_a_bad_one, &random),
    };
    for (int k = 0; k < 4; k++)
        contexts[k] = new_context(NULL, threads[k]);
    const int failed = cmocka_run_group_tests_name("forces_columns", tests, NULL, NULL);
    for (int k = 0; k < 4; k++)
        kith_context_free(contexts[k]);
    return failed;
}
