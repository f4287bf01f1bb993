/* Sparse matrices of dense ones: what is 0 is left out, the rest is the same, however it lies. */

#include "sparse_matrices.h"

enum { rows = 13, columns = 9, room = 4 * rows * columns };

/* An element of the matrix, in units of 1/64, so that sums are exact in float; one in three is 0.
 */
static double random_element(struct random_numbers *numbers)
{
    return random_below(numbers, 3) == 0 ? 0 : (double)(1 + random_below(numbers, 128)) / 64;
}

static void put(kith_array array, int64_t at, double value)
{
    if (array.dtype == KITH_F64)
        ((double *)array.data)[at] = value;
    else
        ((float *)array.data)[at] = (float)value;
}

static double get(kith_array array, int64_t at)
{
    return array.dtype == KITH_F64 ? ((const double *)array.data)[at]
                                   : (double)((const float *)array.data)[at];
}

static void assert_same_as_dense(struct random_numbers *numbers, kith_dtype dtype,
                                 int64_t row_stride, int64_t column_stride)
{
    double matrix[room] = {0}, x_values[columns], y_values[rows];
    kith_array dense = kith_array_matrix(matrix, dtype, rows, columns);
    const kith_array x = kith_array_vector(x_values, dtype, columns);
    const kith_array y = kith_array_vector(y_values, dtype, rows);
    int64_t nonzeros = 0;
    dense.strides[0] = row_stride;
    dense.strides[1] = column_stride;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double value = random_element(numbers);
            put(dense, i * row_stride + j * column_stride, value);
            nonzeros += value != 0;
        }
    for (int64_t j = 0; j < columns; j++)
        put(x, j, (double)(j + 1));

    kith_context *context = NULL;
    kith_sparse *sparse = NULL;
    kith_sparse_info info;
    assert_ok(kith_context_create(NULL, &context));
    assert_ok(kith_sparse_create_dense(context, NULL, dense, &sparse));
    assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
    assert_int_equal(info.nonzeros, nonzeros);
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, y));
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < columns; j++)
            sum += get(dense, i * row_stride + j * column_stride) * (double)(j + 1);
        assert_true(get(y, i) == sum);
    }
    kith_sparse_free(sparse);
    kith_context_free(context);
}

static void test_sparse_of_dense_has_its_elements_in_any_layout(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("sparse dense");
    for (int k = 0; k < 2; k++) {
        const kith_dtype dtype = k ? KITH_F32 : KITH_F64;
        assert_same_as_dense(&numbers, dtype, columns, 1);
        assert_same_as_dense(&numbers, dtype, 1, rows);
        assert_same_as_dense(&numbers, dtype, 2 * columns, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparse_of_dense_has_its_elements_in_any_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
