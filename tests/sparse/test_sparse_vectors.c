/* Products with one vector and several, however they lie in memory. */
#include "simulating.h"

#include <stdlib.h>
#include <string.h>

#include "sparse_matrices.h"

enum { kind_anywhere, kind_banded, kind_symmetric, kind_blocks, kind_count };

/* Entries whose columns are in a pattern that a format likes. */
static struct entries make(struct random_numbers *numbers, int kind, int64_t rows, int64_t columns)
{
    struct entries entries = entries_create(rows, columns, 10 * rows);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < 5; k++) {
            const int64_t near = kind == kind_banded ? i + 2 * k - 3 : i / 3 * 3 + k % 3;
            const int64_t j = kind == kind_anywhere ? random_below(numbers, columns) : near;
            if (j < 0 || j >= columns || (kind == kind_blocks && k > 2))
                continue;
            if (kind != kind_symmetric)
                entries_add(&entries, numbers, i, j);
        }
    for (int64_t i = 0; kind == kind_symmetric && i < rows; i++)
        for (int64_t j = i - 2; j <= i + 2; j += 2)
            if (j >= 0 && j < columns && j < rows) {
                entries_add(&entries, numbers, i, j);
                entries.value[entries.count - 1] = (double)((i + j) % 11) - 5;
            }
    return entries;
}

/* How a matrix of rows × vectors lies: element (i, v) is at + i·row + v·column, in `size`. */
struct layout {
    int64_t at, row, column, size;
};

enum { row_major, with_gaps, column_major, backwards, off_the_line, layout_count, between_lines };

static struct layout layout_of(int kind, int64_t rows, int64_t vectors)
{
    switch (kind) {
    case with_gaps:
        return (struct layout){0, vectors + 3, 1, rows * (vectors + 3)};
    case column_major:
        return (struct layout){0, 1, rows, rows * vectors};
    case backwards:
        return (struct layout){(rows - 1) * vectors, -vectors, 1, rows * vectors};
    case between_lines: /* at a multiple of 16 bytes */
        return (struct layout){4, vectors, 1, rows * vectors + 4};
    case off_the_line:
        return (struct layout){1, vectors, 1, rows * vectors + 1};
    default:
        return (struct layout){0, vectors, 1, rows * vectors};
    }
}

static kith_array array_of(void *memory, kith_dtype dtype, struct layout layout, int64_t rows,
                           int64_t vectors)
{
    char *first = (char *)memory + layout.at * kith_dtype_bytes(dtype);
    kith_array array = kith_array_matrix(first, dtype, rows, vectors);
    array.strides[0] = layout.row;
    array.strides[1] = layout.column;
    return array;
}

/* Values in a layout, −7 in its gaps. */
static void *lay_out(const double *values, kith_dtype dtype, struct layout layout, int64_t rows,
                     int64_t vectors)
{
    const size_t bytes = (size_t)((layout.size + 1) * kith_dtype_bytes(dtype));
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    for (int64_t k = 0; k < layout.size; k++)
        set_element(memory, dtype, k, -7);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t v = 0; v < vectors; v++)
            set_element(memory, dtype, layout.at + i * layout.row + v * layout.column,
                        values[i * vectors + v]);
    return memory;
}

/* Takes the values out again; the gaps must be as they were. */
static double *take_out(void *memory, kith_dtype dtype, struct layout layout, int64_t rows,
                        int64_t vectors)
{
    double *values = malloc((size_t)(rows * vectors + 1) * sizeof *values);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t v = 0; v < vectors; v++) {
            const int64_t k = layout.at + i * layout.row + v * layout.column;
            values[i * vectors + v] = element_of(memory, dtype, k);
            set_element(memory, dtype, k, -7);
        }
    for (int64_t k = 0; k < layout.size; k++)
        assert_true(element_of(memory, dtype, k) == -7);
    return values;
}

