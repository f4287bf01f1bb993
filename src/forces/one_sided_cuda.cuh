#ifndef FORCES_ONE_SIDED_CUDA_CUH
#define FORCES_ONE_SIDED_CUDA_CUH

/* One-sided all-pairs forces: a warp holds a few targets, the same in all lanes, and its lanes walk
 * over the sources side by side, four (in double two) consecutive ones a step and lane. The lanes'
 * sums are added up at the end. So a block can give all its warps to the same targets when these
 * are few, and every size fills the device in one launch, without scratch memory. The sums of a
 * target are 32 or more and are added in an order that depends on the sizes alone. */

#include "device/overlap.cuh"
#include "forces/deliver_cuda.cuh"
#include "forces/pair_cuda.cuh"
#include "forces/problem.h"
#include "forces/ring.h"

enum { warp = 32, block_warps = 8, blocks_per_multiprocessor = 2, most_values = 7 };

template <typename real> struct target {
    real x[3], v[3];
    real softening2; /* ε² or the target's half of it, + s2_floor */
};

/* As many consecutive reals as one load instruction takes. */
template <typename real> struct alignas(16) quad {
    enum { count = 16 / sizeof(real) };
    real element[count];
};

template <typename real> __device__ quad<real> load_quad(const void *column, int64_t j)
{
    return column ? *(const quad<real> *)((const real *)column + j) : quad<real>{};
}

template <typename real> __device__ real load(const void *column, int64_t i)
{
    return column ? ((const real *)column)[i] : (real)0;
}

template <typename real, enum forces_outputs outputs, bool per_body>
__device__ struct target<real> load_target(const struct forces_problem &problem, int64_t i)
{
    struct target<real> target;
    for (int c = 0; c < 3; c++) {
        target.x[c] = load<real>(problem.target_position[c], i);
        target.v[c] = outputs == forces_jerk ? load<real>(problem.target_velocity[c], i) : (real)0;
    }
    const double softening2 = problem.softening2_at ? *problem.softening2_at : problem.softening2;
    target.softening2 =
        (per_body ? load<real>(problem.target_half_softening2, i) : (real)softening2) +
        s2_floor<real>();
    return target;
}

/* The sources j … of one lane on all targets of the warp, of which the first is i. Of sources
 * past the last, if is_last says that there may be some, the mass is taken for 0. */
template <typename real, enum forces_outputs outputs, bool per_body, int targets>
__device__ void add_quad(const struct forces_problem &problem,
                         const struct target<real> (&target)[targets], int64_t i, int64_t j,
                         bool is_last, real (&sums)[targets][pair_values(outputs)])
{
    quad<real> x[3], v[3], mass, half_softening2;
    for (int c = 0; c < 3; c++)
        x[c] = load_quad<real>(problem.source_position[c], j);
    mass = load_quad<real>(problem.source_mass, j);
    if (per_body)
        half_softening2 = load_quad<real>(problem.source_half_softening2, j);
    if (outputs == forces_jerk)
        for (int c = 0; c < 3; c++)
            v[c] = load_quad<real>(problem.source_velocity[c], j);

    const int64_t self = problem.self ? j - i : -(1LL << 62);
#pragma unroll
    for (int e = 0; e < quad<real>::count; e++) {
        struct pair_body<real> source;
        for (int c = 0; c < 3; c++) {
            source.x[c] = x[c].element[e];
            source.v[c] = outputs == forces_jerk ? v[c].element[e] : (real)0;
        }
        source.mass = is_last && j + e >= problem.source_count ? (real)0 : mass.element[e];
#pragma unroll
        for (int k = 0; k < targets; k++)
            add_pair<real, outputs>(target[k].x, target[k].v,
                                    per_body ? target[k].softening2 + half_softening2.element[e]
                                             : target[k].softening2,
                                    source, self + e == k, sums[k]);
    }
}

/* Sums of parts of the sources, if there is more than one: part p's value v of target i is element
 * (7 p + v) targets + i. */
template <typename real> struct partial_sums {
    real *sum; /* NULL: one part */
    int64_t targets;
};

template <typename real>
__device__ real &partial_sum(const struct partial_sums<real> &of_parts, int part, int64_t i,
                             int value)
{
    return of_parts.sum[((int64_t)part * most_values + value) * of_parts.targets + i];
}

template <typename real>
__device__ void put_sum(const struct forces_problem &problem,
                        const struct partial_sums<real> &of_parts, int part, int64_t i, int value,
                        real sum)
{
    if (of_parts.sum)
        partial_sum(of_parts, part, i, value) = sum;
    else
        deliver<real>(problem, i, value, (double)sum);
}

/* A thread adds one value of one target, part after part. */
template <typename real>
__global__ void __launch_bounds__(block_warps *warp)
    add_parts_kernel(const struct forces_problem problem, const struct partial_sums<real> of_parts,
                     int parts)
{
    wait_for_kernel_before();
    const int64_t i = (int64_t)blockIdx.x * (block_warps * warp) + threadIdx.x;
    if (i >= problem.target_count)
        return;
    double sum = 0;
#pragma unroll 8
    for (int part = 0; part < parts; part++)
        sum += (double)partial_sum(of_parts, part, i, blockIdx.y);
    deliver<real>(problem, i, blockIdx.y, sum);
}

/* Adds each of `count` values over the lanes. Lanes `distance` apart share the work: one takes the
 * first half of the values from both, the other the second. In the end a lane has values[0], the
 * sum of the value number `first`, if own > 0. */
