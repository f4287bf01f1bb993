/* What kith_sparse takes, and what it says of what it does not take. */
#include "simulating.h"

#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "device/context.h"
#include "sparse/backend.h"
#include "sparse/object.h"

static const double values[] = {2, -1, 0.5, 3, 4};
static const int64_t row[] = {2, 0, 2, 0, 2}, column[] = {1, 2, 0, 0, 1};

static kith_sparse *small_matrix(kith_context *context, const kith_sparse_options *options)
{
    kith_sparse *sparse = NULL;
    assert_ok(kith_sparse_create_coo(context, options, 3, 4,
                                     kith_array_vector((void *)row, KITH_I64, 5),
                                     kith_array_vector((void *)column, KITH_I64, 5),
                                     kith_array_vector((void *)values, KITH_F64, 5), &sparse));
    return sparse;
}

static void test_duplicates_are_added_up(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_sparse *sparse = small_matrix(context, NULL);
    double x[] = {1, 10, 100, 1000}, y[] = {NAN, NAN, NAN}, z[] = {1, 2, 3}, t[] = {1, 1, 1, 1};
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 2, kith_array_vector(x, KITH_F64, 4),
                                   0, kith_array_vector(y, KITH_F64, 3)));
    assert_true(y[0] == -194 && y[1] == 0 && y[2] == 121);
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_TRANSPOSED, 1,
                                   kith_array_vector(z, KITH_F64, 3), 3,
                                   kith_array_vector(t, KITH_F64, 4)));
    assert_true(t[0] == 7.5 && t[1] == 21 && t[2] == 2 && t[3] == 3);
    kith_sparse_info info;
    assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
    assert_int_equal(info.nonzeros, 4);
    kith_sparse_free(sparse);
    kith_context_free(context);
}

/* The same entries as int32 from 1 on, and as rows; with all formats timed. */
static void test_indices_may_be_narrow_and_begin_at_1(void **state)
{
    (void)state;
    static const int32_t narrow_row[] = {3, 1, 3, 1, 3}, narrow_column[] = {2, 3, 1, 1, 2};
    static const int32_t start[] = {1, 3, 3, 6}, of_rows[] = {3, 1, 2, 1, 2};
    static const double by_rows[] = {-1, 3, 2, 0.5, 4};
    kith_context *context = cpu_context(1);
    const kith_sparse_options options = {.index_base = 1, .tune = true};
    for (int compressed = 0; compressed < 2; compressed++) {
        kith_sparse *sparse = NULL;
        const kith_array value =
            kith_array_vector((void *)(compressed ? by_rows : values), KITH_F64, 5);
        int64_t row_start[4];
        int32_t columns[4];
        double entries[4];
        if (compressed)
            assert_ok(kith_sparse_create_csr(
                context, &options, 4, kith_array_vector((void *)start, KITH_I32, 4),
                kith_array_vector((void *)of_rows, KITH_I32, 5), value, &sparse));
        else
            assert_ok(kith_sparse_create_coo(
                context, &options, 3, 4, kith_array_vector((void *)narrow_row, KITH_I32, 5),
                kith_array_vector((void *)narrow_column, KITH_I32, 5), value, &sparse));
        assert_ok(kith_sparse_copy_csr(sparse, row_start, columns, entries));
        assert_memory_equal(row_start, ((int64_t[]){0, 2, 2, 4}), sizeof row_start);
        assert_memory_equal(columns, ((int32_t[]){0, 2, 0, 1}), sizeof columns);
        assert_memory_equal(entries, ((double[]){3, -1, 0.5, 6}), sizeof entries);
        kith_sparse_info info;
        assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
        assert_non_null(strstr(info.reason, "measured fastest"));
        kith_sparse_free(sparse);
    }
    kith_context_free(context);
}

static kith_sparse_info refused;
static const struct room_backends *generous;

/* As the context's own, but that one plan finds no memory. */
static kith_status convert_others(kith_context *context, const struct sparse_statistics *statistics,
                                  struct sparse_matrix *matrix)
{
    if (matrix->plan.format == refused.format && matrix->plan.kernel == refused.kernel)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for this format");
    return generous->sparse->convert(context, statistics, matrix);
}

static void test_a_format_without_memory_is_not_measured_fastest(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_sparse *sparse = small_matrix(context, NULL);
    assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &refused));
    kith_sparse_free(sparse);
    generous = context->rooms;
    struct sparse_backend sparse_functions = *generous->sparse;
    sparse_functions.convert = convert_others;
    struct room_backends rooms = *generous;
    rooms.sparse = &sparse_functions;
    context->rooms = &rooms;
    const kith_sparse_options options = {.tune = true};
    double x[] = {1, 10, 100, 1000}, y[3];
    kith_sparse_info info;
    sparse = small_matrix(context, &options);
    assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
    assert_true(info.format != refused.format || info.kernel != refused.kernel);
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 2, kith_array_vector(x, KITH_F64, 4),
                                   0, kith_array_vector(y, KITH_F64, 3)));
    assert_true(y[0] == -194 && y[1] == 0 && y[2] == 121);
    kith_sparse_free(sparse);
    context->rooms = generous;
    kith_context_free(context);
}

