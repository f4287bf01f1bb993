#ifndef SIMULATION_ADVANCE_CUDA_CUH
#define SIMULATION_ADVANCE_CUDA_CUH

/* What the kernels of whole steps share: the stages of a step, and a body's motion. */

#include "forces/pair_cuda.cuh"
#include "simulation/advance_program_cuda.cuh"

/* The components of one body or several, and what did not fit into x and v. */
template <typename real, int components_> struct motion {
    static constexpr int components = components_;
    real x[components], v[components], a[components];
    real lost_x[components], lost_v[components];
};

template <typename real, int components> struct with_jerk : motion<real, components> {
    real jerk[components];
};

/* An integrator in the kernels: what it holds in addition to the motion, how often forces are
 * evaluated in a step, and what it does before the first evaluation and after each, when a has been
 * worked out at x; it leaves the next evaluation's position in x. What follows the last evaluation
 * of a step goes on into the next one, unless it is the last. */

/* sum += change, which includes what was lost before; lost = what of that did not fit (Kahan 1965,
 * Commun. ACM 8, 40). */
template <typename real> __device__ void add_exactly(real change, real &sum, real &lost)
{
    const real before = sum;
    sum = before + change;
    lost = change - (sum - before);
}

/* A composition. */
template <typename real_> struct cuda_composition : composition_program<real_> {
    typedef real_ real;
    typedef composition_program<real> program;
    template <int components> using state = struct motion<real, components>;
    static constexpr bool needs_jerk = false;

    using program::drift, program::evaluation, program::kick, program::stage_count;

    explicit cuda_composition(const struct advance_problem &problem)
        : program(program_of<real>(problem))
    {
    }

    /* The stages first … end − 1: v += kick·a, then x += drift·v. A step's kicks are collected in
     * what was lost, and added to v at its end. */
    template <typename moving> __device__ void run(int32_t first, int32_t end, moving &motion) const
    {
        constexpr int components = moving::components;
        for (int32_t k = first; k < end; k++) {
            if (kick[k] != 0)
#pragma unroll
                for (int c = 0; c < components; c++)
                    motion.lost_v[c] = fma(kick[k], motion.a[c], motion.lost_v[c]);
            if (drift[k] != 0)
#pragma unroll
                for (int c = 0; c < components; c++)
                    add_exactly(fma(drift[k], motion.v[c] + motion.lost_v[c], motion.lost_x[c]),
                                motion.x[c], motion.lost_x[c]);
            if (k == stage_count - 1)
#pragma unroll
                for (int c = 0; c < components; c++)
                    add_exactly(motion.lost_v[c], motion.v[c], motion.lost_v[c]);
        }
    }

    template <typename moving> __device__ void begin(moving &motion) const
    {
        run(0, evaluation[0], motion);
    }

    template <typename moving>
    __device__ void go_on(int32_t k, bool last_step, moving &motion) const
    {
        run(evaluation[k], COMPOSITION_END(this, k, last_step), motion);
    }
};

/* The classical Runge-Kutta method as runge_kutta.c has it. */
template <typename real_> struct cuda_runge_kutta {
    typedef real_ real;
    /* x and Σ a's of x and of v at the step's begin, and the a of the evaluation before. */
    template <int components> struct state : motion<real, components> {
        real base[components], of_x[components], of_v[components], previous[components];
    };
    static constexpr bool needs_jerk = false;
    static constexpr int32_t evaluation_count = 4;

    real h, half;                        /* for velocities */
    real sixth, quarter2, half2, sixth2; /* of h and h² times the unit */

    explicit cuda_runge_kutta(const struct advance_problem &problem)
        : h((real)problem.h), half((real)(problem.h / 2)),
          sixth((real)(problem.h / 6 * problem.unit)),
          quarter2((real)(problem.h * problem.h / 4 * problem.unit)),
          half2((real)(problem.h * problem.h / 2 * problem.unit)),
          sixth2((real)(problem.h * problem.h / 6 * problem.unit))
    {
    }

    template <int components> __device__ void begin(struct state<components> &now) const
    {
        for (int c = 0; c < components; c++)
            now.base[c] = now.x[c];
    }

    template <int components>
    __device__ void go_on(int32_t k, bool, struct state<components> &now) const
    {
#pragma unroll
        for (int c = 0; c < components; c++) {
            const real a = now.a[c];
            if (k == 3) {
                add_exactly(fma(sixth2, now.of_x[c], fma(h, now.v[c], now.lost_x[c])), now.base[c],
                            now.lost_x[c]);
                add_exactly(fma(sixth, now.of_v[c] + a, now.lost_v[c]), now.v[c], now.lost_v[c]);
                now.x[c] = now.base[c];
                continue;
            }
            now.of_x[c] = k == 0 ? a : now.of_x[c] + a;
            now.of_v[c] = k == 0 ? a : fma((real)2, a, now.of_v[c]);
            now.x[c] = fma(k == 2 ? h : half, now.v[c], now.base[c]);
            if (k > 0)
                now.x[c] = fma(k == 1 ? quarter2 : half2, now.previous[c], now.x[c]);
            now.previous[c] = a;
        }
    }
};

