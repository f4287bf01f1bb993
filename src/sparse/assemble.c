/* From a caller's entries to compressed rows, on the host. */
#include "sparse/assemble.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/threads.h"
#include "sparse/sort_rows.h"

kith_status sparse_csr_allocate(int64_t rows, int64_t columns, int64_t nonzeros, kith_dtype dtype,
                                struct sparse_csr *made)
{
    *made =
        (struct sparse_csr){.rows = rows, .columns = columns, .nonzeros = nonzeros, .dtype = dtype};
    KITH_TRY(kith_allocate(rows + 1 + sparse_slack, sizeof *made->row_start, "the rows' starts",
                           &made->row_start));
    KITH_TRY(kith_allocate(nonzeros + sparse_slack, sizeof *made->column, "the entries' columns",
                           &made->column));
    return kith_allocate(nonzeros + sparse_slack, kith_dtype_bytes(dtype), "the entries' values",
                         &made->value);
}

void sparse_csr_release(struct sparse_csr *csr)
{
    free(csr->row_start);
    free(csr->column);
    free(csr->value);
    *csr = (struct sparse_csr){0};
}

static int64_t index_at(kith_array array, int64_t k)
{
    const int64_t at = k * array.strides[0];
    return array.dtype == KITH_I32 ? ((const int32_t *)array.data)[at]
                                   : ((const int64_t *)array.data)[at];
}

/* Element `at` becomes the value of entry k. */
static void copy_value(const struct sparse_entries *entries, int64_t k, struct sparse_csr *made,
                       int64_t at)
{
    const kith_array value = entries->value;
    const bool none = kith_array_is_none(value);
    const int64_t from = none ? 0 : k * value.strides[0];
    if (made->dtype == KITH_F64)
        ((double *)made->value)[at] = none ? 1 : ((const double *)value.data)[from];
    else
        ((float *)made->value)[at] = none ? 1 : ((const float *)value.data)[from];
}

static kith_status fail_index(const char *name, int64_t k, int64_t index, int64_t count,
                              int32_t base)
{
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s[%lld] is %lld, outside a matrix of %lld; give %d to %lld, or set "
                     "index_base to %d",
                     name, (long long)k, (long long)index, (long long)count, (int)base,
                     (long long)(count - 1 + base), 1 - (int)base);
}

/* The number of entries of each row, at row_start[row + 1]; and every index is checked. */
static kith_status count_rows(const kith_context *context, const struct sparse_entries *entries,
                              struct sparse_csr *made)
{
    const int32_t base = entries->index_base;
    for (int64_t k = 0; k < entries->count; k++) {
        KITH_TRY(kith_context_check_iteration(context, k));
        const int64_t row = index_at(entries->row, k), column = index_at(entries->column, k);
        if (row < base || row - base >= entries->rows)
            return fail_index("row", k, row, entries->rows, base);
        if (column < base || column - base >= entries->columns)
            return fail_index("column", k, column, entries->columns, base);
        made->row_start[row - base + 1]++;
    }
    return KITH_OK;
}

/* Entries to their rows, in the caller's order. row_start[i + 1] moves from the start of row i to
 * its end, which is the start of the next row. */
static kith_status distribute(const kith_context *context, const struct sparse_entries *entries,
                              struct sparse_csr *made)
{
    int64_t *next = made->row_start + 1, start = 0;
    for (int64_t i = 0; i < entries->rows; i++) {
        const int64_t length = next[i];
        next[i] = start;
        start += length;
    }
    for (int64_t k = 0; k < entries->count; k++) {
        KITH_TRY(kith_context_check_iteration(context, k));
        const int64_t at = next[index_at(entries->row, k) - entries->index_base]++;
        made->column[at] = (int32_t)(index_at(entries->column, k) - entries->index_base);
        copy_value(entries, k, made, at);
    }
    return KITH_OK;
}

static kith_status assemble_coo(const kith_context *context, const struct sparse_entries *entries,
                                struct sparse_csr *made)
{
    KITH_TRY(count_rows(context, entries, made));
    return distribute(context, entries, made);
}

static kith_status check_row_start(const struct sparse_entries *entries)
{
    const int32_t base = entries->index_base;
    int64_t before = base;
    for (int64_t i = 0; i <= entries->rows; i++) {
        const int64_t start = index_at(entries->row_start, i);
        if (start < before || (i == 0 && start != base))
            return kith_fail(
                KITH_INVALID_ARGUMENT,
                "row_start[%lld] is %lld; give nondecreasing starts, the first of them %d",
                (long long)i, (long long)start, (int)base);
        before = start;
    }
    if (before - base != entries->count)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "row_start ends at %lld and there are %lld columns; end it at %lld",
                         (long long)before, (long long)entries->count,
                         (long long)entries->count + base);
    return KITH_OK;
}

static kith_status assemble_csr(const kith_context *context, const struct sparse_entries *entries,
                                struct sparse_csr *made)
{
    const int32_t base = entries->index_base;
    KITH_TRY(check_row_start(entries));
    for (int64_t i = 0; i <= entries->rows; i++)
        made->row_start[i] = index_at(entries->row_start, i) - base;
    for (int64_t k = 0; k < entries->count; k++) {
        KITH_TRY(kith_context_check_iteration(context, k));
        const int64_t column = index_at(entries->column, k);
        if (column < base || column - base >= entries->columns)
            return fail_index("column", k, column, entries->columns, base);
        made->column[k] = (int32_t)(column - base);
        copy_value(entries, k, made, k);
    }
    return KITH_OK;
}

kith_status sparse_assemble_cpu(kith_context *context, const struct sparse_entries *entries,
                                struct sparse_csr *made)
{
    KITH_TRY(
        sparse_csr_allocate(entries->rows, entries->columns, entries->count, entries->dtype, made));
    KITH_TRY(kith_array_is_none(entries->row_start) ? assemble_coo(context, entries, made)
                                                    : assemble_csr(context, entries, made));
    return sparse_sort_rows(context, made);
}

kith_status sparse_assemble_dense(kith_context *context, kith_array matrix, struct sparse_csr *made)
{
    const int64_t rows = matrix.shape[0], columns = matrix.shape[1];
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < rows; i++) {
        KITH_TRY(kith_context_check_cancelled(context));
        for (int64_t j = 0; j < columns; j++)
            nonzeros += array_get(matrix, i, j) != 0;
    }
    KITH_TRY(sparse_csr_allocate(rows, columns, nonzeros, matrix.dtype, made));

    int64_t at = 0;
    for (int64_t i = 0; i < rows; i++) {
        KITH_TRY(kith_context_check_cancelled(context));
        for (int64_t j = 0; j < columns; j++) {
            const double value = array_get(matrix, i, j);
            if (value == 0)
                continue;
            made->column[at] = (int32_t)j;
            real_set(matrix.dtype, made->value, at++, value);
        }
        made->row_start[i + 1] = at;
    }
    return KITH_OK;
}
