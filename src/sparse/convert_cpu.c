/* Compressed rows into the format of a plan, on the host. */
#include "sparse/convert_cpu.h"

#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "sparse/sparse_cpu.h"

/* Rows and entries a piece, together: some ten microseconds of work. */
enum { piece_items = 16384 };

kith_status sparse_take(struct sparse_matrix *matrix, int64_t count, int64_t bytes_each,
                        const char *what, void *memory)
{
    void *made = NULL;
    KITH_TRY(kith_allocate(count + sparse_slack, bytes_each, what, &made));
    matrix->memory[matrix->allocations++] = made;
    memcpy(memory, &made, sizeof made);
    return KITH_OK;
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
    int64_t low = diagonal > csr->nonzeros ? diagonal - csr->nonzeros : 0;
    int64_t high = diagonal < csr->rows ? diagonal : csr->rows;
    while (low < high) {
        const int64_t row = low + (high - low) / 2;
        if (csr->row_start[row + 1] + row < diagonal)
            low = row + 1;
        else
            high = row;
    }
    return (struct sparse_piece){low, diagonal - low};
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

/* Columns less those of the first in each group of rows. */
static kith_status narrow_columns(struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_index *index = &matrix->packed.index;
    const int64_t group = (int64_t)1 << sparse_base_shift;
    KITH_TRY(
        sparse_take(matrix, csr->rows / group + 1, sizeof *index->base, "columns", &index->base));
    KITH_TRY(sparse_take(matrix, csr->nonzeros, sizeof(uint16_t), "columns", &index->index));
    for (int64_t first = 0; first < csr->rows; first += group) {
        const int64_t end = first + group < csr->rows ? first + group : csr->rows;
        int32_t base = INT32_MAX;
        for (int64_t i = first; i < end; i++)
            if (csr->row_start[i] < csr->row_start[i + 1] && csr->column[csr->row_start[i]] < base)
                base = csr->column[csr->row_start[i]];
        index->base[first / group] = base == INT32_MAX ? 0 : base;
        for (int64_t k = csr->row_start[first]; k < csr->row_start[end]; k++)
            ((uint16_t *)index->index)[k] = (uint16_t)(csr->column[k] - base);
    }
    return KITH_OK;
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

static kith_status to_packed(struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    matrix->packed = (struct sparse_packed_csr){
        .start_bytes = sizeof *csr->row_start,
        .row_start = csr->row_start,
        .index = {.bytes = matrix->plan.index_bytes, .index = csr->column},
        .value = csr->value,
    };
    if (matrix->plan.index_bytes == 2)
        KITH_TRY(narrow_columns(matrix));
    if (matrix->plan.kernel == KITH_SPARSE_ROW_THREAD &&
        sparse_start_bytes(csr->nonzeros) == (int32_t)sizeof(int32_t))
        KITH_TRY(narrow_starts(matrix));
    return matrix->plan.kernel == KITH_SPARSE_MERGE ? cut_merged(matrix)
                                                    : sparse_cut(matrix, csr->rows, csr->row_start);
}

static kith_status to_coo(struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    matrix->coo = (struct sparse_coo){csr->nonzeros, NULL, csr->column, csr->value};
    KITH_TRY(sparse_take(matrix, csr->nonzeros, sizeof *matrix->coo.row, "the entries' rows",
                         &matrix->coo.row));
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++)
            matrix->coo.row[k] = (int32_t)i;
    return sparse_cut_entries(matrix, &matrix->coo);
}

kith_status sparse_convert_cpu(kith_context *context, const struct sparse_statistics *statistics,
                               struct sparse_matrix *matrix)
{
    (void)context;
    matrix->lines_per_entry = statistics->lines_per_entry;
    switch (matrix->plan.format) {
    case KITH_SPARSE_CSR:
        return to_packed(matrix);
    case KITH_SPARSE_COO:
        return to_coo(matrix);
    case KITH_SPARSE_ELL:
        return sparse_to_ell(matrix);
    case KITH_SPARSE_HYBRID:
        return sparse_to_hybrid(matrix);
    case KITH_SPARSE_SELL:
        return sparse_to_sell(matrix);
    case KITH_SPARSE_BSR:
        return sparse_to_bsr(matrix);
    case KITH_SPARSE_DIA:
        return sparse_to_dia(matrix);
    default:
        return kith_fail(KITH_INTERNAL_ERROR, "a plan has format %d", (int)matrix->plan.format);
    }
}
