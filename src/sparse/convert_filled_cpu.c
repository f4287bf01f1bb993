/* Formats that fill up rows: the padding is a zero in a column that the row uses anyway. */
#include <stddef.h>

#include "core/memory.h"
#include "sparse/convert_cpu.h"

static int64_t length_of(const struct sparse_csr *csr, int64_t i)
{
    return csr->row_start[i + 1] - csr->row_start[i];
}

/* Of a task: rows, slices. */
enum { rows_a_task = 8192, slices_a_task = 256 };

/* Rows of plan->format's own ell. */
static void fill_some_rows(void *argument, int64_t task)
{
    const struct sparse_matrix *matrix = argument;
    const struct sparse_csr *csr = &matrix->csr;
    const struct sparse_ell *ell =
        matrix->plan.format == KITH_SPARSE_HYBRID ? &matrix->hybrid.ell : &matrix->ell;
    for (int64_t i = task * rows_a_task; i < (task + 1) * rows_a_task && i < csr->rows; i++) {
        const int64_t start = csr->row_start[i], length = length_of(csr, i);
        for (int64_t k = 0; k < ell->width && length > 0; k++) {
            const int64_t at = k * ell->stride + i;
            ell->column[at] = csr->column[start + (k < length ? k : length - 1)];
            if (k < length)
                sparse_copy_value(csr, start + k, ell->value, at);
        }
    }
}

static kith_status fill_ell(kith_context *context, struct sparse_matrix *matrix, int64_t width,
                            struct sparse_ell *ell)
{
    const struct sparse_csr *csr = &matrix->csr;
    *ell = (struct sparse_ell){.width = width, .stride = kith_padded(csr->rows)};
    KITH_TRY(
        sparse_take(matrix, width * ell->stride, sizeof *ell->column, "filled rows", &ell->column));
    KITH_TRY(sparse_take(matrix, width * ell->stride, kith_dtype_bytes(csr->dtype), "filled rows",
                         &ell->value));
    return sparse_for_units(context, matrix, csr->rows, rows_a_task, fill_some_rows);
}

static int64_t longest_row(const struct sparse_csr *csr)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < csr->rows; i++)
        longest = length_of(csr, i) > longest ? length_of(csr, i) : longest;
    return longest;
}

kith_status sparse_to_ell(kith_context *context, struct sparse_matrix *matrix)
{
    return fill_ell(context, matrix, longest_row(&matrix->csr), &matrix->ell);
}

/* What of each row is after the width. */
static kith_status take_rest(struct sparse_matrix *matrix, int64_t width, struct sparse_coo *coo)
{
    const struct sparse_csr *csr = &matrix->csr;
    *coo = (struct sparse_coo){0};
    for (int64_t i = 0; i < csr->rows; i++)
        coo->count += length_of(csr, i) > width ? length_of(csr, i) - width : 0;
    KITH_TRY(sparse_take(matrix, coo->count, sizeof *coo->row, "long rows", &coo->row));
    KITH_TRY(sparse_take(matrix, coo->count, sizeof *coo->column, "long rows", &coo->column));
    KITH_TRY(
        sparse_take(matrix, coo->count, kith_dtype_bytes(csr->dtype), "long rows", &coo->value));
    int64_t at = 0;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i] + width; k < csr->row_start[i + 1]; k++, at++) {
            coo->row[at] = (int32_t)i;
            coo->column[at] = csr->column[k];
            sparse_copy_value(csr, k, coo->value, at);
        }
    return sparse_cut_entries(matrix, coo);
}

kith_status sparse_to_hybrid(kith_context *context, struct sparse_matrix *matrix)
{
    const int64_t width = matrix->plan.width;
    KITH_TRY(fill_ell(context, matrix, width, &matrix->hybrid.ell));
    return take_rest(matrix, width, &matrix->hybrid.coo);
}

/* Rows of a window by descending length, equal ones in their order: those that are as long as
 * counted lengths go, or longer, one by one to the front, the others to places that are counted. */
static void sort_window(const struct sparse_csr *csr, int64_t first, int64_t count, int32_t *row)
{
    enum { counted = 256 };
    int64_t place[counted + 1] = {0}, front = 0;
    for (int64_t r = 0; r < count; r++)
        place[length_of(csr, first + r) < counted ? length_of(csr, first + r) : counted]++;
    for (int64_t length = counted, start = 0; length >= 0; length--) {
        const int64_t of_length = place[length];
        place[length] = start;
        start += of_length;
    }
    for (int64_t r = 0; r < count; r++) {
        const int64_t length = length_of(csr, first + r);
        if (length < counted) {
            row[place[length]++] = (int32_t)(first + r);
            continue;
        }
        int64_t at = front++;
        for (; at > 0 && length_of(csr, row[at - 1]) < length; at--)
            row[at] = row[at - 1];
        row[at] = (int32_t)(first + r);
    }
}