static void check(kith_sparse *sparse, const char *what, const struct entries *entries,
                  kith_dtype dtype, const double *x, double beta, int64_t vectors, int kind,
                  struct random_numbers *numbers)
{
    const int64_t rows = entries->rows, columns = entries->columns;
    const struct layout of_x = layout_of(kind, columns, vectors);
    const struct layout of_y = layout_of(kind, rows, vectors);
    double *before = calloc((size_t)(rows * vectors + 1), sizeof *before);
    for (int64_t k = 0; k < rows * vectors; k++)
        before[k] = beta == 0 ? (double)NAN : (double)(random_below(numbers, 99) - 49) / 4;
    void *own_x = lay_out(x, dtype, of_x, columns, vectors);
    void *y = lay_out(before, dtype, of_y, rows, vectors);
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1.5,
                                   array_of(own_x, dtype, of_x, columns, vectors), beta,
                                   array_of(y, dtype, of_y, rows, vectors)));
    double *found = take_out(y, dtype, of_y, rows, vectors);
    void *result = numbers_as(dtype, found, rows * vectors);
    check_product(what, entries, false, 1.5, x, beta, before, result, dtype, vectors);
    free(before);
    free(own_x);
    free(y);
    free(found);
    free(result);
}

static void check_format(kith_context *context, kith_sparse_format format,
                         const struct entries *entries, const double *x,
                         struct random_numbers *numbers)
{
    static const int64_t counts[] = {1, 3, 8, 16, 19};
    const kith_sparse_options options = {.format = format};
    for (int d = 0; d < 2; d++) {
        const kith_dtype dtype = d ? KITH_F32 : KITH_F64;
        kith_sparse *sparse = sparse_of(context, &options, dtype, entries);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (int kind = 0; kind < layout_count; kind++) {
                char what[96];
                snprintf(what, sizeof what, "format %d, %lld vectors, layout %d", (int)format,
                         (long long)counts[c], kind);
                check(sparse, what, entries, dtype, x, 0, counts[c], kind, numbers);
                check(sparse, what, entries, dtype, x, -2, counts[c], kind, numbers);
            }
        kith_sparse_free(sparse);
    }
}

/* One product with multiple right-hand sides and an infinity or NaN in x here and there. */
static void test_vectors_may_lie_anyhow(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1},    {64, 64},  {127, 131},
                                       {131, 90}, {500, 40}, {1025, 1025}};
    struct random_numbers numbers = random_numbers_begin("vectors");
    kith_context *context = cpu_context(2);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int kind = 0; kind < kind_count; kind++)
            for (int infinite = 0; infinite < 2; infinite++) {
                const int64_t most = sizes[s][1] * 19;
                double *x = calloc((size_t)most, sizeof *x);
                for (int64_t k = 0; k < most; k++)
                    x[k] = (double)(random_below(&numbers, 2001) - 1000) / 256;
                x[random_below(&numbers, most)] = infinite ? INFINITY : 0.0;
                x[random_below(&numbers, most)] = infinite ? NAN : 1.0;
                struct entries entries = make(&numbers, kind, sizes[s][0], sizes[s][1]);
                for (int format = KITH_SPARSE_AUTO; format <= KITH_SPARSE_DIA; format++)
                    if (!(infinite && kind != kind_banded) && /* duplicates: ∞ − ∞ */
                        !(kind == kind_anywhere && format == KITH_SPARSE_DIA))
                        check_format(context, (kith_sparse_format)format, &entries, x, &numbers);
                entries_free(&entries);
                free(x);
            }
    kith_context_free(context);
}

/* x used all over: where it is larger than a cache, entries ask for it ahead, to the last; where
 * each of its rows is used often and lies across two lines, it is copied. */
