/* Multipole powers of laws that are not harmonic, on a GPU. */

#include "tree/launch_cuda.cuh"
#include "tree/solve_cuda.h"

enum { threads = 128, lanes_of_cell = 8 };

struct power_constants {
    double factorial[expansion_max_full + 1], binomial[expansion_max_full + 1];
};

/* P_n² / s^{2n} = Σ_α n! α! M_α², |α| = n. */
template <typename real>
static __device__ inline real tensor_power2(const struct expansion_shape &shape,
                                            const double *factorial, const real *multipole,
                                            int32_t n)
{
    real result = 0;
    for (int32_t c = 0; c <= shape.max_c && c <= n; c++)
        for (int32_t b = 0, a = n - c; a >= 0; b++, a--) {
            const double factor = factorial[n] * factorial[a] * factorial[b] * factorial[c];
            const real part = multipole[expansion_row(shape.order, b, c) + a] * (real)sqrt(factor);
            result = fma(part, part, result);
        }
    return result;
}

/* Eight lanes a cell, of which each finds some powers. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    find_powers(const struct expansion_shape shape, const struct power_constants constants,
                const struct tree_side *sides, int32_t cells, const real *records, double *powers)
{
    const int32_t index = (int32_t)((blockIdx.x * threads + threadIdx.x) / lanes_of_cell);
    const int lane = threadIdx.x % lanes_of_cell;
    const bool is_cell = index < cells;
    const real *multipole = records + (int64_t)index * shape.record + expansion_header;
    double *power = powers + (int64_t)index * (shape.order + 1);
    for (int32_t n = shape.order - lane; n >= 0 && is_cell; n -= lanes_of_cell)
        power[n] =
            (double)(real)sqrt((double)tensor_power2(shape, constants.factorial, multipole, n));
    __syncwarp();
    if (is_cell && lane == 0)
        tree_find_estimates(shape.order, constants.binomial, &sides[index], power);
}

kith_status tree_find_tensor_powers_cuda(cudaStream_t stream, int32_t cells,
                                         const struct tree_side *side,
                                         const struct tree_expansions_cuda *expansions)
{
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    const unsigned blocks = blocks_for(cells, threads / lanes_of_cell);
    struct power_constants constants = {{1}, {1}};
    for (int32_t k = 1; k <= shape.order; k++) {
        constants.factorial[k] = constants.factorial[k - 1] * k;
        constants.binomial[k] = constants.binomial[k - 1] * (shape.order + 1 - k) / k;
    }
    if (expansions->dtype == KITH_F64)
        find_powers<<<blocks, threads, 0, stream>>>(
            shape, constants, side, cells, (const double *)expansions->records, expansions->power);
    else
        find_powers<<<blocks, threads, 0, stream>>>(
            shape, constants, side, cells, (const float *)expansions->records, expansions->power);
    return cuda_check_launch("making the expansions of a tree");
}