static void sort_some_windows(void *argument, int64_t task)
{
    const struct sparse_matrix *matrix = argument;
    const struct sparse_sell *sell = &matrix->sell;
    const int64_t first = task * sell->window, left = matrix->csr.rows - first;
    sort_window(&matrix->csr, first, left < sell->window ? left : sell->window, sell->row + first);
}

/* Rows by descending length in each window; −1 after the last. */
static kith_status sort_windows(kith_context *context, struct sparse_matrix *matrix,
                                struct sparse_sell *sell)
{
    const struct sparse_csr *csr = &matrix->csr;
    KITH_TRY(sparse_take(matrix, sell->slices * sell->height, sizeof *sell->row, "sorted rows",
                         &sell->row));
    KITH_TRY(sparse_for_units(context, matrix, csr->rows, sell->window, sort_some_windows));
    for (int64_t r = csr->rows; r < sell->slices * sell->height; r++)
        sell->row[r] = -1;
    return KITH_OK;
}

static int64_t row_of(const struct sparse_csr *csr, const struct sparse_sell *sell, int64_t at)
{
    if (sell->row)
        return sell->row[at];
    return at < csr->rows ? at : -1;
}

static kith_status place_slices(struct sparse_matrix *matrix, struct sparse_sell *sell)
{
    const struct sparse_csr *csr = &matrix->csr;
    KITH_TRY(sparse_take(matrix, sell->slices + 1, sizeof *sell->slice_start, "slices",
                         &sell->slice_start));
    for (int64_t s = 0; s < sell->slices; s++) {
        int64_t longest = 0;
        for (int64_t r = 0; r < sell->height; r++) {
            const int64_t row = row_of(csr, sell, s * sell->height + r);
            if (row >= 0 && length_of(csr, row) > longest)
                longest = length_of(csr, row);
        }
        sell->slice_start[s + 1] = sell->slice_start[s] + longest * sell->height;
    }
    return KITH_OK;
}

/* The smallest column of a slice's rows. */
static int32_t slice_base(const struct sparse_csr *csr, const struct sparse_sell *sell, int64_t s)
{
    int32_t base = INT32_MAX;
    for (int64_t r = 0; r < sell->height; r++) {
        const int64_t row = row_of(csr, sell, s * sell->height + r);
        if (row >= 0 && length_of(csr, row) > 0 && csr->column[csr->row_start[row]] < base)
            base = csr->column[csr->row_start[row]];
    }
    return base == INT32_MAX ? 0 : base;
}

static void fill_slice(const struct sparse_csr *csr, struct sparse_sell *sell, int64_t s)
{
    const int64_t start = sell->slice_start[s], height = sell->height;
    const int64_t width = (sell->slice_start[s + 1] - start) / height;
    const int32_t base = sell->index.bytes == 2 ? slice_base(csr, sell, s) : 0;
    if (sell->index.bytes == 2)
        sell->index.base[s] = base;
    for (int64_t r = 0; r < height; r++) {
        const int64_t row = row_of(csr, sell, s * height + r);
        const int64_t length = row >= 0 ? length_of(csr, row) : 0;
        for (int64_t k = 0; k < width && length > 0; k++) {
            const int64_t from = csr->row_start[row] + (k < length ? k : length - 1);
            const int64_t at = start + k * height + r;
            if (sell->index.bytes == 2)
                ((uint16_t *)sell->index.index)[at] = (uint16_t)(csr->column[from] - base);
            else
                ((int32_t *)sell->index.index)[at] = csr->column[from];
            if (k < length)
                sparse_copy_value(csr, from, sell->value, at);
        }
    }
}

static void fill_some_slices(void *argument, int64_t task)
{
    struct sparse_matrix *matrix = argument;
    struct sparse_sell *sell = &matrix->sell;
    for (int64_t s = task * slices_a_task; s < (task + 1) * slices_a_task && s < sell->slices; s++)
        fill_slice(&matrix->csr, sell, s);
}

kith_status sparse_to_sell(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    const struct sparse_plan *plan = &matrix->plan;
    struct sparse_sell *sell = &matrix->sell;
    *sell = (struct sparse_sell){.height = plan->height,
                                 .window = plan->window,
                                 .slices = (csr->rows + plan->height - 1) / plan->height,
                                 .index = {.bytes = plan->index_bytes}};
    if (sell->window > 1)
        KITH_TRY(sort_windows(context, matrix, sell));
    KITH_TRY(place_slices(matrix, sell));
    const int64_t slots = sell->slice_start[sell->slices];
    KITH_TRY(sparse_take(matrix, slots, sell->index.bytes, "slices", &sell->index.index));
    KITH_TRY(sparse_take(matrix, slots, kith_dtype_bytes(csr->dtype), "slices", &sell->value));
    if (sell->index.bytes == 2)
        KITH_TRY(sparse_take(matrix, sell->slices, sizeof *sell->index.base, "slices",
                             &sell->index.base));
    KITH_TRY(sparse_for_units(context, matrix, sell->slices, slices_a_task, fill_some_slices));
    return sparse_cut(matrix, sell->slices, sell->slice_start);
}
