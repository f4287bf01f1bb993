/* Compressed rows into the format of a plan, on the host. */
#include "sparse/convert_cpu.h"

#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "sparse/merge_path.h"
#include "sparse/sparse_cpu.h"

/* Rows and entries a piece, together: some ten microseconds of work. */
enum { piece_items = 16384 };

/* Of a task of a conversion: groups of rows that share the base of their columns, rows. */
enum { groups_a_task = 256, rows_a_task = 16384 };

/* To move an entry; decides how many threads to wake. */
static const double seconds_an_entry = 1e-9;

kith_status sparse_take(struct sparse_matrix *matrix, int64_t count, int64_t bytes_each,
                        const char *what, void *memory)
{
    void *made = NULL;
    KITH_TRY(kith_allocate(count + sparse_slack, bytes_each, what, &made));
    matrix->memory[matrix->allocations++] = made;
    memcpy(memory, &made, sizeof made);
    return KITH_OK;
}

kith_status sparse_for_units(kith_context *context, struct sparse_matrix *matrix, int64_t units,
                             int64_t units_a_task, kith_task *task)
{
    const double seconds = seconds_an_entry * (double)(matrix->csr.nonzeros + matrix->csr.rows);
    return kith_for_each(context, kith_threads_for(context, seconds),
                         (units + units_a_task - 1) / units_a_task, task, matrix);
}

kith_status sparse_cut(struct sparse_matrix *matrix, int64_t units, const int64_t *start)
{
    const int64_t most = (units + start[units]) / piece_items + 1;
    KITH_TRY(sparse_take(matrix, most + 1, sizeof *matrix->piece, "the pieces", &matrix->piece));
    int64_t pieces = 0, begin = 0;
    for (int64_t i = 0; i < units; i++)
        if (i - begin + start[i] - start[begin] >= piece_items) {
            matrix->piece[++pieces] = (struct sparse_piece){i, start[i]};
            begin = i;
        }
    matrix->piece[++pieces] = (struct sparse_piece){units, start[units]};
    matrix->pieces = pieces;
    return KITH_OK;
}

/* Where the path that merges the ends of rows with the entries crosses a diagonal (Merrill &
 * Garland 2016): rows that end before, and entries. */
static struct sparse_piece merge_at(const struct sparse_csr *csr, int64_t diagonal)
{
    const int64_t row = sparse_merge_row(csr->row_start + 1, csr->rows, csr->nonzeros, diagonal);
    return (struct sparse_piece){row, diagonal - row};
}

static kith_status cut_merged(struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    const int64_t items = csr->rows + csr->nonzeros;
    matrix->pieces = items / piece_items + 1;
    KITH_TRY(sparse_take(matrix, matrix->pieces + 1, sizeof *matrix->piece, "the pieces",
                         &matrix->piece));
    for (int64_t p = 0; p < matrix->pieces; p++)
        matrix->piece[p] = merge_at(csr, p * piece_items);
    matrix->piece[matrix->pieces] = (struct sparse_piece){csr->rows, csr->nonzeros};
    return KITH_OK;
}

kith_status sparse_cut_entries(struct sparse_matrix *matrix, const struct sparse_coo *coo)
{
    matrix->pieces = coo->count / piece_items + 1;
    KITH_TRY(sparse_take(matrix, matrix->pieces + 1, sizeof *matrix->piece, "the pieces",
                         &matrix->piece));
    for (int64_t p = 1; p < matrix->pieces; p++)
        matrix->piece[p] = (struct sparse_piece){coo->row[p * piece_items], p * piece_items};
    matrix->piece[matrix->pieces] = (struct sparse_piece){matrix->csr.rows, coo->count};
    return KITH_OK;
}

