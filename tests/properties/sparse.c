/* Sparse matrices in every format and kernel. */

#include "property.h"

#include <unistd.h>

#include "sparse_matrices.h"

static struct entries any_entries(struct property *p)
{
    const int64_t rows = any_size(p, 300), columns = chance(p, 0.5) ? rows : any_size(p, 300);
    const int64_t count = rows * columns > 0 ? whole(p, 0, 8 * (rows + columns)) : 0;
    const int64_t band = chance(p, 0.4) ? whole(p, 1, 4) : 0;
    struct entries made = entries_create(rows, columns, count);
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = whole(p, 0, rows - 1);
        const int64_t j = band ? i - band + whole(p, 0, 2 * band) : whole(p, 0, columns - 1);
        if (j >= 0 && j < columns)
            entries_add(&made, &p->random, i, j);
    }
    return made;
}

static double *any_numbers(struct property *p, int64_t count)
{
    double *values = case_memory((size_t)(count + 1) * sizeof *values);
    for (int64_t k = 0; k < count; k++)
        values[k] = (double)whole(p, -64, 64) / 64;
    return values;
}

static kith_array laid_numbers(struct property *p, kith_dtype dtype, const double *values,
                               int64_t rows, int64_t vectors, struct laid_array *laid)
{
    *laid = any_layout(p, dtype, vectors == 1 ? 1 : 2, rows, vectors);
    for (int64_t i = 0; laid->array.data && i < rows; i++)
        for (int64_t v = 0; v < vectors; v++)
            array_put(laid->array, i, v, values[i * vectors + v]);
    return laid->array;
}

static void *dense_copy(kith_array array, int64_t vectors)
{
    void *copy = case_memory((size_t)(array.shape[0] * vectors + 1) * sizeof(double));
    for (int64_t i = 0; array.data && i < array.shape[0]; i++)
        for (int64_t v = 0; v < vectors; v++)
            set_element(copy, array.dtype, i * vectors + v, array_get(array, i, v));
    return copy;
}

/* NULL if this pair of format and kernel does not exist. */
static kith_sparse *create(kith_context *context, const kith_sparse_options *options,
                           kith_dtype dtype, const struct entries *entries)
{
    kith_sparse *sparse = NULL;
    void *value = numbers_as(dtype, entries->value, entries->count);
    const kith_status status =
        counted(kith_sparse_create_coo(context, options, entries->rows, entries->columns,
                                       kith_array_vector(entries->row, KITH_I64, entries->count),
                                       kith_array_vector(entries->column, KITH_I64, entries->count),
                                       kith_array_vector(value, dtype, entries->count), &sparse));
    free(value);
    if (status != KITH_OK && status != KITH_UNSUPPORTED)
        fail_msg("%s", kith_error_message());
    return sparse;
}

void products_are_those_of_the_entries(struct property *p)
{
    struct entries entries = any_entries(p);
    const kith_dtype dtype = any_real(p);
    const kith_sparse_options options = {
        .format = (kith_sparse_format)whole(p, 0, KITH_SPARSE_DIA),
        .kernel = chance(p, 0.7) ? KITH_SPARSE_KERNEL_AUTO : (kith_sparse_kernel)whole(p, 1, 4),
        .block = chance(p, 0.5) ? 0 : (int32_t)whole(p, 2, 4)};
    const bool transposed = chance(p, 0.4);
    const int64_t rows = transposed ? entries.columns : entries.rows, vectors = whole(p, 1, 5);
    const int64_t columns = transposed ? entries.rows : entries.columns;
    const kith_sparse_operation operation = transposed ? KITH_SPARSE_TRANSPOSED : KITH_SPARSE_AS_IS;
    const double alpha = (double)whole(p, -4, 4),
                 beta = chance(p, 0.5) ? 0 : (double)whole(p, -2, 2);
    const double *x = any_numbers(p, columns * vectors), *y = any_numbers(p, rows * vectors);
    void *first = NULL;
    for (int turn = 0; turn < 2; turn++) {
        struct laid_array laid, laid_x;
        kith_sparse *sparse = create(turn ? p->other : p->context, &options, dtype, &entries);
        if (!sparse)
            break;
        const kith_array to = laid_numbers(p, dtype, y, rows, vectors, &laid);
        const kith_array from = laid_numbers(p, dtype, x, columns, vectors, &laid_x);
        assert_ok(counted(kith_sparse_multiply(sparse, operation, alpha, from, beta, to)));
        assert_gaps_untouched(&laid);
        void *found = dense_copy(to, vectors);
        check_product("a product", &entries, transposed, alpha, x, beta, y, found, dtype, vectors);
        if (turn)
            assert_memory_equal(found, first, (size_t)(rows * vectors * kith_dtype_bytes(dtype)));
        first = found;
        kith_sparse_free(sparse);
    }
    entries_free(&entries);
}

