/* Rows that are padded to a width: a lane per row. */

/* Number of vectors whose sums are in progress. */
enum { most_vectors = 4, slice_rows = 64 };

/* Adds up entries of `vectors` vectors of rows that lie next to each other: entry k of lane r is
 * element k · step + r. */
#define DEFINE_FILLED(place, gather)                                                               \
    SIMD_INLINE bool sum_##gather(const int32_t vectors, const REAL *x, const place *index,        \
                                  const REAL *value, int64_t width, int64_t step, REAL *sums)      \
    {                                                                                              \
        VREAL sum[most_vectors] = {0};                                                             \
        for (int64_t k = 0; k < width; k++) {                                                      \
            SIMD_UNROLL                                                                            \
            for (int v = 0; v < vectors; v++)                                                      \
                sum[v] = simd_fma(simd_load(value + k * step + v * REAL_LANES),                    \
                                  OF_REAL(gather)(x, index + k * step + v * REAL_LANES), sum[v]);  \
        }                                                                                          \
        VREAL all = sum[0];                                                                        \
        SIMD_UNROLL                                                                                \
        for (int v = 0; v < vectors; v++) {                                                        \
            simd_store(sums + v * REAL_LANES, sum[v]);                                             \
            all = v > 0 ? all + sum[v] : all;                                                      \
        }                                                                                          \
        return OF_REAL(has_nan)(all);                                                              \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE bool sum_slice_##gather(const REAL *x, const place *index, const REAL *value,      \
                                        int64_t width, int64_t height, REAL *sums)                 \
    {                                                                                              \
        enum { at_once = most_vectors * REAL_LANES };                                              \
        int64_t r = 0;                                                                             \
        bool has_nan = false;                                                                      \
        for (; r + at_once <= height; r += at_once)                                                \
            has_nan |=                                                                             \
                sum_##gather(most_vectors, x, index + r, value + r, width, height, sums + r);      \
        for (; r < height; r += REAL_LANES)                                                        \
            has_nan |= sum_##gather(1, x, index + r, value + r, width, height, sums + r);          \
        return has_nan;                                                                            \
    }

DEFINE_FILLED(int32_t, gather_int32)
DEFINE_FILLED(uint16_t, gather_uint16)
#undef DEFINE_FILLED

static void ell_rows(const struct sparse_work *work, int64_t task)
{
    enum { at_once = most_vectors * REAL_LANES };
    const struct sparse_matrix *matrix = work->product->matrix;
    const bool hybrid = matrix->plan.format == KITH_SPARSE_HYBRID;
    const struct sparse_ell *ell = hybrid ? &matrix->hybrid.ell : &matrix->ell;
    const int64_t begin = task * work->rows_a_task, rows = matrix->csr.rows;
    const int64_t end = begin + work->rows_a_task < rows ? begin + work->rows_a_task : rows;
    for (int64_t i = begin; i < end; i += at_once) {
        REAL sums[at_once];
        const bool has_nan =
            sum_gather_int32(most_vectors, work->x, ell->column + i, (const REAL *)ell->value + i,
                             ell->width, ell->stride, sums);
        put_filled(work, i, end - i < at_once ? end - i : at_once, sums, has_nan, ell->width);
    }
}

/* Rows of a slice in the order of the matrix, or each to its own place. */
SIMD_INLINE void put_slice(const struct sparse_work *work, int64_t slice, REAL *sums, bool has_nan)
{
    const struct sparse_sell *sell = &work->product->matrix->sell;
    const int64_t first = slice * sell->height, left = work->product->matrix->csr.rows - first;
    if (!sell->row) {
        put_filled(work, first, left < sell->height ? left : sell->height, sums, has_nan,
                   INT64_MAX);
        return;
    }
    for (int64_t r = 0; r < sell->height; r++) {
        const int32_t row = sell->row[first + r];
        if (row >= 0)
            put(work->product, row,
                has_nan && sums[r] != sums[r] ? exact_sum(work, row, INT64_MAX) : sums[r]);
    }
}

#define DEFINE_SELL(suffix, place, gather)                                                         \
    static void sell_slices##suffix(const struct sparse_work *work, int64_t task)                  \
    {                                                                                              \
        const struct sparse_matrix *matrix = work->product->matrix;                                \
        const struct sparse_sell *sell = &matrix->sell;                                            \
        const place *index = sell->index.index;                                                    \
        const REAL *value = sell->value;                                                           \
        for (int64_t s = matrix->piece[task].row; s < matrix->piece[task + 1].row; s++) {          \
            const int64_t start = sell->slice_start[s];                                            \
            const int64_t width = (sell->slice_start[s + 1] - start) / sell->height;               \
            const REAL *x =                                                                        \
                (const REAL *)work->x + (sizeof(place) == 2 ? sell->index.base[s] : 0);            \
            REAL sums[slice_rows];                                                                 \
            put_slice(                                                                             \
                work, s, sums,                                                                     \
                sum_slice_##gather(x, index + start, value + start, width, sell->height, sums));   \
        }                                                                                          \
    }

DEFINE_SELL(, int32_t, gather_int32)
DEFINE_SELL(_16, uint16_t, gather_uint16)
#undef DEFINE_SELL
