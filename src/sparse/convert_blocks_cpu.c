/* Formats that know where entries are without an index for each: blocks and diagonals. */
#include <stddef.h>
#include <stdlib.h>

#include "core/memory.h"
#include "sparse/convert_cpu.h"

/* Indices fit in 32 bits, and size is a constant where this is inlined: no slow divisions. */
#define INLINE static inline __attribute__((always_inline))

INLINE int64_t block_of(const struct sparse_csr *csr, int64_t k, int64_t size)
{
    return (int64_t)((uint32_t)csr->column[k] / (uint32_t)size);
}

/* The first block that a row of blocks has behind the entries `at`, of each of its rows. */
INLINE int64_t next_block(const struct sparse_csr *csr, int64_t first, int64_t size,
                          const int64_t *at)
{
    int64_t next = INT64_MAX;
    for (int64_t r = 0; r < size && first + r < csr->rows; r++)
        if (at[r] < csr->row_start[first + r + 1] && block_of(csr, at[r], size) < next)
            next = block_of(csr, at[r], size);
    return next;
}

/* Passes over a block's entries; copies them into value, where a block is size × size, if that is
 * not NULL. */
INLINE void pass_block(const struct sparse_csr *csr, int64_t first, int64_t size, int64_t block,
                       int64_t *at, void *value, int64_t place)
{
    for (int64_t r = 0; r < size && first + r < csr->rows; r++)
        for (; at[r] < csr->row_start[first + r + 1] && csr->column[at[r]] < (block + 1) * size;
             at[r]++)
            if (value)
                sparse_copy_value(csr, at[r], value,
                                  (place * size + r) * size + csr->column[at[r]] - block * size);
}

INLINE int64_t do_blocks(const struct sparse_csr *csr, int64_t block_row, int64_t size,
                         int64_t place, int32_t *column, void *value)
{
    const int64_t first = block_row * size;
    int64_t at[4] = {0}, blocks = 0;
    for (int64_t r = 0; r < size && first + r < csr->rows; r++)
        at[r] = csr->row_start[first + r];
    for (;; blocks++) {
        const int64_t block = next_block(csr, first, size, at);
        if (block == INT64_MAX)
            return blocks;
        if (column)
            column[place + blocks] = (int32_t)block;
        pass_block(csr, first, size, block, at, value, place + blocks);
    }
}

/* The blocks of a row of blocks, counted, and stored if column and value are there. */
static int64_t do_block_row(const struct sparse_csr *csr, int64_t block_row, int64_t size,
                            int64_t place, int32_t *column, void *value)
{
    switch (size) {
    case 2:
        return do_blocks(csr, block_row, 2, place, column, value);
    case 3:
        return do_blocks(csr, block_row, 3, place, column, value);
    default:
        return do_blocks(csr, block_row, 4, place, column, value);
    }
}

kith_status sparse_to_bsr(struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_bsr *bsr = &matrix->bsr;
    const int64_t size = matrix->plan.block;
    *bsr = (struct sparse_bsr){.size = (int32_t)size, .block_rows = (csr->rows + size - 1) / size};
    KITH_TRY(sparse_take(matrix, bsr->block_rows + 1, sizeof *bsr->block_start, "blocks",
                         &bsr->block_start));
    for (int64_t i = 0; i < bsr->block_rows; i++)
        bsr->block_start[i + 1] = bsr->block_start[i] + do_block_row(csr, i, size, 0, NULL, NULL);
    bsr->blocks = bsr->block_start[bsr->block_rows];
    KITH_TRY(
        sparse_take(matrix, bsr->blocks, sizeof *bsr->block_column, "blocks", &bsr->block_column));
    KITH_TRY(sparse_take(matrix, bsr->blocks * size * size, kith_dtype_bytes(csr->dtype), "blocks",
                         &bsr->value));
    for (int64_t i = 0; i < bsr->block_rows; i++)
        do_block_row(csr, i, size, bsr->block_start[i], bsr->block_column, bsr->value);
    matrix->plan.bytes =
        8 * bsr->block_rows + bsr->blocks * (4 + size * size * kith_dtype_bytes(csr->dtype));
    return sparse_cut(matrix, bsr->block_rows, bsr->block_start);
}

/* Numbers the diagonals that have entries: place[column − row + rows] becomes the diagonal, or −1.
 */
static kith_status find_diagonals(struct sparse_matrix *matrix, struct sparse_dia *dia,
                                  int32_t *place)
{
    const struct sparse_csr *csr = &matrix->csr;
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++)
            place[csr->column[k] - i + csr->rows] = 1;
    const int64_t first = dia->symmetric ? csr->rows : 0;
    for (int64_t p = first; p < csr->rows + csr->columns; p++)
        dia->diagonals += place[p];
    KITH_TRY(sparse_take(matrix, dia->diagonals, sizeof *dia->offset, "diagonals", &dia->offset));
    for (int64_t p = 0, d = 0; p < csr->rows + csr->columns; p++) {
        const bool stored = place[p] && p >= first;
        if (stored)
            dia->offset[d] = p - csr->rows;
        place[p] = stored ? (int32_t)d++ : -1;
    }
    return KITH_OK;
}

static kith_status fill_diagonals(struct sparse_matrix *matrix, struct sparse_dia *dia,
                                  const int32_t *place)
{
    const struct sparse_csr *csr = &matrix->csr;
    KITH_TRY(sparse_take(matrix, dia->diagonals * dia->stride, kith_dtype_bytes(csr->dtype),
                         "diagonals", &dia->value));
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            const int64_t d = place[csr->column[k] - i + csr->rows];
            if (d >= 0)
                sparse_copy_value(csr, k, dia->value,
                                  (i / dia->tile * dia->diagonals + d) * dia->tile + i % dia->tile);
        }
    return KITH_OK;
}

kith_status sparse_to_dia(struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    const int64_t stride = kith_padded(csr->rows);
    int32_t *place = NULL;
    KITH_TRY(kith_allocate(csr->rows + csr->columns + 1, sizeof *place, "finding the diagonals",
                           &place));
    matrix->dia = (struct sparse_dia){.symmetric = matrix->plan.symmetric,
                                      .stride = stride,
                                      .tile = matrix->plan.symmetric ? stride : kith_padding};
    kith_status status = find_diagonals(matrix, &matrix->dia, place);
    if (status == KITH_OK)
        status = fill_diagonals(matrix, &matrix->dia, place);
    free(place);
    matrix->plan.bytes = matrix->dia.diagonals * csr->rows * kith_dtype_bytes(csr->dtype);
    return status;
}
