/* Force by any law, and the rates at which it and the value change, on a GPU, for one precision
 * (law/for_each_real_cuda.h).
 *
 * A thread has a target. A block brings tiles of sources to shared memory, and the sources are
 * dealt to gridDim.y parts, whose sums law_jerk_cuda.cu adds. A sum over a tile is added in double:
 * a float result is then good for any number of sources, and however close one of them is. */

#include "forces/law_pull_cuda_body.h"

/* The tile whose first source is `first`, on target i. */
LAW_INLINE void
NAME(law_add_tile)(const struct law_form form, const struct law_sums_problem *problem,
                   const struct NAME(law_constants) * law, const struct NAME(law_place) * source,
                   int count, long long first, long long i, const struct NAME(law_place) * target,
                   double sum[law_jerk_values])
{
    struct NAME(law_pull) tile = {};
    const struct law_pull_outputs outputs = {true, false, problem->value_rate != 0};
    const long long self = problem->self ? i - first : -1;
#pragma unroll 2
    for (int k = 0; k < count; k++)
        if (k != self)
            NAME(law_add_pull)(form, outputs, law, target, &source[k], &tile);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        sum[c] += (double)tile.force[c];
        sum[3 + c] += (double)tile.rate[c];
    }
    sum[6] += (double)tile.value_rate;
}

/* Part p's value v of target i is element (law_jerk_values p + v) · room + i of partial. */
LAW_INLINE void NAME(law_jerk)(const struct law_form form, const struct law_sums_problem *problem,
                               REAL *partial, long long room, long long part_sources)
{
    __shared__ struct NAME(law_place) source[law_motion_block];
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const long long i = (long long)blockIdx.x * law_motion_block + threadIdx.x;
    const long long last = problem->target_count - 1;
    struct NAME(law_place) target;
    double sum[law_jerk_values] = {};
    NAME(law_load_target)(problem, i < last ? i : last, &target);
    const long long begin = blockIdx.y * part_sources, behind = begin + part_sources;
    const long long end = behind < problem->source_count ? behind : problem->source_count;
    for (long long first = begin; first < end; first += law_motion_block) {
        const int count = end - first < law_motion_block ? (int)(end - first) : law_motion_block;
        __syncthreads();
        if ((int)threadIdx.x < count)
            NAME(law_load_source)(problem, first + threadIdx.x, &source[threadIdx.x]);
        __syncthreads();
        NAME(law_add_tile)(form, problem, &law, source, count, first, i, &target, sum);
    }
    if (i <= last)
#pragma unroll
        for (int v = 0; v < law_jerk_values; v++)
            partial[((long long)blockIdx.y * law_jerk_values + v) * room + i] = (REAL)sum[v];
}

#ifdef LAW_CUSTOM_BODY
extern "C" __global__ void __launch_bounds__(law_motion_block)
    NAME(law_jerk_custom)(const struct law_sums_problem problem, REAL *partial, long long room,
                          long long part_sources)
{
    NAME(law_jerk)(law_form{law_custom, law_unweighted}, &problem, partial, room, part_sources);
}
#else
template <enum law_kind kind>
__global__ void __launch_bounds__(law_motion_block)
    NAME(law_jerk_kernel)(const struct law_sums_problem problem, REAL *partial, long long room,
                          long long part_sources)
{
    NAME(law_jerk)(law_form{kind, LAW_SUMS_WEIGHTING(kind)}, &problem, partial, room, part_sources);
}
#endif