/* Columns minus the smallest of each group of rows. */
static void narrow_some(void *argument, int64_t task)
{
    const struct sparse_matrix *matrix = argument;
    const struct sparse_csr *csr = &matrix->csr;
    const struct sparse_index *index = &matrix->packed.index;
    const int64_t group = (int64_t)1 << sparse_base_shift;
    for (int64_t g = task * groups_a_task; g < (task + 1) * groups_a_task; g++) {
        const int64_t first = g * group,
                      end = first + group < csr->rows ? first + group : csr->rows;
        if (first >= csr->rows)
            return;
        int32_t base = INT32_MAX;
        for (int64_t i = first; i < end; i++)
            if (csr->row_start[i] < csr->row_start[i + 1] && csr->column[csr->row_start[i]] < base)
                base = csr->column[csr->row_start[i]];
        index->base[g] = base == INT32_MAX ? 0 : base;
        for (int64_t k = csr->row_start[first]; k < csr->row_start[end]; k++)
            ((uint16_t *)index->index)[k] = (uint16_t)(csr->column[k] - base);
    }
}

static kith_status narrow_columns(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_index *index = &matrix->packed.index;
    const int64_t groups = csr->rows / (1 << sparse_base_shift) + 1;
    KITH_TRY(sparse_take(matrix, groups, sizeof *index->base, "columns", &index->base));
    KITH_TRY(sparse_take(matrix, csr->nonzeros, sizeof(uint16_t), "columns", &index->index));
    return sparse_for_units(context, matrix, groups, groups_a_task, narrow_some);
}

/* Starts of 32 bits, for the kernel that reads nothing else of short rows. */
static kith_status narrow_starts(struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    int32_t *start = NULL;
    KITH_TRY(sparse_take(matrix, csr->rows + 1, sizeof *start, "the rows' starts", &start));
    for (int64_t i = 0; i <= csr->rows; i++)
        start[i] = (int32_t)csr->row_start[i];
    matrix->packed.row_start = start;
    matrix->packed.start_bytes = sizeof *start;
    return KITH_OK;
}

static kith_status to_packed(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    matrix->packed = (struct sparse_packed_csr){
        .start_bytes = sizeof *csr->row_start,
        .row_start = csr->row_start,
        .index = {.bytes = matrix->plan.index_bytes, .index = csr->column},
        .value = csr->value,
    };
    if (matrix->plan.index_bytes == 2)
        KITH_TRY(narrow_columns(context, matrix));
    if (matrix->plan.kernel == KITH_SPARSE_ROW_THREAD &&
        sparse_start_bytes(csr->nonzeros) == (int32_t)sizeof(int32_t))
        KITH_TRY(narrow_starts(matrix));
    return matrix->plan.kernel == KITH_SPARSE_MERGE ? cut_merged(matrix)
                                                    : sparse_cut(matrix, csr->rows, csr->row_start);
}

static void number_some_rows(void *argument, int64_t task)
{
    const struct sparse_matrix *matrix = argument;
    const struct sparse_csr *csr = &matrix->csr;
    for (int64_t i = task * rows_a_task; i < (task + 1) * rows_a_task && i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++)
            matrix->coo.row[k] = (int32_t)i;
}

static kith_status to_coo(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    matrix->coo = (struct sparse_coo){csr->nonzeros, NULL, csr->column, csr->value};
    KITH_TRY(sparse_take(matrix, csr->nonzeros, sizeof *matrix->coo.row, "the entries' rows",
                         &matrix->coo.row));
    KITH_TRY(sparse_for_units(context, matrix, csr->rows, rows_a_task, number_some_rows));
    return sparse_cut_entries(matrix, &matrix->coo);
}

kith_status sparse_convert_cpu(kith_context *context, const struct sparse_statistics *statistics,
                               struct sparse_matrix *matrix)
{
    matrix->lines_per_entry = statistics->lines_per_entry;
    matrix->near_lines_per_entry = statistics->near_lines_per_entry;
    switch (matrix->plan.format) {
    case KITH_SPARSE_CSR:
        return to_packed(context, matrix);
    case KITH_SPARSE_COO:
        return to_coo(context, matrix);
    case KITH_SPARSE_ELL:
        return sparse_to_ell(context, matrix);
    case KITH_SPARSE_HYBRID:
        return sparse_to_hybrid(context, matrix);
    case KITH_SPARSE_SELL:
        return sparse_to_sell(context, matrix);
    case KITH_SPARSE_BSR:
        return sparse_to_bsr(context, matrix);
    case KITH_SPARSE_DIA:
        return sparse_to_dia(context, matrix);
    default:
        return kith_fail(KITH_INTERNAL_ERROR, "a plan has format %d", (int)matrix->plan.format);
    }
}
