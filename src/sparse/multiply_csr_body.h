/* Compressed rows and sorted entries: nothing is padded. */

/* What an entry needs of a large x is prefetched this many entries ahead, into the second level of
 * the cache: more lines can be in flight there than to the first. Zen 5, x of 4 to 32 MB, rows of 4
 * to 100 entries: 16 to 512 are within 5 %, but for 4 entries and 16 MB in single, 2.6 ms up to 64
 * and 2.15 from 128 on, and for 40 and 32 MB in double, 3.1 ms up to 256 and 3.5 with 512. */
enum { ahead = 256 };

SIMD_INLINE void ask_for(const REAL *x)
{
    __builtin_prefetch(x, 0, 2);
}

#define DEFINE_CSR(suffix, place, gather)                                                          \
    /* Entries begin … end − 1 of a row, in four sums. */                                      \
    SIMD_INLINE REAL dot##suffix(const REAL *x, const place *index, const REAL *value,             \
                                 int64_t begin, int64_t end, bool prefetch)                        \
    {                                                                                              \
        REAL sum[4] = {0};                                                                         \
        int64_t k = begin;                                                                         \
        if (end - begin < 4 && !prefetch) { /* without loops: short rows are mostly their ends */  \
            REAL few = begin < end ? value[k] * x[index[k]] : 0;                                   \
            if (begin + 1 < end)                                                                   \
                few = FMA(value[k + 1], x[index[k + 1]], few);                                     \
            if (begin + 2 < end)                                                                   \
                few = FMA(value[k + 2], x[index[k + 2]], few);                                     \
            return few;                                                                            \
        }                                                                                          \
        for (; k + 4 <= end; k += 4) {                                                             \
            SIMD_UNROLL                                                                            \
            for (int64_t l = 0; l < 4; l++) {                                                      \
                if (prefetch)                                                                      \
                    ask_for(x + index[k + l + ahead]);                                             \
                sum[l] = FMA(value[k + l], x[index[k + l]], sum[l]);                               \
            }                                                                                      \
        }                                                                                          \
        for (; k < end; k++) {                                                                     \
            if (prefetch)                                                                          \
                ask_for(x + index[k + ahead]);                                                     \
            sum[0] = FMA(value[k], x[index[k]], sum[0]);                                           \
        }                                                                                          \
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);                                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE const REAL *base##suffix(const struct sparse_work *work, int64_t row)              \
    {                                                                                              \
        const int32_t *base = work->product->matrix->packed.index.base;                            \
        return (const REAL *)work->x + (sizeof(place) == 2 ? base[row >> sparse_base_shift] : 0);  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE int64_t start##suffix(const struct sparse_packed_csr *packed, int64_t row,         \
                                      bool narrow)                                                 \
    {                                                                                              \
        return narrow ? ((const int32_t *)packed->row_start)[row]                                  \
                      : ((const int64_t *)packed->row_start)[row];                                 \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE void sum_rows##suffix(const struct sparse_work *work, int64_t task, bool narrow,   \
                                      bool prefetch)                                               \
    {                                                                                              \
        const struct sparse_product product = *work->product; /* which y does not overlap */       \
        const struct sparse_matrix *matrix = product.matrix;                                       \
        const struct sparse_packed_csr *packed = &matrix->packed;                                  \
        for (int64_t i = matrix->piece[task].row; i < matrix->piece[task + 1].row; i++)            \
            put(&product, i,                                                                       \
                dot##suffix(base##suffix(work, i), packed->index.index, packed->value,             \
                            start##suffix(packed, i, narrow),                                      \
                            start##suffix(packed, i + 1, narrow), prefetch));                      \
    }                                                                                              \
                                                                                                   \
    static void csr_rows##suffix(const struct sparse_work *work, int64_t task)                     \
    {                                                                                              \
        const bool narrow = work->product->matrix->packed.start_bytes == 4;                        \
        const bool prefetch = work->scattered && sizeof(place) == 4;                               \
        if (narrow && prefetch)                                                                    \
            sum_rows##suffix(work, task, true, true);                                              \
        else if (narrow)                                                                           \
            sum_rows##suffix(work, task, true, false);                                             \
        else if (prefetch)                                                                         \
            sum_rows##suffix(work, task, false, true);                                             \
        else                                                                                       \
            sum_rows##suffix(work, task, false, false);                                            \
    }                                                                                              \
                                                                                                   \
    /* A row by vectors along it; what is left over one after the other. */                        \
    SIMD_INLINE REAL dot_lanes##suffix(const REAL *x, const place *index, const REAL *value,       \
                                       int64_t begin, int64_t end)                                 \
    {                                                                                              \
        VREAL sums[REAL_LANES] = {0};                                                              \
        REAL rest = 0;                                                                             \
        int64_t k = begin;                                                                         \
        for (; k + 2 * REAL_LANES <= end; k += 2 * REAL_LANES) {                                   \
            sums[0] = simd_fma(simd_load(value + k), OF_REAL(gather)(x, index + k), sums[0]);      \
            sums[1] = simd_fma(simd_load(value + k + REAL_LANES),                                  \
                               OF_REAL(gather)(x, index + k + REAL_LANES), sums[1]);               \
        }                                                                                          \
        for (; k + REAL_LANES <= end; k += REAL_LANES)                                             \
            sums[0] = simd_fma(simd_load(value + k), OF_REAL(gather)(x, index + k), sums[0]);      \
        for (; k < end; k++)                                                                       \
            rest = FMA(value[k], x[index[k]], rest);                                               \
        const VREAL sum = sums[0] + sums[1];                                                       \
        REAL lane[REAL_LANES];                                                                     \
        simd_store(lane, sum);                                                                     \
        SIMD_UNROLL                                                                                \
        for (int width = REAL_LANES / 2; width > 0; width /= 2)                                    \
            for (int l = 0; l < width; l++)                                                        \
                lane[l] += lane[l + width];                                                        \
        return lane[0] + rest;                                                                     \
    }                                                                                              \
                                                                                                   \
    static void csr_lanes##suffix(const struct sparse_work *work, int64_t task)                    \
    {                                                                                              \
        const struct sparse_matrix *matrix = work->product->matrix;                                \
        const int64_t *start = matrix->csr.row_start;                                              \
        const place *index = matrix->packed.index.index;                                           \
        for (int64_t i = matrix->piece[task].row; i < matrix->piece[task + 1].row; i++)            \
            put(work->product, i,                                                                  \
                dot_lanes##suffix(base##suffix(work, i), index, matrix->packed.value, start[i],    \
                                  start[i + 1]));                                                  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE REAL dot_part##suffix(const struct sparse_work *work, int64_t row, int64_t begin,  \
                                      int64_t end)                                                 \
    {                                                                                              \
        const struct sparse_packed_csr *packed = &work->product->matrix->packed;                   \
        const REAL *x = base##suffix(work, row);                                                   \
        if (work->scattered && sizeof(place) == 4)                                                 \
            return dot##suffix(x, packed->index.index, packed->value, begin, end, true);           \
        return dot_lanes##suffix(x, packed->index.index, packed->value, begin, end);               \
    }                                                                                              \
                                                                                                   \
    /* The rows that end in a piece; the first may have begun before it, and what comes after the  \
     * last belongs to the next piece's first. */                                                  \
    static void csr_merge##suffix(const struct sparse_work *work, int64_t task)                    \
    {                                                                                              \
        const struct sparse_matrix *matrix = work->product->matrix;                                \
        const int64_t *start = matrix->csr.row_start;                                              \
        const struct sparse_piece from = matrix->piece[task], to = matrix->piece[task + 1];        \
        int64_t k = from.entry;                                                                    \
        for (int64_t i = from.row; i < to.row; k = start[++i]) {                                   \
            const REAL sum = dot_part##suffix(work, i, k, start[i + 1]);                           \
            if (i == from.row)                                                                     \
                work->head[task] = (double)sum;                                                    \
            else                                                                                   \
                put(work->product, i, sum);                                                        \
        }                                                                                          \
        work->tail[task] = 0;                                                                      \
        if (k < to.entry)                                                                          \
            work->tail[task] = (double)dot_part##suffix(work, to.row, k, to.entry);                \
    }

