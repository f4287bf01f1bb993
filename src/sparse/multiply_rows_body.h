/* What becomes of the sum of a row, and the exact sum of a row whose padding was multiplied by an
 * infinity. */

SIMD_INLINE REAL *result(const struct sparse_product *product, int64_t row)
{
    return (REAL *)product->y + row * product->y_stride[0];
}

/* y = α sum + β y of a row. */
SIMD_INLINE void put(const struct sparse_product *product, int64_t row, REAL sum)
{
    REAL *y = result(product, row);
    const REAL value = (REAL)product->alpha * sum;
    *y = product->beta == 0 ? value : FMA((REAL)product->beta, *y, value);
}

/* The same of `count` rows one after the other, whose sums have room for whole vectors. */
SIMD_INLINE void put_rows(const struct sparse_product *product, int64_t row, int64_t count,
                          const REAL *sums)
{
    const VREAL alpha = simd_all((REAL)product->alpha), beta = simd_all((REAL)product->beta);
    REAL *y = result(product, row);
    int64_t r = 0;
    if (product->y_stride[0] == 1)
        for (; r + REAL_LANES <= count; r += REAL_LANES) {
            const VREAL value = alpha * simd_load(sums + r);
            simd_store(y + r, product->beta == 0 ? value : simd_fma(beta, simd_load(y + r), value));
        }
    for (; r < count; r++)
        put(product, row + r, sums[r]);
}

/* The first `most` stored entries of a row, in their order. */
static REAL exact_sum(const struct sparse_work *work, int64_t row, int64_t most)
{
    const struct sparse_csr *csr = &work->product->matrix->csr;
    const REAL *x = work->x, *value = csr->value;
    const int64_t begin = csr->row_start[row], length = csr->row_start[row + 1] - begin;
    REAL sum = 0;
    for (int64_t k = begin; k < begin + (length < most ? length : most); k++)
        sum = FMA(value[k], x[csr->column[k]], sum);
    return sum;
}

/* Stores rows that are padded: a sum that is NaN may be so by the padding alone. */
SIMD_INLINE void put_filled(const struct sparse_work *work, int64_t row, int64_t count, REAL *sums,
                            bool has_nan, int64_t most)
{
    if (__builtin_expect(has_nan, 0))
        for (int64_t r = 0; r < count; r++)
            if (sums[r] != sums[r])
                sums[r] = exact_sum(work, row + r, most);
    put_rows(work->product, row, count, sums);
}
