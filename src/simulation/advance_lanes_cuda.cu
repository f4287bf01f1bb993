/* Whole steps of an ensemble, a system in each lane with all its state in registers. Each pair is
 * evaluated once: 17 instructions in float (3 differences, 3 for s², 1 root, 2 for 1/s³, 2 masses,
 * 6 sums), 21 in double, and ten for each component of a body and step of leapfrog. In double seven
 * and eight bodies have more numbers than a thread has registers: what positions have lost, which a
 * step reads and writes once for each of its drifts, is in shared memory. */

#include <type_traits>

#include "core/status.h"
#include "device/cuda.h"
#include "forces/pair_cuda.cuh"
#include "simulation/advance_cuda.cuh"
#include "simulation/advance_cuda.h"

enum { block_threads = 128, least_shared = 7 };

/* What does not change from step to step. */
template <typename real, int bodies> struct lane_bodies {
    real mass[bodies];            /* times G */
    real half_softening2[bodies]; /* of each, or [0] of all */
};

/* Numbers of a thread in shared memory. */
template <typename real> struct shared_numbers {
    real *first;
    __device__ real &operator[](int k) const
    {
        return first[k * block_threads];
    }
};

template <typename real, int components_> struct shared_motion {
    static constexpr int components = components_;
    real x[components], v[components], a[components], lost_v[components];
    struct shared_numbers<real> lost_x;
};

template <typename real, int bodies, bool per_body, typename moving>
__device__ void evaluate(const struct lane_bodies<real, bodies> &lane, moving &motion)
{
#pragma unroll
    for (int k = 0; k < 3 * bodies; k++)
        motion.a[k] = 0;
#pragma unroll
    for (int i = 0; i < bodies; i++)
#pragma unroll
        for (int j = i + 1; j < bodies; j++) {
            const int i_softens = per_body ? i : 0, j_softens = per_body ? j : 0;
            real d[3], s2 = (lane.half_softening2[i_softens] + s2_floor<real>()) +
                            lane.half_softening2[j_softens];
#pragma unroll
            for (int c = 0; c < 3; c++) {
                d[c] = motion.x[3 * j + c] - motion.x[3 * i + c];
                s2 = fma(d[c], d[c], s2);
            }
            const real inverse_s3 = inverse_cube(s2);
            const real by_j = lane.mass[j] * inverse_s3, by_i = lane.mass[i] * inverse_s3;
#pragma unroll
            for (int c = 0; c < 3; c++) {
                motion.a[3 * i + c] = fma(by_j, d[c], motion.a[3 * i + c]);
                motion.a[3 * j + c] = fma(-by_i, d[c], motion.a[3 * j + c]);
            }
        }
}

template <typename real, int bodies, bool per_body>
__global__ void __launch_bounds__(block_threads)
    advance_kernel(const struct advance_problem problem,
                   const struct cuda_composition<real> program)
{
    const int64_t s = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (s >= problem.forces.system_count)
        return;

    constexpr bool is_shared = sizeof(real) == sizeof(double) && bodies >= least_shared;
    struct lane_bodies<real, bodies> lane;
    typename std::conditional<is_shared, struct shared_motion<real, 3 * bodies>,
                              struct motion<real, 3 * bodies>>::type motion;
    if constexpr (is_shared) {
        __shared__ real lost[3 * bodies * block_threads];
        motion.lost_x.first = lost + threadIdx.x;
    }
#pragma unroll
    for (int i = 0; i < bodies; i++) {
        const int64_t at = i * problem.forces.system_stride + s;
        lane.mass[i] = mass_at<real>(problem, at);
        lane.half_softening2[i] = half_softening2_at<real>(problem, at);
#pragma unroll
        for (int c = 0; c < 3; c++)
            load_motion<real>(problem, c, at, 3 * i + c, motion);
    }

    program.begin(motion);
    for (int64_t step = 1; step <= problem.steps; step++)
        for (int32_t k = 0; k < program.evaluation_count; k++) {
            /* So that the compiler does not keep in registers what is in shared memory. */
            if (is_shared)
                asm volatile("" ::: "memory");
            evaluate<real, bodies, per_body>(lane, motion);
            program.go_on(k, step == problem.steps, motion);
        }
#pragma unroll
    for (int i = 0; i < bodies; i++)
#pragma unroll
        for (int c = 0; c < 3; c++)
            store_motion<real>(problem, c, i * problem.forces.system_stride + s, 3 * i + c, motion);
}

template <typename real, bool per_body>
static kith_status launch(kith_context *context, const struct advance_problem *problem)
{
    typedef void kernel(const struct advance_problem, const struct cuda_composition<real>);
    static kernel *const kernels[advance_lane_bodies + 1] = {nullptr,
                                                             nullptr,
                                                             advance_kernel<real, 2, per_body>,
                                                             advance_kernel<real, 3, per_body>,
                                                             advance_kernel<real, 4, per_body>,
                                                             advance_kernel<real, 5, per_body>,
                                                             advance_kernel<real, 6, per_body>,
                                                             advance_kernel<real, 7, per_body>,
                                                             advance_kernel<real, 8, per_body>};
    const int64_t blocks = (problem->forces.system_count + block_threads - 1) / block_threads;
    kernels[problem->forces
                .target_count]<<<(unsigned)blocks, block_threads, 0, cuda_stream(context)>>>(
        *problem, cuda_composition<real>(*problem));
    return cuda_check_launch("starting the kernel that advances a system in a lane");
}

template <typename real>
static kith_status launch_for_softening(kith_context *context,
                                        const struct advance_problem *problem)
{
    return problem->forces.target_half_softening2 ? launch<real, true>(context, problem)
                                                  : launch<real, false>(context, problem);
}

kith_status advance_lanes_cuda(kith_context *context, const struct advance_problem *problem)
{
    return problem->forces.dtype == KITH_F64 ? launch_for_softening<double>(context, problem)
                                             : launch_for_softening<float>(context, problem);
}
