/* Columns updated by formulas on a GPU, and arrays on it: as on the CPU. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "gpu_testing.h"
#include "random_numbers.h"

#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

enum { columns_there = 4, most_rows = 100003 };

static struct random_numbers numbers;
static kith_context *on_gpu, *on_cpu;

static const kith_law_parameter parameters[] = {{"dt", 0.125}, {"g", 9.81}};
static const kith_named_formula lets[] = {{"u", "vx_i + dt * ax_i"}, {"to", "x_i + dt * u"}};
static const kith_update_options options = {
    .let_count = 2, .lets = lets, .parameter_count = 2, .parameters = parameters};
static const kith_named_formula updates[] = {
    {"vx", "u * vx_i"}, {"x", "to < 0 ? -to : to"}, {"s", "sqrt(g / (1 + x_i * x_i))"}};

static const char *const names[columns_there] = {"x", "vx", "ax", "s"};

/* The columns of a matrix that has one in each row. */
static void views(kith_array matrix, int64_t stride, kith_particle_column view[columns_there])
{
    for (int c = 0; c < columns_there; c++) {
        kith_array column = matrix;
        column.ndim = 1;
        column.data = (char *)matrix.data + c * matrix.shape[1] * kith_dtype_bytes(matrix.dtype);
        column.shape[0] = matrix.shape[1] / stride;
        column.strides[0] = stride;
        view[c] = (kith_particle_column){names[c], column};
    }
}

static kith_array random_matrix(kith_dtype dtype, int64_t rows)
{
    kith_array matrix = kith_array_matrix(calloc((size_t)(columns_there * rows + 1), 8), dtype,
                                          columns_there, rows);
    assert_non_null(matrix.data);
    for (int64_t k = 0; k < columns_there * rows; k++)
        if (dtype == KITH_F32)
            ((float *)matrix.data)[k] = (float)random_uniform(&numbers, -2, 2);
        else
            ((double *)matrix.data)[k] = random_uniform(&numbers, -2, 2);
    return matrix;
}

static kith_array copy_of(kith_array matrix)
{
    const size_t bytes =
        (size_t)(matrix.shape[0] * matrix.shape[1] * kith_dtype_bytes(matrix.dtype));
    kith_array copy = matrix;
    copy.data = malloc(bytes + 1);
    assert_non_null(copy.data);
    memcpy(copy.data, matrix.data, bytes);
    return copy;
}

static void assert_matrices_near(kith_array a, kith_array b)
{
    for (int64_t k = 0; k < a.shape[0] * a.shape[1]; k++) {
        const bool narrow = a.dtype == KITH_F32;
        const double x = narrow ? (double)((float *)a.data)[k] : ((double *)a.data)[k];
        const double y = narrow ? (double)((float *)b.data)[k] : ((double *)b.data)[k];
        assert_true(fabs(x - y) <= (narrow ? 2e-6 : 2e-15) * (1 + fabs(y)));
    }
}

static void test_updates_on_a_gpu_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 255, 256, 257, 10001, most_rows};
    kith_particle_column view[columns_there];
    for (int64_t k = 0; k < 2 * COUNT_OF(counts); k++)
        for (int64_t stride = 1; stride <= 3; stride += 2) {
            const kith_dtype dtype = k % 2 ? KITH_F32 : KITH_F64;
            const kith_array start = random_matrix(dtype, counts[k / 2] * stride);
            const kith_array expected = copy_of(start), staged = copy_of(start);
            const kith_array back = copy_of(start);
            kith_array there = kith_array_none();
            views(expected, stride, view);
            assert_ok(kith_columns_update(on_cpu, &options, columns_there, view, 3, updates));
            views(staged, stride, view);
            assert_ok(kith_columns_update(on_gpu, &options, columns_there, view, 3, updates));
            assert_matrices_near(staged, expected);
            assert_ok(kith_array_create(on_gpu, dtype, columns_there, start.shape[1] + 1, &there));
            there.shape[1] = there.strides[0] = start.shape[1]; /* also of no columns */
            assert_ok(kith_array_copy(on_gpu, start, there));
            views(there, stride, view);
            assert_ok(kith_columns_update(on_gpu, &options, columns_there, view, 3, updates));
            assert_ok(kith_array_copy(on_gpu, there, back));
            assert_memory_equal(
                back.data, staged.data,
                (size_t)(start.shape[0] * start.shape[1] * kith_dtype_bytes(dtype)));
            kith_array_free(on_gpu, &there);
            free(start.data);
            free(expected.data);
            free(staged.data);
            free(back.data);
        }
}

static void test_copies_between_arrays_of_a_device_are_refused(void **state)
{
    (void)state;
    kith_array a = kith_array_none(), b = kith_array_none();
    assert_ok(kith_array_create(on_gpu, KITH_F64, 5, 0, &a));
    assert_ok(kith_array_create(on_gpu, KITH_F64, 5, 0, &b));
    assert_int_equal(kith_array_copy(on_gpu, a, b), KITH_INVALID_ARGUMENT);
    assert_non_null(strstr(kith_error_message(), "give one on the host"));
    assert_int_equal(kith_array_copy(on_cpu, a, b), KITH_UNSUPPORTED);
    kith_array_free(on_gpu, &a);
    kith_array_free(on_gpu, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_updates_on_a_gpu_are_those_of_the_cpu),
        cmocka_unit_test(test_copies_between_arrays_of_a_device_are_refused),
    };
    if (gpu_is_absent("test_cuda_update"))
        return exit_skipped;
    numbers = random_numbers_begin("cuda_update");
    on_gpu = new_gpu_context(NULL);
    on_cpu = new_context(NULL, 0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(on_gpu);
    kith_context_free(on_cpu);
    return failed;
}