template <int count, int distance, typename real, int room>
__device__ inline void add_lanes(real (&values)[room], int lane, int &first, int &own)
{
    if constexpr (distance > 0) {
        constexpr int half = (count + 1) / 2;
        const bool takes_second = (lane & distance) != 0;
#pragma unroll
        for (int k = 0; k < half; k++) {
            const real second = k + half < count ? values[(k + half) % room] : (real)0;
            const real kept = takes_second ? second : values[k];
            const real given = takes_second ? values[k] : second;
            values[k] = kept + __shfl_xor_sync(0xffffffff, given, distance);
        }
        first += takes_second ? half : 0;
        own = takes_second ? own - half : min(own, half);
        add_lanes<half, distance / 2>(values, lane, first, own);
    }
}

/* Adds the sums of the lanes, and of the source_warps warps that share targets. */
template <typename real, int targets, int values>
__device__ void reduce_and_store(const struct forces_problem &problem, int source_warps,
                                 const struct partial_sums<real> &of_parts,
                                 const real (&sums)[targets][values])
{
    constexpr int count = targets * values;
    static_assert(count <= warp, "a lane is left with one value");
    __shared__ real partial[block_warps][count];
    const int lane = threadIdx.x % warp, w = threadIdx.x / warp;
    real value[count];
#pragma unroll
    for (int v = 0; v < count; v++)
        value[v] = sums[v / values][v % values];
    int first = 0, own = count;
    add_lanes<count, warp / 2>(value, lane, first, own);
    if (own > 0)
        partial[w][first] = value[0];
    __syncthreads();

    const int groups = block_warps / source_warps;
    for (int p = threadIdx.x; p < groups * count; p += block_warps * warp) {
        const int group = p / count, v = p % count;
        real sum = 0;
        for (int s = 0; s < source_warps; s++)
            sum += partial[group * source_warps + s][v];
        const int64_t i = ((int64_t)blockIdx.x * groups + group) * targets + v / values;
        if (i < problem.target_count)
            put_sum(problem, of_parts, blockIdx.y, i, v % values, sum);
    }
}

/* What a thread has summed before, in shared memory. A float sum goes over 4 × 128 sources, as what
 * is far and added after a pair that is close would be lost bit by bit. */
template <typename real, int count> struct sums_before {
    static constexpr bool are_kept = sizeof(real) == sizeof(float);
    static constexpr int steps = 128;
    real sum[are_kept ? count : 1][block_warps * warp];
};

/* Adds the thread's sums to those before, and begins new ones; or fetches all. */
template <typename real, int targets, int values>
__device__ void put_aside(struct sums_before<real, targets * values> &before,
                          real (&sums)[targets][values], bool fetches)
{
#pragma unroll
    for (int v = 0; v < targets * values; v++) {
        real &sum = sums[v / values][v % values], &kept = before.sum[v][threadIdx.x];
        const real all = kept + sum;
        kept = all;
        sum = fetches ? all : (real)0;
    }
}

template <typename real, enum forces_outputs outputs, bool per_body, int targets>
__global__ void __launch_bounds__(block_warps *warp, blocks_per_multiprocessor)
    one_sided_kernel(const struct forces_problem problem, int source_warps,
                     const struct partial_sums<real> of_parts)
{
    const int lane = threadIdx.x % warp, w = threadIdx.x / warp;
    const int64_t group = (int64_t)blockIdx.x * (block_warps / source_warps) + w / source_warps;
    const int64_t i = group * targets;

    wait_for_kernel_before();
    struct target<real> target[targets];
    real sums[targets][pair_values(outputs)] = {};
    for (int k = 0; k < targets; k++) {
        const int64_t last = problem.target_count - 1;
        target[k] = load_target<real, outputs, per_body>(problem, i + k < last ? i + k : last);
    }

    const int64_t step = (int64_t)warp * quad<real>::count;
    const int64_t steps = (problem.source_count + step - 1) / step;
    const int64_t full_steps = problem.source_count / step;
    const int64_t shares = (int64_t)source_warps * gridDim.y;
    const int64_t share = (int64_t)source_warps * blockIdx.y + w % source_warps;
    const int64_t begin = share_begin(steps, shares, share);
    const int64_t end = share_begin(steps, shares, share + 1);
    int64_t j = begin * step + lane * quad<real>::count;
    typedef struct sums_before<real, targets * pair_values(outputs)> sums_before_now;
    __shared__ sums_before_now before;
    if constexpr (sums_before_now::are_kept)
        for (int v = 0; v < targets * pair_values(outputs); v++)
            before.sum[v][threadIdx.x] = 0;
    const int64_t last = end < full_steps ? end : full_steps;
    for (int64_t s = begin; s < last;) {
        const int64_t pause = sums_before_now::are_kept && last - s > sums_before_now::steps
                                  ? s + sums_before_now::steps
                                  : last;
        for (; s < pause; s++, j += step)
            add_quad<real, outputs, per_body, targets>(problem, target, i, j, false, sums);
        if constexpr (sums_before_now::are_kept)
            if (pause < last)
                put_aside<real, targets>(before, sums, false);
    }
    if (end > full_steps && j < problem.source_count)
        add_quad<real, outputs, per_body, targets>(problem, target, i, j, true, sums);
    if constexpr (sums_before_now::are_kept)
        put_aside<real, targets>(before, sums, true);

    reduce_and_store<real, targets>(problem, source_warps, of_parts, sums);
}

#endif
