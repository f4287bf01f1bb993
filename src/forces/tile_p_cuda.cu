/* Forces by tiles of p × p pairs, p threads per tile: the kernel of GPU Gems 3,
 * chapter 31 (Nyland, Harris & Prins 2007). docs/gpu-tiling.md compares it with the others.
 *
 *            sources 0 … p−1   p … 2p−1   2p … 3p−1
 *            ┌──────────────┬───────────┬───────────┐
 *   thread 0 │ ───────────▶ │ ────────▶ │ ────────▶ │ target 0
 *   thread 1 │ ───────────▶ │ ────────▶ │ ────────▶ │ target 1      one block
 *      …     │              │           │           │
 *            └──────────────┴───────────┴───────────┘
 *
 * A thread has one target and its sums in registers. A block of p threads brings p sources to
 * shared memory, one per thread, evaluates all of them, and continues with the next p. So a source
 * is read from global memory once a block, N / p times in all, and no two threads have to add
 * anything up. */

#include "device/cuda.h"
#include "forces/deliver_cuda.cuh"
#include "forces/direct_cuda.h"
#include "forces/tile_cuda.cuh"

/* The compiler unrolls the loop this many times; p is the block's size. */
enum { usual_block = 256, usual_unroll = 16, most_block = 1024 };

/* The sum over a tile is taken by itself, then added to the total: two short sums have smaller
 * errors than a long one. */
template <typename real, int unroll, bool with_potential>
static __global__ void __launch_bounds__(most_block)
    tile_p_kernel(const struct forces_problem problem)
{
    extern __shared__ char shared[];
    tile_body<real> *tile = (tile_body<real> *)shared;
    const int p = (int)blockDim.x, t = (int)threadIdx.x;
    const int64_t i = (int64_t)blockIdx.x * p + t;

    const tile_body<real> target = tile_target<real>(problem, i);
    const real softening2 = tile_softening2<real>(problem);
    const int64_t self = problem.self ? i : -1;
    tile_sums<real> total = {};
    for (int64_t begin = 0; begin < problem.source_count; begin += p) {
        tile[t] = tile_source<real>(problem, begin + t);
        __syncthreads();
        tile_sums<real> sums = {};
#pragma unroll unroll
        for (int j = 0; j < p; j++)
            tile_interact<real, with_potential>(target, tile[j], softening2, begin + j == self,
                                                sums);
        tile_add(total, sums);
        __syncthreads(); /* before the next sources replace these */
    }

    if (i < problem.target_count) {
        deliver<real>(problem, i, 0, (double)total.x);
        deliver<real>(problem, i, 1, (double)total.y);
        deliver<real>(problem, i, 2, (double)total.z);
        deliver<real>(problem, i, 3, (double)total.m_over_s);
    }
}

template <typename real, int unroll>
static kith_status launch(kith_context *context, const struct forces_problem *problem)
{
    const int64_t p = problem->way.block ? problem->way.block : usual_block;
    const int64_t blocks = (problem->target_count + p - 1) / p;
    const size_t tile_bytes = (size_t)p * sizeof(tile_body<real>);
    const dim3 grid((unsigned)blocks), block((unsigned)p);
    if (problem->potential)
        tile_p_kernel<real, unroll, true>
            <<<grid, block, tile_bytes, cuda_stream(context)>>>(*problem);
    else
        tile_p_kernel<real, unroll, false>
            <<<grid, block, tile_bytes, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("starting the kernel of forces by tiles of p threads");
}

template <typename real>
static kith_status launch_unrolled(kith_context *context, const struct forces_problem *problem)
{
    switch (problem->way.unroll ? problem->way.unroll : usual_unroll) {
    case 1:
        return launch<real, 1>(context, problem);
    case 2:
        return launch<real, 2>(context, problem);
    case 4:
        return launch<real, 4>(context, problem);
    case 8:
        return launch<real, 8>(context, problem);
    case 16:
        return launch<real, 16>(context, problem);
    default:
        return launch<real, 32>(context, problem);
    }
}

kith_status forces_tile_p_cuda(kith_context *context, const struct forces_problem *problem)
{
    return problem->dtype == KITH_F64 ? launch_unrolled<double>(context, problem)
                                      : launch_unrolled<float>(context, problem);
}
