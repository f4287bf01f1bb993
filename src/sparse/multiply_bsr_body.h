/* Dense blocks: a row of a block is a quad of four numbers, of which `size` count; what follows it
 * in memory meets what follows in x, in lanes that are left out of the sum. */

/* The next four numbers of x; at the right edge those in the matrix, then zeros. */
SIMD_INLINE void NAME(load_part)(const REAL *x, int64_t left, NAME(quad) * part)
{
    if (__builtin_expect(left >= 4, 1)) {
        memcpy(part, x, sizeof *part);
        return;
    }
    *part = (NAME(quad)){0};
    for (int64_t c = 0; c < left; c++)
        (*part)[c] = x[c];
}

/* Sums of a block row. Only its last blocks can be at the edge. */
SIMD_INLINE void NAME(sum_block_row)(const int size, const struct sparse_work *work, int64_t row,
                                     REAL *sums)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const struct sparse_bsr *bsr = &matrix->bsr;
    const REAL *x = work->x;
    const int64_t end = bsr->block_start[row + 1], columns = matrix->csr.columns;
    NAME(quad) sum[4] = {{0}};
    for (int64_t b = bsr->block_start[row]; b < end; b++) {
        const int64_t column = (int64_t)size * bsr->block_column[b];
        const REAL *value = (const REAL *)bsr->value + b * size * size;
        NAME(quad) part;
        NAME(load_part)(x + column, columns - column, &part);
        SIMD_UNROLL
        for (int r = 0; r < size; r++)
            NAME(add_quad)(value + r * size, &part, &sum[r]);
    }
    SIMD_UNROLL
    for (int r = 0; r < size; r++) {
        sums[r] = sum[r][0] + sum[r][1];
        SIMD_UNROLL
        for (int c = 2; c < size; c++)
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
