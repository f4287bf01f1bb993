/* Forces by tiles of p × p pairs, p² threads per tile: slower than p threads a
 * tile (tile_p_cuda.cu). docs/gpu-tiling.md compares the two.
 *
 *            source 0  1  2  …  p−1
 *            ┌──────────────────────┐
 *   target 0 │  thread a pair       │ → p results, added up through shared memory
 *   target 1 │                      │
 *      …     │                      │
 *            └──────────────────────┘
 *
 * All pairs of a tile are evaluated in parallel, one per thread. Each target's coordinates are in p
 * threads, and after each tile p threads have to hand their results to each other: log₂ p rounds of
 * shared memory and barriers for one evaluation a thread, where p threads need none for p of them.
 */

#include "device/cuda.h"
#include "forces/deliver_cuda.cuh"
#include "forces/direct_cuda.h"
#include "forces/tile_cuda.cuh"

enum { usual_side = 16, most_side = 32 };

/* Adds the sums of the p threads of a target, which end up in row 0; p need be no power of two. */
template <typename real>
static __device__ void add_rows(tile_sums<real> *sums, int p, int target, int row)
{
    for (int rows = p; rows > 1; rows = (rows + 1) / 2) {
        const int half = (rows + 1) / 2;
        __syncthreads();
        if (row + half < rows)
            tile_add(sums[row * p + target], sums[(row + half) * p + target]);
    }
    __syncthreads();
}

template <typename real, bool with_potential>
static __global__ void __launch_bounds__(most_side *most_side)
    tile_p2_kernel(const struct forces_problem problem)
{
    extern __shared__ char shared[];
    const int p = (int)blockDim.x, column = (int)threadIdx.x, row = (int)threadIdx.y;
    tile_body<real> *sources = (tile_body<real> *)shared;
    tile_sums<real> *sums = (tile_sums<real> *)(sources + p);
    const int64_t i = (int64_t)blockIdx.x * p + column;

    const tile_body<real> target = tile_target<real>(problem, i);
    const real softening2 = tile_softening2<real>(problem);
    const int64_t self = problem.self ? i : -1;
    tile_sums<real> total = {};
    for (int64_t begin = 0; begin < problem.source_count; begin += p) {
        if (row == 0)
            sources[column] = tile_source<real>(problem, begin + column);
        __syncthreads();
        tile_sums<real> of_pair = {};
        tile_interact<real, with_potential>(target, sources[row], softening2, begin + row == self,
                                            of_pair);
        sums[row * p + column] = of_pair;
        add_rows(sums, p, column, row);
        if (row == 0)
            tile_add(total, sums[column]);
    }

    if (row == 0 && i < problem.target_count) {
        deliver<real>(problem, i, 0, (double)total.x);
        deliver<real>(problem, i, 1, (double)total.y);
        deliver<real>(problem, i, 2, (double)total.z);
        deliver<real>(problem, i, 3, (double)total.m_over_s);
    }
}

template <typename real>
static kith_status launch(kith_context *context, const struct forces_problem *problem)
{
    const int64_t p = problem->way.block ? problem->way.block : usual_side;
    const int64_t blocks = (problem->target_count + p - 1) / p;
    const size_t bytes = (size_t)(p * sizeof(tile_body<real>) + p * p * sizeof(tile_sums<real>));
    const dim3 grid((unsigned)blocks), block((unsigned)p, (unsigned)p);
    if (problem->potential)
        tile_p2_kernel<real, true><<<grid, block, bytes, cuda_stream(context)>>>(*problem);
    else
        tile_p2_kernel<real, false><<<grid, block, bytes, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("starting the kernel of forces by tiles of p² threads");
}

kith_status forces_tile_p2_cuda(kith_context *context, const struct forces_problem *problem)
{
    return problem->dtype == KITH_F64 ? launch<double>(context, problem)
                                      : launch<float>(context, problem);
}
