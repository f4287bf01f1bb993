/* Several vectors at once: an entry meets a line of 64 bytes of x, which holds them side by side.
 */

enum {
    NAME(chunk) = sparse_chunk_bytes / sizeof(REAL),
    NAME(chunk_vectors) = sparse_chunk_bytes / SIMD_BYTES
};

/* The sums of a row for a chunk of the vectors; an entry's line is asked for ahead. */
SIMD_INLINE void NAME(sum_chunk)(const struct sparse_work *work, int64_t row, int64_t first,
                                 REAL *sums)
{
    const struct sparse_csr *csr = &work->product->matrix->csr;
    const REAL *x = (const REAL *)work->x + first, *value = csr->value;
    VREAL sum[NAME(chunk_vectors)] = {0};
    for (int64_t k = csr->row_start[row]; k < csr->row_start[row + 1]; k++) {
        const REAL *line = x + csr->column[k] * work->stride;
        __builtin_prefetch(x + csr->column[k + NAME(ahead)] * work->stride);
        SIMD_UNROLL
        for (int v = 0; v < NAME(chunk_vectors); v++)
            sum[v] = simd_fma(simd_all(value[k]), simd_load(line + v * NAME(lanes)), sum[v]);
    }
    SIMD_UNROLL
    for (int v = 0; v < NAME(chunk_vectors); v++)
        simd_store(sums + v * NAME(lanes), sum[v]);
}

/* y = α sums + β y of a row's vectors from `first` on. */
SIMD_INLINE void NAME(put_chunk)(const struct sparse_product *product, int64_t row, int64_t first,
                                 const REAL *sums)
{
    const int64_t step = product->y_stride[1], left = product->vectors - first;
    const REAL alpha = (REAL)product->alpha, beta = (REAL)product->beta;
    REAL *y = NAME(result)(product, row) + first * step;
    if (step == 1 && left >= NAME(chunk)) {
        SIMD_UNROLL
        for (int v = 0; v < NAME(chunk_vectors); v++) {
            const VREAL value = simd_all(alpha) * simd_load(sums + v * NAME(lanes));
            REAL *to = y + v * NAME(lanes);
            simd_store(to,
                       product->beta == 0 ? value : simd_fma(simd_all(beta), simd_load(to), value));
        }
        return;
    }
    for (int64_t k = 0; k < NAME(chunk) && k < left; k++) {
        const REAL value = alpha * sums[k];
        y[k * step] = product->beta == 0 ? value : FMA(beta, y[k * step], value);
    }
}

static void NAME(csr_vectors)(const struct sparse_work *work, int64_t task)
{
    const struct sparse_product *product = work->product;
    const struct sparse_csr *csr = &product->matrix->csr;
    const int64_t begin = task * work->rows_a_task;
    const int64_t end =
        begin + work->rows_a_task < csr->rows ? begin + work->rows_a_task : csr->rows;
    for (int64_t i = begin; i < end; i++)
        for (int64_t first = 0; first < product->vectors; first += NAME(chunk)) {
            REAL sums[NAME(chunk)];
            NAME(sum_chunk)(work, i, first, sums);
            NAME(put_chunk)(product, i, first, sums);
        }
}