/* The compressed rows of a matrix. */
struct rows {
    int64_t *start;
    int32_t *column;
    double *value;
    int64_t count;
};

static struct rows rows_of(kith_sparse *sparse)
{
    struct rows rows;
    kith_sparse_info info;
    assert_ok(counted(kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info)));
    assert_int_equal(info.dtype, KITH_F64);
    rows.count = info.nonzeros;
    rows.start = case_memory((size_t)(info.rows + 1) * sizeof *rows.start);
    rows.column = case_memory((size_t)(info.nonzeros + 1) * sizeof *rows.column);
    rows.value = case_memory((size_t)(info.nonzeros + 1) * sizeof *rows.value);
    assert_ok(counted(kith_sparse_copy_csr(sparse, rows.start, rows.column, rows.value)));
    return rows;
}

static void assert_same_rows(kith_sparse *sparse, const struct rows *expected, int64_t rows)
{
    const struct rows found = rows_of(sparse);
    assert_int_equal(found.count, expected->count);
    assert_memory_equal(found.start, expected->start, (size_t)(rows + 1) * sizeof *found.start);
    if (found.count > 0) {
        assert_memory_equal(found.column, expected->column,
                            (size_t)found.count * sizeof *found.column);
        assert_memory_equal(found.value, expected->value,
                            (size_t)found.count * sizeof *found.value);
    }
    kith_sparse_free(sparse);
}

/* From entries, from compressed rows and from a file. */
void matrices_are_the_same_from_any_source(struct property *p)
{
    struct entries entries = any_entries(p);
    const kith_sparse_options from_one = {.index_base = 1};
    kith_sparse *sparse = create(p->context, NULL, KITH_F64, &entries), *again = NULL;
    const struct rows rows = rows_of(sparse);
    char path[64];
    snprintf(path, sizeof path, "property-%d.mtx", (int)getpid());
    assert_ok(counted(kith_sparse_write(sparse, path)));
    assert_ok(counted(kith_sparse_read(p->other, NULL, path, &again)));
    remove(path);
    assert_same_rows(again, &rows, entries.rows);

    for (int64_t i = 0; i <= entries.rows; i++)
        rows.start[i]++;
    for (int64_t k = 0; k < rows.count; k++)
        rows.column[k]++;
    assert_ok(counted(
        kith_sparse_create_csr(p->other, &from_one, entries.columns,
                               kith_array_vector(rows.start, KITH_I64, entries.rows + 1),
                               kith_array_vector(rows.column, KITH_I32, rows.count),
                               kith_array_vector(rows.value, KITH_F64, rows.count), &again)));
    for (int64_t i = 0; i <= entries.rows; i++)
        rows.start[i]--;
    for (int64_t k = 0; k < rows.count; k++)
        rows.column[k]--;
    assert_same_rows(again, &rows, entries.rows);
    kith_sparse_free(sparse);
    entries_free(&entries);
}
