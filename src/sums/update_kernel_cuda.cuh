/* Columns updated by formulas on a GPU (formulas_cuda_body.h), a thread a row: compiled at run time
 * by NVRTC only. */

#include "sums/formulas_cuda_body.h"
#include "sums/update_kernel.h"

extern "C" __global__ void __launch_bounds__(update_cuda_threads)
    update_columns(const __grid_constant__ struct update_rows rows)
{
    const long long row = (long long)blockIdx.x * update_cuda_threads + threadIdx.x;
    if (row >= rows.count)
        return;
    const struct sums_constants law = constants_of(rows.numbers);
    struct sums_pair pair = {};
    REAL value[SUMS_OUTPUTS], factor[SUMS_OUTPUTS];
#pragma unroll
    for (int c = 0; c < SUMS_COLUMNS_I; c++)
        pair.column[c] = ((const REAL *)rows.from[c].data)[row * rows.from[c].stride];
    sums_values(&law, &pair, value, factor);
#pragma unroll
    for (int k = 0; k < SUMS_OUTPUTS; k++)
        ((REAL *)rows.to[k].data)[row * rows.to[k].stride] =
            SUMS_IS_PRODUCT(k) ? value[k] * factor[k] : value[k];
}
