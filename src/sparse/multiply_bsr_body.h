/* Dense blocks: each of its rows has a sum for each of its columns, so that no two additions wait
 * for each other. */

/* A block row; at the right edge blocks may stand out of the matrix. */
SIMD_INLINE void NAME(sum_block_row)(const int size, const struct sparse_work *work, int64_t row,
                                     REAL *sums)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const struct sparse_bsr *bsr = &matrix->bsr;
    const REAL *all = work->x;
    REAL sum[4][4] = {{0}};
    for (int64_t b = bsr->block_start[row]; b < bsr->block_start[row + 1]; b++) {
        const int64_t column = (int64_t)size * bsr->block_column[b];
        const REAL *value = (const REAL *)bsr->value + b * size * size;
        REAL edge[4] = {0};
        const REAL *x = all + column;
        if (__builtin_expect(column + size > matrix->csr.columns, 0)) {
            for (int64_t c = 0; column + c < matrix->csr.columns; c++)
                edge[c] = x[c];
            x = edge;
        }
        SIMD_UNROLL
        for (int r = 0; r < size; r++)
            SIMD_UNROLL
        for (int c = 0; c < size; c++)
            sum[r][c] = FMA(value[r * size + c], x[c], sum[r][c]);
    }
    SIMD_UNROLL
    for (int r = 0; r < size; r++) {
        sums[r] = 0;
        SIMD_UNROLL
        for (int c = 0; c < size; c++)
            sums[r] += sum[r][c];
    }
}

SIMD_INLINE void NAME(bsr_rows)(const int size, const struct sparse_work *work, int64_t task)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    for (int64_t i = matrix->piece[task].row; i < matrix->piece[task + 1].row; i++) {
        REAL sums[4];
        NAME(sum_block_row)(size, work, i, sums);
        const int64_t row = i * size, left = matrix->csr.rows - row;
        for (int64_t r = 0; r < size && r < left; r++)
            NAME(put)
        (work->product, row + r,
         sums[r] != sums[r] ? NAME(exact_sum)(work, row + r, INT64_MAX) : sums[r]);
    }
}

#define DEFINE_BSR(size)                                                                           \
    static void NAME(bsr_##size)(const struct sparse_work *work, int64_t task)                     \
    {                                                                                              \
        NAME(bsr_rows)(size, work, task);                                                          \
    }

DEFINE_BSR(2)
DEFINE_BSR(3)
DEFINE_BSR(4)
#undef DEFINE_BSR
