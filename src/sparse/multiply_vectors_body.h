/* Multiple right-hand sides: an entry meets a line of 64 bytes of x, which holds them side by side.
 * Here compressed rows, and what becomes of the sums. */

enum {
    chunk = sparse_chunk_bytes / sizeof(REAL),
    chunk_vectors = sparse_chunk_bytes / SIMD_BYTES,
    rows_at_once = 8 / chunk_vectors /* whose sums stay in registers */
};

/* sums += value · the line. */
SIMD_INLINE void add_line(REAL value, const REAL *line, VREAL *sum)
{
    SIMD_UNROLL
    for (int v = 0; v < chunk_vectors; v++)
        sum[v] = simd_fma(simd_all(value), simd_load(line + v * REAL_LANES), sum[v]);
}

/* y = α sums + β y of a row's vectors from `first` on. */
SIMD_INLINE void put_chunk(const struct sparse_work *work, int64_t row, int64_t first,
                           const VREAL *sum)
{
    const struct sparse_product *product = work->product;
    const int64_t step = product->y_stride[1], left = product->vectors - first;
    const VREAL alpha = simd_all((REAL)product->alpha), beta = simd_all((REAL)product->beta);
    REAL *y = result(product, row) + first * step;
    if (work->streams) {
        VREAL made[chunk_vectors];
        SIMD_UNROLL
        for (int v = 0; v < chunk_vectors; v++)
            made[v] = alpha * sum[v];
        if ((uintptr_t)y % stored_line == 0)
            stream_copy_of_line((char *)y, (const char *)made);
        else
            stream_copy_off_the_line((char *)y, (const char *)made);
        return;
    }
    if (step == 1 && left >= chunk) {
        SIMD_UNROLL
        for (int v = 0; v < chunk_vectors; v++) {
            REAL *to = y + v * REAL_LANES;
            simd_store(to, product->beta == 0 ? alpha * sum[v]
                                              : simd_fma(beta, simd_load(to), alpha * sum[v]));
        }
        return;
    }
    REAL sums[chunk];
    SIMD_UNROLL
    for (int v = 0; v < chunk_vectors; v++)
        simd_store(sums + v * REAL_LANES, alpha * sum[v]);
    for (int64_t k = 0; k < chunk && k < left; k++)
        y[k * step] = product->beta == 0 ? sums[k] : FMA((REAL)product->beta, y[k * step], sums[k]);
}

/* The sums of a row for a chunk of the vectors, every second entry apart. */
#define DEFINE_CSR_VECTORS(suffix, place)                                                          \
    SIMD_INLINE void sum_chunk##suffix(const REAL *x, int64_t stride, const place *index,          \
                                       const REAL *value, int64_t begin, int64_t end,              \
                                       bool prefetch, VREAL *sum)                                  \
    {                                                                                              \
        VREAL sums[2][chunk_vectors] = {{{0}}};                                                    \
        int64_t k = begin;                                                                         \
        for (; k + 2 <= end; k += 2) {                                                             \
            SIMD_UNROLL                                                                            \
            for (int64_t l = 0; l < 2; l++) {                                                      \
                if (prefetch)                                                                      \
                    ask_for(x + index[k + l + ahead] * stride);                                    \
                add_line(value[k + l], x + index[k + l] * stride, sums[l]);                        \
            }                                                                                      \
        }                                                                                          \
        if (k < end) {                                                                             \
            if (prefetch)                                                                          \
                ask_for(x + index[k + ahead] * stride);                                            \
            add_line(value[k], x + index[k] * stride, sums[0]);                                    \
        }                                                                                          \
        SIMD_UNROLL                                                                                \
        for (int v = 0; v < chunk_vectors; v++)                                                    \
            sum[v] = sums[0][v] + sums[1][v];                                                      \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE void csr_chunks##suffix(const struct sparse_work *work, const place *index,        \
                                        int64_t task, bool prefetch)                               \
    {                                                                                              \
        const struct sparse_csr *csr = &work->product->matrix->csr;                                \
        const int32_t *base = work->product->matrix->packed.index.base;                            \
        const int64_t begin = task * work->rows_a_task;                                            \
        const int64_t end =                                                                        \
            begin + work->rows_a_task < csr->rows ? begin + work->rows_a_task : csr->rows;         \
        for (int64_t i = begin; i < end; i++) {                                                    \
            const REAL *x =                                                                        \
                (const REAL *)work->x +                                                            \
                (sizeof(place) == 2 ? base[i >> sparse_base_shift] * work->stride : 0);            \
            for (int64_t first = 0; first < work->product->vectors; first += chunk) {              \
                VREAL sum[chunk_vectors];                                                          \
                sum_chunk##suffix(x + first, work->stride, index, csr->value, csr->row_start[i],   \
                                  csr->row_start[i + 1], prefetch, sum);                           \
                put_chunk(work, i, first, sum);                                                    \
            }                                                                                      \
        }                                                                                          \
        if (work->streams)                                                                         \
            end_streaming();                                                                       \
    }

DEFINE_CSR_VECTORS(, int32_t)
DEFINE_CSR_VECTORS(_16, uint16_t)
#undef DEFINE_CSR_VECTORS

static void csr_vectors(const struct sparse_work *work, int64_t task)
{
    if (work->scattered)
        csr_chunks(work, work->product->matrix->csr.column, task, true);
    else
        csr_chunks(work, work->product->matrix->csr.column, task, false);
}

static void csr_vectors_16(const struct sparse_work *work, int64_t task)
{
    csr_chunks_16(work, work->product->matrix->packed.index.index, task, false);
}

SIMD_INLINE void csr_chunk(const struct sparse_work *work, int64_t row, int64_t first)
{
    const struct sparse_csr *csr = &work->product->matrix->csr;
    VREAL sum[chunk_vectors];
    sum_chunk((const REAL *)work->x + first, work->stride, csr->column, csr->value,
              csr->row_start[row], csr->row_start[row + 1], false, sum);
    put_chunk(work, row, first, sum);
}

/* Stores a row that is padded: sums that are NaN may be so by the padding alone. */
SIMD_INLINE void put_filled_chunk(const struct sparse_work *work, int64_t row, int64_t first,
                                  const VREAL *sum)
{
    VREAL all = sum[0];
    SIMD_UNROLL
    for (int v = 1; v < chunk_vectors; v++)
        all += sum[v];
    if (__builtin_expect(OF_REAL(has_nan)(all), 0))
        csr_chunk(work, row, first);
    else
        put_chunk(work, row, first, sum);
}

/* Rows of x from the caller's, in tiles that stay near by, with zeros after the last vector. */
static void pack_vectors(const struct sparse_work *work, int64_t task)
{
    enum { tile = 64 };
    const struct sparse_product *product = work->product;
    const int64_t *step = product->x_stride, columns = product->matrix->csr.columns;
    const int64_t begin = task * work->rows_a_task;
    const int64_t end = begin + work->rows_a_task < columns ? begin + work->rows_a_task : columns;
    REAL *packed = work->packed;
    for (int64_t start = begin; start < end; start += tile)
        for (int64_t k = 0; k < work->stride; k++) {
            const REAL *x = (const REAL *)product->x + k * step[1];
            for (int64_t j = start; j < start + tile && j < end; j++)
                packed[j * work->stride + k] = k < product->vectors ? x[j * step[0]] : 0;
        }
}
