/* Multiple right-hand sides with blocks and diagonals: as many rows as have their sums in
 * registers. */

SIMD_INLINE void clear(const int rows, VREAL sum[][chunk_vectors])
{
    SIMD_UNROLL
    for (int k = 0; k < rows * chunk_vectors; k++)
        sum[k / chunk_vectors][k % chunk_vectors] = (VREAL){0};
}

/* A block row: each line of x meets a column of the block. */
SIMD_INLINE void block_row_vectors(const int size, const struct sparse_work *work, int64_t row,
                                   int64_t first)
{
    enum { blocks_ahead = 16 };
    const struct sparse_matrix *matrix = work->product->matrix;
    const struct sparse_bsr *bsr = &matrix->bsr;
    const REAL *x = (const REAL *)work->x + first;
    const int64_t columns = matrix->csr.columns, stride = work->stride;
    VREAL sum[4][chunk_vectors];
    clear(size, sum);
    for (int64_t b = bsr->block_start[row]; b < bsr->block_start[row + 1]; b++) {
        const REAL *value = (const REAL *)bsr->value + b * size * size;
        const int64_t column = (int64_t)size * bsr->block_column[b];
        const int64_t later = (int64_t)size * bsr->block_column[b + blocks_ahead];
        SIMD_UNROLL
        for (int c = 0; c < size; c++) {
            ask_for(x + (later + c) * stride);
            if (__builtin_expect(column + c >= columns, 0))
                continue;
            SIMD_UNROLL
            for (int r = 0; r < size; r++)
                add_line(value[r * size + c], x + (column + c) * stride, sum[r]);
        }
    }
    SIMD_UNROLL
    for (int r = 0; r < size; r++)
        if (row * size + r < matrix->csr.rows)
            put_filled_chunk(work, row * size + r, first, sum[r]);
}

#define DEFINE_BSR_VECTORS(size)                                                                   \
    static void bsr_vectors_##size(const struct sparse_work *work, int64_t task)                   \
    {                                                                                              \
        const struct sparse_matrix *matrix = work->product->matrix;                                \
        for (int64_t i = matrix->piece[task].row; i < matrix->piece[task + 1].row; i++)            \
            for (int64_t first = 0; first < work->product->vectors; first += chunk)                \
                block_row_vectors(size, work, i, first);                                           \
        if (work->streams)                                                                         \
            end_streaming();                                                                       \
    }

DEFINE_BSR_VECTORS(2)
DEFINE_BSR_VECTORS(3)
DEFINE_BSR_VECTORS(4)
#undef DEFINE_BSR_VECTORS

/* A diagonal's values from one row on meet the lines of x from their column on. */
SIMD_INLINE void add_lines(const REAL *value, const REAL *x, int64_t stride,
                           VREAL sum[][chunk_vectors])
{
    SIMD_UNROLL
    for (int64_t r = 0; r < rows_at_once; r++)
        add_line(value[r], x + r * stride, sum[r]);
}

/* The last diagonal is where rows of x are met for the first time: they are prefetched some rows
 * ahead. Of Poisson 160³ in double 35 ms instead of 43, both with y past the caches. */
SIMD_INLINE void ask_for_rows(const REAL *x, int64_t stride)
{
    enum { rows_ahead = 32 };
    SIMD_UNROLL
    for (int64_t r = 0; r < rows_at_once; r++)
        ask_for(x + (rows_ahead + r) * stride);
}

/* Rows whose columns on all diagonals are in the matrix; of symmetric ones the mirror images come
 * first, so that columns ascend. */
SIMD_INLINE void diagonal_vectors(const struct sparse_work *work, int64_t row, int64_t first)
{
    const struct sparse_dia *dia = &work->product->matrix->dia;
    const int64_t stride = work->stride, diagonals = dia->diagonals, tile = dia->tile;
    const int64_t *offset = dia->offset;
    const REAL *x = (const REAL *)work->x + row * stride + first;
    const REAL *value = (const REAL *)dia->value + row / tile * tile * diagonals + row % tile;
    VREAL sum[rows_at_once][chunk_vectors];
    clear(rows_at_once, sum);
    if (diagonals > 0)
        ask_for_rows(x + offset[diagonals - 1] * stride, stride);
    if (dia->symmetric)
        for (int64_t d = diagonals - 1; d >= 0 && offset[d] > 0; d--)
            add_lines(value + d * tile - offset[d], x - offset[d] * stride, stride, sum);
    for (int64_t d = 0; d < diagonals; d++) {
        if (!dia->symmetric) /* the next tile: nothing else foresees this many short rows */
            ask_for(value + (diagonals + d) * tile);
        add_lines(value + d * tile, x + offset[d] * stride, stride, sum);
    }
    SIMD_UNROLL
    for (int64_t r = 0; r < rows_at_once; r++)
        put_filled_chunk(work, row + r, first, sum[r]);
}

/* The rows at the edges are taken from the compressed rows. */
static void dia_vectors(const struct sparse_work *work, int64_t task)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const struct sparse_dia *dia = &matrix->dia;
    const int64_t rows = matrix->csr.rows, begin = task * work->rows_a_task;
    const int64_t end = begin + work->rows_a_task < rows ? begin + work->rows_a_task : rows;
    const int64_t most = dia->diagonals > 0 ? dia->offset[dia->diagonals - 1] : 0;
    const int64_t least = dia->diagonals == 0 ? 0 : dia->symmetric ? -most : dia->offset[0];
    for (int64_t i = begin; i < end;) {
        const bool inside = i >= -least && i + rows_at_once <= matrix->csr.columns - most &&
                            i + rows_at_once <= end && i % rows_at_once == 0;
        for (int64_t first = 0; first < work->product->vectors; first += chunk)
            if (inside)
                diagonal_vectors(work, i, first);
            else
                csr_chunk(work, i, first);
        i += inside ? rows_at_once : 1;
    }
    if (work->streams)
        end_streaming();
}
