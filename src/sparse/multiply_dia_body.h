/* Diagonals: a vector of rows reads a vector of x. */

enum { tile_rows = kith_padding, tile_vectors = kith_padding / REAL_LANES };

/* Adds value[r] · x[r] to rows r of a tile, those whose column is in the matrix: low ≤ r < high. */
SIMD_INLINE void add_diagonal(const REAL *value, const REAL *x, int64_t low, int64_t high,
                              VREAL *sum)
{
    if (low <= 0 && high >= tile_rows) {
        SIMD_UNROLL
        for (int v = 0; v < tile_vectors; v++)
            sum[v] =
                simd_fma(simd_load(value + v * REAL_LANES), simd_load(x + v * REAL_LANES), sum[v]);
        return;
    }
    REAL some[tile_rows];
    for (int v = 0; v < tile_vectors; v++)
        simd_store(some + v * REAL_LANES, sum[v]);
    for (int64_t r = low > 0 ? low : 0; r < high && r < tile_rows; r++)
        some[r] = FMA(value[r], x[r], some[r]);
    for (int v = 0; v < tile_vectors; v++)
        sum[v] = simd_load(some + v * REAL_LANES);
}

SIMD_INLINE void put_tile(const struct sparse_work *work, int64_t row, int64_t end,
                          const VREAL *sum)
{
    REAL sums[tile_rows];
    VREAL all = sum[0];
    for (int v = 0; v < tile_vectors; v++) {
        simd_store(sums + v * REAL_LANES, sum[v]);
        all = v > 0 ? all + sum[v] : all;
    }
    put_filled(work, row, end - row < tile_rows ? end - row : tile_rows, sums,
               OF_REAL(has_nan)(all), INT64_MAX);
}

/* A tile whose columns are all in the matrix; its values lie one after the other. */
SIMD_INLINE void sum_inner_tile(const struct sparse_dia *dia, const REAL *value, const REAL *x,
                                VREAL *sum)
{
    VREAL own[tile_vectors] = {0};
    for (int64_t d = 0; d < dia->diagonals; d++) {
        const REAL *of_diagonal = value + d * tile_rows, *from = x + dia->offset[d];
        SIMD_UNROLL
        for (int v = 0; v < tile_vectors; v++)
            own[v] = simd_fma(simd_load(of_diagonal + v * REAL_LANES),
                              simd_load(from + v * REAL_LANES), own[v]);
    }
    SIMD_UNROLL
    for (int v = 0; v < tile_vectors; v++)
        sum[v] = own[v];
}

SIMD_INLINE void sum_edge_tile(const struct sparse_matrix *matrix, const REAL *value, const REAL *x,
                               int64_t row, VREAL *sum)
{
    for (int64_t d = 0; d < matrix->dia.diagonals; d++) {
        const int64_t column = row + matrix->dia.offset[d];
        const int64_t high = matrix->csr.columns - column;
        if (high > 0 && column > -tile_rows)
            add_diagonal(value + d * tile_rows, x + column, -column, high, sum);
    }
}

static void dia_tiles(const struct sparse_work *work, int64_t task)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const struct sparse_dia *dia = &matrix->dia;
    const int64_t begin = task * work->rows_a_task, rows = matrix->csr.rows;
    const int64_t end = begin + work->rows_a_task < rows ? begin + work->rows_a_task : rows;
    if (dia->diagonals == 0) {
        for (int64_t i = begin; i < end; i++)
            put(work->product, i, 0);
        return;
    }
    const int64_t low = -dia->offset[0];
    const int64_t high = matrix->csr.columns - tile_rows - dia->offset[dia->diagonals - 1];
    const REAL *x = work->x;
    for (int64_t i = begin; i < end; i += tile_rows) {
        const REAL *value = (const REAL *)dia->value + i * dia->diagonals;
        VREAL sum[tile_vectors] = {0};
        if (i >= low && i <= high)
            sum_inner_tile(dia, value, x + i, sum);
        else
            sum_edge_tile(matrix, value, x, i, sum);
        put_tile(work, i, end, sum);
    }
}

/* Diagonal d above, and its mirror image below: A(i, i − offset) = A(i − offset, i). */
static void dia_symmetric(const struct sparse_work *work, int64_t task)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const struct sparse_dia *dia = &matrix->dia;
    const int64_t begin = task * work->rows_a_task, rows = matrix->csr.rows;
    const int64_t end = begin + work->rows_a_task < rows ? begin + work->rows_a_task : rows;
    const REAL *x = work->x;
    for (int64_t i = begin; i < end; i += tile_rows) {
        VREAL sum[tile_vectors] = {0};
        for (int64_t d = dia->diagonals - 1; d >= 0; d--) {
            const int64_t offset = dia->offset[d];
            const REAL *value = (const REAL *)dia->value + d * dia->stride + i;
            if (offset > 0 && i - offset > -tile_rows)
                add_diagonal(value - offset, x + i - offset, offset - i, rows - i + offset, sum);
        }
        for (int64_t d = 0; d < dia->diagonals; d++) {
            const int64_t offset = dia->offset[d];
            const REAL *value = (const REAL *)dia->value + d * dia->stride + i;
            if (i + offset < rows)
                add_diagonal(value, x + i + offset, 0, rows - i - offset, sum);
        }
        put_tile(work, i, end, sum);
    }
}