DEFINE_CSR(, int32_t, gather_int32)
DEFINE_CSR(_16, uint16_t, gather_uint16)
#undef DEFINE_CSR

/* A row's sum is there, from all its pieces. */
static void finish_piece(const struct sparse_work *work, int64_t task)
{
    put(work->product, work->product->matrix->piece[task].row, (REAL)work->head[task]);
}

/* The entries of a row from *k on, in four sums where there are as many. */
SIMD_INLINE REAL sum_entries(const struct sparse_coo *coo, const REAL *x, int64_t row, int64_t end,
                             int64_t *k)
{
    const REAL *value = coo->value;
    REAL sum[4] = {0};
    int64_t at = *k;
    for (; at + 4 <= end && coo->row[at + 3] == row && coo->row[at] == row; at += 4) {
        SIMD_UNROLL
        for (int64_t l = 0; l < 4; l++)
            sum[l] = FMA(value[at + l], x[coo->column[at + l]], sum[l]);
    }
    for (; at < end && coo->row[at] == row; at++)
        sum[0] = FMA(value[at], x[coo->column[at]], sum[0]);
    *k = at;
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* As csr_merge, but the entries say which row they are in. If the sums add to y, rows without
 * entries stay as they are, and so do the first and last row's parts until finish. */
static void coo_entries(const struct sparse_work *work, int64_t task)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const bool hybrid = matrix->plan.format == KITH_SPARSE_HYBRID;
    const struct sparse_coo *coo = hybrid ? &matrix->hybrid.coo : &matrix->coo;
    const struct sparse_piece from = matrix->piece[task], to = matrix->piece[task + 1];
    const REAL *x = work->x;
    int64_t k = from.entry;
    for (int64_t i = from.row; i < to.row; i++) {
        const int64_t begin = k;
        const REAL sum = sum_entries(coo, x, i, to.entry, &k);
        if (i == from.row)
            work->head[task] = (double)sum;
        else if (!work->adds || k > begin)
            put(work->product, i, sum);
        if (work->adds)
            i = k < to.entry && coo->row[k] < to.row ? coo->row[k] - 1 : to.row - 1;
    }
    work->tail[task] = k < to.entry ? (double)sum_entries(coo, x, to.row, to.entry, &k) : 0;
}