/* The Hermite method as hermite.c has it. A step's changes include what was lost in the last. */
template <typename real_> struct cuda_hermite {
    typedef real_ real;
    template <int components> struct state : with_jerk<real, components> {
        real base_x[components], base_v[components], change_x[components], change_v[components];
    };
    static constexpr bool needs_jerk = true;
    static constexpr int32_t evaluation_count = 2;

    real h, half;                                  /* for velocities */
    real kick, half_kick, half2, twelfth2, sixth3; /* of h, h² and h³ times the unit */

    explicit cuda_hermite(const struct advance_problem &problem)
        : h((real)problem.h), half((real)(problem.h / 2)), kick((real)(problem.h * problem.unit)),
          half_kick((real)(problem.h / 2 * problem.unit)),
          half2((real)(problem.h * problem.h / 2 * problem.unit)),
          twelfth2((real)(problem.h * problem.h / 12 * problem.unit)),
          sixth3((real)(problem.h * problem.h * problem.h / 6 * problem.unit))
    {
    }

    template <int components> __device__ void begin(struct state<components> &now) const
    {
#pragma unroll
        for (int c = 0; c < components; c++) {
            const real x = now.x[c], v = now.v[c], a = now.a[c], j = now.jerk[c];
            now.base_x[c] = x;
            now.base_v[c] = v;
            now.change_x[c] = fma(twelfth2, a, fma(half, v, now.lost_x[c]));
            now.change_v[c] = fma(twelfth2, j, fma(half_kick, a, now.lost_v[c]));
            now.x[c] = fma(sixth3, j, fma(half2, a, fma(h, v, x)));
            now.v[c] = fma(half2, j, fma(kick, a, v));
        }
    }

    template <int components>
    __device__ void go_on(int32_t k, bool last_step, struct state<components> &now) const
    {
#pragma unroll
        for (int c = 0; c < components; c++) {
            now.v[c] = now.base_v[c];
            now.x[c] = now.base_x[c];
            add_exactly(fma(-twelfth2, now.jerk[c], fma(half_kick, now.a[c], now.change_v[c])),
                        now.v[c], now.lost_v[c]);
            add_exactly(fma(-twelfth2, now.a[c], fma(half, now.v[c], now.change_x[c])), now.x[c],
                        now.lost_x[c]);
        }
        if (k == 1 && !last_step)
            begin(now);
    }
};

/* How many systems, and how far apart the bodies of one are. */
__host__ __device__ inline int64_t systems_of(const struct advance_problem &problem)
{
    return problem.forces.system_count > 0 ? problem.forces.system_count : 1;
}

__host__ __device__ inline int64_t stride_of(const struct advance_problem &problem)
{
    return problem.forces.system_count > 0 ? problem.forces.system_stride : 1;
}

template <typename real> __device__ real number_at(const void *column, int64_t at)
{
    return column ? ((const real *)column)[at] : (real)0;
}

/* G m in the problem's unit, at most MASS_LIMIT²: core/floors.h. */
template <typename real> __device__ real mass_at(const struct advance_problem &problem, int64_t at)
{
    return (real)problem.forces.gravitational_constant *
           ((const real *)problem.forces.source_mass)[at];
}

