/* Columns updated by formulas (formulas_kernel_body.h), a vector of rows at a time: compiled at run
 * time only. */

#include "sums/formulas_kernel_body.h"

#include "sums/update_kernel.h"

SIMD_INLINE VREAL load_rows(const struct update_column *column, long long row, int count)
{
    const REAL *from = (const REAL *)column->data + row * column->stride;
    VREAL x = law_all((REAL)0);
    if (column->stride == 1 && count == LANES)
        return simd_load(from);
    for (int lane = 0; lane < count; lane++)
        x[lane] = from[lane * column->stride];
    return x;
}

SIMD_INLINE void store_rows(const struct update_column *column, long long row, int count, VREAL x)
{
    REAL *to = (REAL *)column->data + row * column->stride;
    if (column->stride == 1 && count == LANES) {
        simd_store(to, x);
        return;
    }
    for (int lane = 0; lane < count; lane++)
        to[lane * column->stride] = x[lane];
}

__attribute__((visibility("default"))) update_kernel update_columns;
void update_columns(const struct update_rows *rows, long long begin, long long end)
{
    struct sums_constants law;
    struct sums_pair pair;
    VREAL value[SUMS_OUTPUTS], factor[SUMS_OUTPUTS];
    for (int k = 0; k < law_constant_count; k++)
        law.c[k] = (REAL)rows->numbers.c[k];
    pair.s2 = law_all((REAL)0);
    for (long long row = begin; row < end; row += LANES) {
        const int count = end - row < LANES ? (int)(end - row) : LANES;
        for (int c = 0; c < SUMS_COLUMNS_I; c++)
            pair.column[c] = load_rows(&rows->from[c], row, count);
        sums_values(&law, &pair, value, factor);
        for (int k = 0; k < SUMS_OUTPUTS; k++)
            store_rows(&rows->to[k], row, count,
                       SUMS_IS_PRODUCT(k) ? value[k] * factor[k] : value[k]);
    }
}
