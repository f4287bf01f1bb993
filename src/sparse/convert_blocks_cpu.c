/* Dense blocks, with an index for each block. */
#include <stddef.h>

#include "core/memory.h"
#include "sparse/convert_cpu.h"

/* Indices fit in 32 bits, and size is a constant where this is inlined: no slow divisions. */
#define INLINE static inline __attribute__((always_inline))

INLINE int64_t block_of(const struct sparse_csr *csr, int64_t k, int64_t size)
{
    return (int64_t)((uint32_t)csr->column[k] / (uint32_t)size);
}

/* The first block that a row of blocks has after the entries `at`, of each of its rows. */
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

enum { block_rows_a_task = 4096 };

/* block_start[i + 1] becomes the number of blocks of row i. */
static void count_some(void *argument, int64_t task)
{
    const struct sparse_matrix *matrix = argument;
    const struct sparse_bsr *bsr = &matrix->bsr;
    const int64_t begin = task * block_rows_a_task;
    for (int64_t i = begin; i < begin + block_rows_a_task && i < bsr->block_rows; i++)
        bsr->block_start[i + 1] = do_block_row(&matrix->csr, i, bsr->size, 0, NULL, NULL);
}

static void fill_some(void *argument, int64_t task)
{
    const struct sparse_matrix *matrix = argument;
    const struct sparse_bsr *bsr = &matrix->bsr;
    const int64_t begin = task * block_rows_a_task;
    for (int64_t i = begin; i < begin + block_rows_a_task && i < bsr->block_rows; i++)
        do_block_row(&matrix->csr, i, bsr->size, bsr->block_start[i], bsr->block_column,
                     bsr->value);
}

kith_status sparse_to_bsr(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_bsr *bsr = &matrix->bsr;
    const int64_t size = matrix->plan.block;
    *bsr = (struct sparse_bsr){.size = (int32_t)size, .block_rows = (csr->rows + size - 1) / size};
    KITH_TRY(sparse_take(matrix, bsr->block_rows + 1, sizeof *bsr->block_start, "blocks",
                         &bsr->block_start));
    KITH_TRY(sparse_for_units(context, matrix, bsr->block_rows, block_rows_a_task, count_some));
    for (int64_t i = 0; i < bsr->block_rows; i++)
        bsr->block_start[i + 1] += bsr->block_start[i];
    bsr->blocks = bsr->block_start[bsr->block_rows];
    KITH_TRY(
        sparse_take(matrix, bsr->blocks, sizeof *bsr->block_column, "blocks", &bsr->block_column));
    KITH_TRY(sparse_take(matrix, bsr->blocks * size * size, kith_dtype_bytes(csr->dtype), "blocks",
                         &bsr->value));
    KITH_TRY(sparse_for_units(context, matrix, bsr->block_rows, block_rows_a_task, fill_some));
    matrix->plan.bytes =
        8 * bsr->block_rows + bsr->blocks * (4 + size * size * kith_dtype_bytes(csr->dtype));
    return sparse_cut(matrix, bsr->block_rows, bsr->block_start);
}
