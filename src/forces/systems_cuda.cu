/* Forces in ensembles of small systems on the GPU: a thread a body, neighbouring threads in
 * neighbouring systems, so that all their reading is side by side. The sources of a system stay in
 * the first-level cache from one of its bodies to the next. Each pair is met from both sides. */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/direct_cuda.h"
#include "forces/pair_cuda.cuh"
#include "forces/systems.h"

enum { block_systems = 32, block_bodies = 4 };

template <typename real> struct systems_body {
    real x[3], v[3], mass, half_softening2;
};

template <typename real> __device__ real number_at(const void *column, int64_t at)
{
    return column ? ((const real *)column)[at] : (real)0;
}

template <typename real, enum systems_outputs outputs>
__device__ struct systems_body<real> load_body(const struct forces_problem &problem, int64_t at)
{
    struct systems_body<real> body;
    for (int c = 0; c < 3; c++) {
        body.x[c] = number_at<real>(problem.target_position[c], at);
        body.v[c] =
            outputs == systems_jerk ? number_at<real>(problem.target_velocity[c], at) : (real)0;
    }
    body.mass = ((const real *)problem.source_mass)[at];
    body.half_softening2 = problem.target_half_softening2
                               ? ((const real *)problem.target_half_softening2)[at]
                               : (real)(problem.softening2 / 2);
    return body;
}

/* What a body feels, without G: Σ m d / s³, Σ m [u / s³ − 3 (d·u) d / s⁵], Σ m / s. */
template <typename real> struct systems_pull {
    real acceleration[3], jerk[3], potential;
};

/* At the same place a pair leaves itself out of everything. */
template <typename real, enum systems_outputs outputs>
__device__ void add_pair(const struct systems_body<real> &target,
                         const struct systems_body<real> &source, struct systems_pull<real> &pull)
{
    real d[3], s2 = (target.half_softening2 + s2_floor<real>()) + source.half_softening2;
    for (int c = 0; c < 3; c++) {
        d[c] = source.x[c] - target.x[c];
        s2 = fma(d[c], d[c], s2);
    }
    real m_over_s3;
    if (outputs == systems_acceleration) {
        m_over_s3 = source.mass * inverse_cube(s2);
    } else {
        const real y = inverse(s2);
        const real m_over_s = s2 == s2_floor<real>() ? (real)0 : source.mass * y;
        m_over_s3 = m_over_s * (y * y);
        pull.potential += m_over_s;
        if (outputs == systems_jerk) {
            real u[3], d_dot_u = 0;
            for (int c = 0; c < 3; c++) {
                u[c] = source.v[c] - target.v[c];
                d_dot_u = fma(d[c], u[c], d_dot_u);
            }
            const real factor = d_dot_u * (y * y) * (real)-3;
            for (int c = 0; c < 3; c++)
                pull.jerk[c] = fma(m_over_s3, fma(factor, d[c], u[c]), pull.jerk[c]);
        }
    }
    for (int c = 0; c < 3; c++)
        pull.acceleration[c] = fma(m_over_s3, d[c], pull.acceleration[c]);
}

/* + 0: no −0 of an empty sum. */
template <typename real> __device__ void store(void *column, int64_t at, double g, real sum)
{
    if (column)
        ((real *)column)[at] = (real)(g * (double)sum + 0.0);
}

template <typename real, enum systems_outputs outputs>
static __global__ void __launch_bounds__(block_systems *block_bodies)
    systems_kernel(const struct forces_problem problem)
{
    const int64_t s = (int64_t)blockIdx.x * block_systems + threadIdx.x;
    if (s >= problem.system_count)
        return;
    for (int64_t i = threadIdx.y; i < problem.target_count; i += block_bodies) {
        const int64_t at = i * problem.system_stride + s;
        const struct systems_body<real> target = load_body<real, outputs>(problem, at);
        struct systems_pull<real> pull = {
        };
        for (int64_t j = 0; j < problem.target_count; j++)
            if (j != i)
                add_pair<real, outputs>(
                    target, load_body<real, outputs>(problem, j * problem.system_stride + s), pull);
        const double g = problem.gravitational_constant;
        for (int c = 0; c < 3; c++) {
            store(problem.acceleration[c], at, g, pull.acceleration[c]);
            if (outputs == systems_jerk)
                store(problem.jerk[c], at, g, pull.jerk[c]);
        }
        if (outputs != systems_acceleration)
            store(problem.potential, at, -g, pull.potential);
    }
}

template <typename real>
static kith_status launch(kith_context *context, const struct forces_problem *problem)
{
    void (*const kernel)(const struct forces_problem) =
        problem->jerk[0]     ? systems_kernel<real, systems_jerk>
        : problem->potential ? systems_kernel<real, systems_potential>
                             : systems_kernel<real, systems_acceleration>;
    const int64_t blocks = (problem->system_count + block_systems - 1) / block_systems;
    kernel<<<(unsigned)blocks, dim3(block_systems, block_bodies), 0, cuda_stream(context)>>>(
        *problem);
    return cuda_check_launch("starting the kernel of forces in many systems");
}

kith_status forces_systems_cuda(kith_context *context, const struct forces_problem *problem)
{
    if (problem->target_count > systems_max_bodies)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the systems have %lld bodies each; give ensembles of at most %d",
                         (long long)problem->target_count, (int)systems_max_bodies);
    return problem->dtype == KITH_F64 ? launch<double>(context, problem)
                                      : launch<float>(context, problem);
}