/* More diagonals than are counted, each with an entry or two: none of them is worth storing. */
static void test_many_short_diagonals_are_not_stored(void **state)
{
    (void)state;
    enum { rows = 50, columns = 100000, every = 25, entries = rows * (columns / every) };
    kith_context *context = cpu_context(1);
    kith_array of_rows = kith_array_vector(malloc(entries * sizeof(int32_t)), KITH_I32, entries);
    kith_array of_columns = kith_array_vector(malloc(entries * sizeof(int32_t)), KITH_I32, entries);
    for (int32_t k = 0; k < entries; k++) {
        ((int32_t *)of_rows.data)[k] = k % rows;
        ((int32_t *)of_columns.data)[k] = k / rows * every + k * 7 % every;
    }
    kith_sparse *sparse = NULL;
    kith_sparse_info info;
    assert_ok(kith_sparse_create_coo(context, NULL, rows, columns, of_rows, of_columns,
                                     kith_array_none(), &sparse));
    assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
    assert_int_not_equal(info.format, KITH_SPARSE_DIA);
    kith_sparse_free(sparse);
    free(of_rows.data);
    free(of_columns.data);
    kith_context_free(context);
}

/* A device, played by the host, has memory of its own: the matrix is copied there, and vectors that
 * are there already are not. */
static void test_a_device_has_a_copy_of_the_matrix(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    const kith_device host = context->device, device = {KITH_CUDA, 0};
    context->device = device;
    kith_sparse *sparse = small_matrix(context, NULL);
    double x_values[] = {1, 10, 100, 1000}, y_values[] = {NAN, NAN, NAN}, entries[4];
    int64_t row_start[4];
    int32_t columns[4];
    kith_array x = kith_array_vector(x_values, KITH_F64, 4);
    kith_array y = kith_array_vector(y_values, KITH_F64, 3);
    x.device = y.device = device;
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 2, x, 0, y));
    assert_true(y_values[0] == -194 && y_values[1] == 0 && y_values[2] == 121);
    assert_ok(kith_sparse_copy_csr(sparse, row_start, columns, entries));
    assert_memory_equal(row_start, ((int64_t[]){0, 2, 2, 4}), sizeof row_start);
    assert_memory_equal(columns, ((int32_t[]){0, 2, 0, 1}), sizeof columns);
    assert_memory_equal(entries, ((double[]){3, -1, 0.5, 6}), sizeof entries);
    kith_sparse_free(sparse);
    context->device = host;
    kith_context_free(context);
}

/* Addresses of a GPU mean nothing to a context that computes on the host. */
static void test_arrays_of_a_device_are_refused_on_the_host(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_array rows = kith_array_vector((void *)row, KITH_I64, 5);
    kith_array columns = kith_array_vector((void *)column, KITH_I64, 5);
    kith_array entries = kith_array_vector((void *)values, KITH_F64, 5);
    kith_sparse *sparse = NULL;
    rows.device.kind = columns.device.kind = entries.device.kind = KITH_CUDA;
    assert_fails(kith_sparse_create_coo(context, NULL, 3, 4, rows, columns, entries, &sparse),
                 KITH_UNSUPPORTED, "context's");
    assert_null(sparse);
    kith_context_free(context);
}

static void test_reasons_tell_the_bytes_of_an_entry(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_sparse *sparse = small_matrix(context, NULL);
    kith_sparse_info info;
    char expected[40];
    assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
    snprintf(expected, sizeof expected, " %.3g bytes", (double)info.bytes / 4);
    if (!strstr(info.reason, expected))
        fail_msg("'%s' does not tell '%s'", info.reason, expected);
    kith_sparse_free(sparse);
    kith_context_free(context);
}

/* Tiles have 64 rows: of 65 rows, 128 are stored. */
static void test_bytes_of_diagonals_are_those_of_whole_tiles(void **state)
{
    (void)state;
    enum { rows = 65 };
    kith_context *context = cpu_context(1);
    const kith_sparse_options options = {.format = KITH_SPARSE_DIA};
    int64_t start[rows + 1], at[rows];
    double entries[rows];
    for (int64_t i = 0; i < rows; i++) {
        start[i] = at[i] = i;
        entries[i] = 1 + (double)i;
    }
    start[rows] = rows;
    kith_sparse *sparse = NULL;
    kith_sparse_info info;
    assert_ok(kith_sparse_create_csr(context, &options, rows,
                                     kith_array_vector(start, KITH_I64, rows + 1),
                                     kith_array_vector(at, KITH_I64, rows),
                                     kith_array_vector(entries, KITH_F64, rows), &sparse));
    assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
    assert_int_equal(info.bytes, 128 * (int64_t)sizeof(double));
    if (!strstr(info.reason, " 15.8 bytes"))
        fail_msg("'%s' does not tell 1024 / 65 bytes", info.reason);
    kith_sparse_free(sparse);
    kith_context_free(context);
}

