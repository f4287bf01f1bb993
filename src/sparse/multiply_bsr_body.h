/* Dense blocks: a row of a block is a quad of four numbers, of which `size` count; what follows it
 * in memory meets what follows in x, in lanes that are left out of the sum. */

/* The next four numbers of x; at the right edge those in the matrix, then zeros. */
SIMD_INLINE void load_part(const REAL *x, int64_t left, OF_REAL(quad) * part)
{
    if (__builtin_expect(left >= 4, 1)) {
        memcpy(part, x, sizeof *part);
        return;
    }
    *part = (OF_REAL(quad)){0};
    for (int64_t c = 0; c < left; c++)
        (*part)[c] = x[c];
}

/* Sums of a block row. Only its last blocks can be at the edge. */
SIMD_INLINE void sum_block_row(const int size, const struct sparse_work *work, int64_t row,
                               REAL *sums)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const struct sparse_bsr *bsr = &matrix->bsr;
    const REAL *x = work->x;
    const int64_t end = bsr->block_start[row + 1], columns = matrix->csr.columns;
    OF_REAL(quad) sum[4] = {{0}};
    for (int64_t b = bsr->block_start[row]; b < end; b++) {
        const int64_t column = (int64_t)size * bsr->block_column[b];
        const REAL *value = (const REAL *)bsr->value + b * size * size;
        OF_REAL(quad) part;
        load_part(x + column, columns - column, &part);
        SIMD_UNROLL
        for (int r = 0; r < size; r++)
            OF_REAL(add_quad)(value + r * size, &part, &sum[r]);
    }
    SIMD_UNROLL
    for (int r = 0; r < size; r++) {
        sums[r] = sum[r][0] + sum[r][1];
        SIMD_UNROLL
        for (int c = 2; c < size; c++)
            sums[r] += sum[r][c];
    }
}

SIMD_INLINE void bsr_rows(const int size, const struct sparse_work *work, int64_t task)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    for (int64_t i = matrix->piece[task].row; i < matrix->piece[task + 1].row; i++) {
        REAL sums[4];
        sum_block_row(size, work, i, sums);
        const int64_t row = i * size, left = matrix->csr.rows - row;
        for (int64_t r = 0; r < size && r < left; r++)
            put(work->product, row + r,
                sums[r] != sums[r] ? exact_sum(work, row + r, INT64_MAX) : sums[r]);
    }
}

#define DEFINE_BSR(size)                                                                           \
    static void bsr_##size(const struct sparse_work *work, int64_t task)                           \
    {                                                                                              \
        bsr_rows(size, work, task);                                                                \
    }

DEFINE_BSR(2)
DEFINE_BSR(3)
DEFINE_BSR(4)
#undef DEFINE_BSR
