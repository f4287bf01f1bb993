/* One-sided sums over all pairs on a GPU, of any law: a thread holds some targets in registers. A
 * block brings tiles of sources to shared memory, from where all its threads read one source at a
 * time. The sources are dealt to gridDim.y parts, whose sums another kernel adds. What is summed
 * over a tile is added to the sum of tiles: a float result is then good for any number of sources.
 *
 * A pair function is a type with
 *
 *   real, total            of its numbers, and of the sums of tiles
 *   sums, at               of a target and a tile, all zero at first; one of their values
 *   block, targets         threads of a block, which are sources of a tile; targets of a thread
 *   values, first, end     sums of a target, of which these are stored
 *   unroll                 sources at a time
 *   constants, load        what is the same for all pairs
 *   target, load_target    what is read of a target
 *   tile, load_source      of the sources of a tile, in shared memory
 *   leaves_self_out        whether the pair i = j must be left out; it adds 0 by itself if not
 *   one_loop               looks for that pair in all tiles: smaller code, fewer registers
 *   add                    adds a source's pair with a target to the target's sums; omit: 0
 *
 * (law_sums_cuda_body.h, law_jerk_cuda_body.h). nvcc and NVRTC read this. */
#ifndef FORCES_TILE_LOOP_CUDA_CUH
#define FORCES_TILE_LOOP_CUDA_CUH

#include "forces/law_sums_problem.h"

/* The sources of a tile on all targets of a thread, of which the first is source `self`. Tiles that
 * have it are few: their loop is not unrolled, which compiles in half the time. */
template <typename pair, bool leaves_out>
__device__ __forceinline__ void add_tile(const typename pair::constants &constants,
                                         const typename pair::tile &tile, int count, long long self,
                                         const typename pair::target (&target)[pair::targets],
                                         typename pair::sums (&sums)[pair::targets])
{
#pragma unroll(leaves_out && !pair::one_loop ? 1 : pair::unroll)
    for (int k = 0; k < count; k++)
#pragma unroll
        for (int t = 0; t < pair::targets; t++)
            pair::add(constants, target[t], tile, k, leaves_out && self + t * pair::block == k,
                      sums[t]);
}

/* Part p's value v of target i is element (values p + v) · room + i of partial. */
template <typename pair>
__device__ __forceinline__ void sum_tiles(const struct law_sums_problem &problem,
                                          typename pair::real *partial, long long room,
                                          long long part_sources, typename pair::tile &tile)
{
    constexpr int targets = pair::targets, values = pair::values;
    const typename pair::constants constants = pair::load(problem);
    const long long block_begin = (long long)blockIdx.x * (targets * pair::block);
    const long long i = block_begin + threadIdx.x, last = problem.target_count - 1;
    typename pair::target target[targets];
    typename pair::total totals[targets][values] = {};
#pragma unroll
    for (int t = 0; t < targets; t++)
        pair::load_target(problem, i + t * pair::block < last ? i + t * pair::block : last,
                          target[t]);

    const bool may_meet = pair::leaves_self_out(problem);
    const long long begin = blockIdx.y * part_sources, behind = begin + part_sources;
    const long long end = behind < problem.source_count ? behind : problem.source_count;
    for (long long first = begin; first < end; first += pair::block) {
        const int count = end - first < pair::block ? (int)(end - first) : pair::block;
        __syncthreads();
        if (first + threadIdx.x < problem.source_count)
            pair::load_source(problem, first + threadIdx.x, tile, threadIdx.x);
        __syncthreads();
        typename pair::sums sums[targets] = {};
        const bool has_self =
            may_meet && first < block_begin + targets * pair::block && block_begin < first + count;
        if (pair::one_loop)
            add_tile<pair, true>(constants, tile, count, may_meet ? i - first : -(1LL << 62),
                                 target, sums);
        else if (has_self)
            add_tile<pair, true>(constants, tile, count, i - first, target, sums);
        else
            add_tile<pair, false>(constants, tile, count, 0, target, sums);
#pragma unroll
        for (int t = 0; t < targets; t++)
#pragma unroll
            for (int v = 0; v < values; v++)
                totals[t][v] += (typename pair::total)pair::at(sums[t], v);
    }
#pragma unroll
    for (int t = 0; t < targets; t++)
#pragma unroll
        for (int v = pair::first; v < pair::end; v++)
            if (i + t * pair::block <= last)
                partial[((long long)blockIdx.y * values + v) * room + i + t * pair::block] =
                    (typename pair::real)totals[t][v];
}

#endif
