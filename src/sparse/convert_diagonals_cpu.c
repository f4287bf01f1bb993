/* Diagonals, which say where entries are without an index for each. */
#include <stddef.h>
#include <stdlib.h>

#include "core/memory.h"
#include "sparse/convert_cpu.h"
#include "sparse/diagonals.h"

/* Rows of a task: a multiple of the rows of a tile. */
enum { rows_a_task = 8192 };

static kith_status list_diagonals(struct sparse_matrix *matrix, const unsigned char *is_used)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_dia *dia = &matrix->dia;
    const int64_t first = dia->symmetric ? csr->rows : 0, end = csr->rows + csr->columns;
    for (int64_t p = first; p < end; p++)
        dia->diagonals += is_used[p];
    KITH_TRY(sparse_take(matrix, dia->diagonals, sizeof *dia->offset, "diagonals", &dia->offset));
    for (int64_t p = first, d = 0; p < end; p++)
        if (is_used[p])
            dia->offset[d++] = p - csr->rows;
    return KITH_OK;
}

/* Columns of a row ascend, and so do the diagonals that they are on. */
static void fill_some_rows(void *argument, int64_t task)
{
    const struct sparse_matrix *matrix = argument;
    const struct sparse_csr *csr = &matrix->csr;
    const struct sparse_dia *dia = &matrix->dia;
    const int64_t begin = task * rows_a_task, left = csr->rows - begin;
    const int64_t end = begin + (left < rows_a_task ? left : rows_a_task);
    for (int64_t i = begin; i < end; i++) {
        const int64_t of_row = i / dia->tile * dia->diagonals * dia->tile + i % dia->tile;
        int64_t d = 0;
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            const int64_t offset = csr->column[k] - i;
            if (dia->symmetric && offset < 0)
                continue;
            while (dia->offset[d] < offset)
                d++;
            sparse_copy_value(csr, k, dia->value, of_row + d * dia->tile);
        }
    }
}

static kith_status fill_diagonals(kith_context *context, struct sparse_matrix *matrix,
                                  const unsigned char *is_used)
{
    const struct sparse_csr *csr = &matrix->csr;
    KITH_TRY(list_diagonals(matrix, is_used));
    KITH_TRY(sparse_take(matrix, matrix->dia.diagonals * matrix->dia.stride,
                         kith_dtype_bytes(csr->dtype), "diagonals", &matrix->dia.value));
    return sparse_for_units(context, matrix, csr->rows, rows_a_task, fill_some_rows);
}

kith_status sparse_to_dia(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    const int64_t stride = kith_padded(csr->rows);
    unsigned char *is_used = NULL;
    KITH_TRY(sparse_mark_diagonals(context, csr, &is_used));
    matrix->dia = (struct sparse_dia){.symmetric = matrix->plan.symmetric,
                                      .stride = stride,
                                      .tile = matrix->plan.symmetric ? stride : kith_padding};
    const kith_status status = fill_diagonals(context, matrix, is_used);
    free(is_used);
    matrix->plan.bytes = matrix->dia.diagonals * stride * kith_dtype_bytes(csr->dtype);
    return status;
}