static void test_a_large_x_may_be_used_all_over(void **state)
{
    (void)state;
    static const struct {
        int64_t columns, entries;
    } sizes[] = {{600000, 40000}, {5000, 100000}};
    static const int choices[][2] = {{KITH_SPARSE_CSR, KITH_SPARSE_ROW_THREAD},
                                     {KITH_SPARSE_CSR, KITH_SPARSE_MERGE},
                                     {KITH_SPARSE_SELL, KITH_SPARSE_ROW_THREAD}};
    struct random_numbers numbers = random_numbers_begin("scattered");
    kith_context *context = cpu_context(2);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const int64_t columns = sizes[s].columns;
        double *x = calloc((size_t)columns * 8, sizeof *x);
        for (int64_t k = 0; k < 8 * columns; k++)
            x[k] = (double)(random_below(&numbers, 2001) - 1000) / 256;
        struct entries entries = entries_anywhere(&numbers, 2000, columns, sizes[s].entries);
        for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++) {
            const kith_sparse_options options = {.format = (kith_sparse_format)choices[c][0],
                                                 .kernel = (kith_sparse_kernel)choices[c][1]};
            kith_sparse *sparse = sparse_of(context, &options, KITH_F64, &entries);
            check(sparse, "scattered", &entries, KITH_F64, x, 0, 1, row_major, &numbers);
            check(sparse, "scattered", &entries, KITH_F64, x, 0, 8, row_major, &numbers);
            check(sparse, "scattered", &entries, KITH_F64, x, 0, 8, off_the_line, &numbers);
            kith_sparse_free(sparse);
        }
        free(x);
        entries_free(&entries);
    }
    kith_context_free(context);
}

/* Results of more than 8 MB, in each format with a kernel of its own. */
static void test_a_large_y_may_lie_anyhow(void **state)
{
    (void)state;
    enum { rows = 140003 };
    static const int choices[][2] = {{kind_anywhere, KITH_SPARSE_CSR},
                                     {kind_banded, KITH_SPARSE_DIA},
                                     {kind_symmetric, KITH_SPARSE_DIA},
                                     {kind_blocks, KITH_SPARSE_BSR}};
    struct random_numbers numbers = random_numbers_begin("large y");
    kith_context *context = cpu_context(2);
    double *x = calloc((size_t)rows * 16, sizeof *x);
    for (int64_t k = 0; k < 16 * rows; k++)
        x[k] = (double)(random_below(&numbers, 2001) - 1000) / 256;
    for (size_t c = 0; c < sizeof choices / sizeof choices[0]; c++) {
        const kith_sparse_options options = {.format = (kith_sparse_format)choices[c][1]};
        struct entries entries = make(&numbers, choices[c][0], rows, rows);
        for (int d = 0; d < 2; d++) {
            const kith_dtype dtype = d ? KITH_F32 : KITH_F64;
            kith_sparse *sparse = sparse_of(context, &options, dtype, &entries);
            static const int layouts[] = {row_major, between_lines, off_the_line, column_major};
            for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++)
                check(sparse, "large y", &entries, dtype, x, 0, d ? 16 : 8, layouts[k], &numbers);
            kith_sparse_free(sparse);
        }
        entries_free(&entries);
    }
    free(x);
    kith_context_free(context);
}

static void test_all_numbers_of_threads_give_the_same_vectors(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("threads");
    struct entries entries = make(&numbers, kind_banded, 30011, 30011);
    double *x = calloc((size_t)entries.columns * 8, sizeof *x), *first = NULL;
    for (int64_t k = 0; k < 8 * entries.columns; k++)
        x[k] = random_uniform(&numbers, -1, 1);
    for (int32_t threads = 1; threads <= 4; threads++) {
        kith_context *context = cpu_context(threads);
        kith_sparse *sparse = sparse_of(context, NULL, KITH_F64, &entries);
        double *y = calloc((size_t)entries.rows * 8, sizeof *y);
        for (int k = 0; k < 3; k++)
            assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1,
                                           kith_array_matrix(x, KITH_F64, entries.columns, 8), 0,
                                           kith_array_matrix(y, KITH_F64, entries.rows, 8)));
        if (first)
            assert_memory_equal(first, y, (size_t)entries.rows * 8 * sizeof *y);
        kith_sparse_free(sparse);
        kith_context_free(context);
        if (first)
            free(y);
        else
            first = y;
    }
    free(first);
    free(x);
    entries_free(&entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_may_lie_anyhow),
        cmocka_unit_test(test_a_large_x_may_be_used_all_over),
        cmocka_unit_test(test_a_large_y_may_lie_anyhow),
        cmocka_unit_test(test_all_numbers_of_threads_give_the_same_vectors),
    };
    return cmocka_run_group_tests_name("sparse_vectors", tests, NULL, NULL);
}