static void test_vectors_of_nothing_need_no_memory(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_sparse *sparse = NULL;
    const kith_array none = kith_array_vector(NULL, KITH_I64, 0);
    double y[] = {5, 6};
    assert_ok(kith_sparse_create_coo(context, NULL, 2, 0, none, none, kith_array_none(), &sparse));
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1,
                                   kith_array_vector(NULL, KITH_F64, 0), 0,
                                   kith_array_vector(y, KITH_F64, 2)));
    assert_true(y[0] == 0 && y[1] == 0);
    kith_sparse_free(sparse);
    kith_context_free(context);
}

static void test_blocks_are_of_the_size_that_is_asked_for(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    for (int32_t block = 2; block <= 4; block++) {
        const kith_sparse_options options = {.format = KITH_SPARSE_BSR, .block = block};
        kith_sparse *sparse = small_matrix(context, &options);
        double x[] = {1, 10, 100, 1000}, y[3];
        char expected[40];
        kith_sparse_info info;
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 2,
                                       kith_array_vector(x, KITH_F64, 4), 0,
                                       kith_array_vector(y, KITH_F64, 3)));
        assert_true(y[0] == -194 && y[1] == 0 && y[2] == 121);
        assert_ok(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info));
        assert_int_equal(info.format, KITH_SPARSE_BSR);
        snprintf(expected, sizeof expected, "blocks of %d x %d are", (int)block, (int)block);
        assert_non_null(strstr(info.reason, expected));
        kith_sparse_free(sparse);
    }
    kith_context_free(context);
}

static void test_vectors_of_a_strange_type_are_refused(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_sparse *sparse = small_matrix(context, NULL);
    double x[4] = {0}, y[3] = {0};
    kith_array strange = kith_array_vector(x, KITH_F64, 4);
    strange.dtype = (kith_dtype)(KITH_I32 + 1);
    assert_fails(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, strange, 0,
                                      kith_array_vector(y, KITH_F64, 3)),
                 KITH_INVALID_ARGUMENT, "x float64");
    strange.dtype = KITH_I32;
    assert_fails(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, strange, 0,
                                      kith_array_vector(y, KITH_F64, 3)),
                 KITH_INVALID_ARGUMENT, "x int32 float64");
    kith_sparse_free(sparse);
    kith_context_free(context);
}

/* Two rows of y in the memory of x; and two vectors of each, one of y between those of x. */
static void test_vectors_overlap_only_where_they_have_elements(void **state)
{
    (void)state;
    enum { apart = 16 };
    kith_context *context = cpu_context(1);
    kith_sparse *sparse = small_matrix(context, NULL);
    double memory[4 * apart] = {0};
    assert_fails(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1,
                                      kith_array_matrix(memory, KITH_F64, 4, 2), 0,
                                      kith_array_matrix(memory + 4, KITH_F64, 3, 2)),
                 KITH_INVALID_ARGUMENT, "y overlaps x");
    kith_array x = kith_array_matrix(memory, KITH_F64, 4, 2);
    kith_array y = kith_array_matrix(memory + 1, KITH_F64, 3, 2);
    x.strides[1] = y.strides[1] = apart;
    for (int j = 0; j < 4; j++) {
        memory[2 * j] = j + 1;
        memory[apart + 2 * j] = 10 * (j + 1);
    }
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, y));
    assert_true(memory[1] == 0 && memory[3] == 0 && memory[5] == 12.5);
    assert_true(memory[apart + 1] == 0 && memory[apart + 3] == 0 && memory[apart + 5] == 125);
    kith_sparse_free(sparse);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duplicates_are_added_up),
        cmocka_unit_test(test_indices_may_be_narrow_and_begin_at_1),
        cmocka_unit_test(test_reasons_tell_the_bytes_of_an_entry),
        cmocka_unit_test(test_bytes_of_diagonals_are_those_of_whole_tiles),
        cmocka_unit_test(test_vectors_of_nothing_need_no_memory),
        cmocka_unit_test(test_arrays_of_a_device_are_refused_on_the_host),
        cmocka_unit_test(test_a_format_without_memory_is_not_measured_fastest),
        cmocka_unit_test(test_many_short_diagonals_are_not_stored),
        cmocka_unit_test(test_a_device_has_a_copy_of_the_matrix),
        cmocka_unit_test(test_blocks_are_of_the_size_that_is_asked_for),
        cmocka_unit_test(test_vectors_of_a_strange_type_are_refused),
        cmocka_unit_test(test_vectors_overlap_only_where_they_have_elements),
    };
    return cmocka_run_group_tests_name("sparse_arguments", tests, NULL, NULL);
}