/* ½ ε² of a body's own, or of all. */
template <typename real>
__device__ real half_softening2_at(const struct advance_problem &problem, int64_t at)
{
    return problem.forces.target_half_softening2
               ? ((const real *)problem.forces.target_half_softening2)[at]
               : (real)(problem.forces.softening2 / 2);
}

/* Component c of the problem's element `at` becomes number k of the motion. In 2D the third is 0.
 */
template <typename real, typename moving>
__device__ void load_motion(const struct advance_problem &problem, int c, int64_t at, int k,
                            moving &motion)
{
    motion.x[k] = number_at<real>(problem.position[c], at);
    motion.v[k] = number_at<real>(problem.velocity[c], at);
    motion.lost_x[k] = number_at<real>(problem.lost_position[c], at);
    motion.lost_v[k] = number_at<real>(problem.lost_velocity[c], at);
    motion.a[k] = problem.keeps_acceleration
                      ? number_at<real>(problem.acceleration[c], at) * (real)problem.inverse_unit
                      : 0;
}

template <typename real, typename moving>
__device__ void store_motion(const struct advance_problem &problem, int c, int64_t at, int k,
                             const moving &motion)
{
    if (!problem.position[c])
        return;
    ((real *)problem.position[c])[at] = motion.x[k];
    ((real *)problem.velocity[c])[at] = motion.v[k];
    ((real *)problem.lost_position[c])[at] = motion.lost_x[k];
    ((real *)problem.lost_velocity[c])[at] = motion.lost_v[k];
    if (problem.keeps_acceleration)
        ((real *)problem.acceleration[c])[at] = motion.a[k] * (real)problem.unit;
}

/* The same with the jerk, where the scheme has it. */
template <typename real, int components>
__device__ void load_state(const struct advance_problem &problem, int c, int64_t at, int k,
                           struct motion<real, components> &now)
{
    load_motion<real>(problem, c, at, k, now);
}

template <typename real, int components>
__device__ void load_state(const struct advance_problem &problem, int c, int64_t at, int k,
                           struct with_jerk<real, components> &now)
{
    load_motion<real>(problem, c, at, k, now);
    now.jerk[k] = number_at<real>(problem.jerk[c], at) * (real)problem.inverse_unit;
}

template <typename real, int components>
__device__ void store_state(const struct advance_problem &problem, int c, int64_t at, int k,
                            const struct motion<real, components> &now)
{
    store_motion<real>(problem, c, at, k, now);
}

template <typename real, int components>
__device__ void store_state(const struct advance_problem &problem, int c, int64_t at, int k,
                            const struct with_jerk<real, components> &now)
{
    store_motion<real>(problem, c, at, k, now);
    if (problem.jerk[c])
        ((real *)problem.jerk[c])[at] = now.jerk[k] * (real)problem.unit;
}

/* Adds a source's Σ m d / s³; the second form, whose differences go on with u of the velocities,
 * also Σ m [u / s³ − 3 (d·u) d / s⁵]. At the same position a pair leaves itself out. */
template <typename real>
__device__ void add_pair(real mass, real s2, const real (&difference)[3], real (&sum)[3])
{
    const real m_over_s3 = mass * inverse_cube(s2);
#pragma unroll
    for (int c = 0; c < 3; c++)
        sum[c] = fma(m_over_s3, difference[c], sum[c]);
}

template <typename real>
__device__ void add_pair(real mass, real s2, const real (&difference)[6], real (&sum)[6])
{
    const real *const d = difference, *const u = difference + 3;
    const real y = s2 == s2_floor<real>() ? (real)0 : inverse(s2), y2 = y * y;
    const real m_over_s3 = mass * y * y2;
    const real d_dot_u = fma(d[2], u[2], fma(d[1], u[1], d[0] * u[0]));
    const real factor = d_dot_u * y2 * (real)-3;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        sum[c] = fma(m_over_s3, d[c], sum[c]);
        sum[3 + c] = fma(m_over_s3, fma(factor, d[c], u[c]), sum[3 + c]);
    }
}

#endif
