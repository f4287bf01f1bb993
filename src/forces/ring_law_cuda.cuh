#ifndef FORCES_RING_LAW_CUDA_CUH
#define FORCES_RING_LAW_CUDA_CUH

/* Laws of the table in the symmetric kernel (ring_warp_cuda.cuh): sums of forces, f(s²) w_i w_j d,
 * and of values. */

#include "forces/deliver_cuda.cuh"
#include "forces/problem.h"
#include "forces/ring_warp_cuda.cuh"
#include "law/law_kinds.h"

template <typename real> struct ring_law_numbers;

#define KERNEL_BODY "forces/ring_law_cuda_body.h"
#include "law/for_each_real_cuda.h"

/* A problem, its law and the law's constants, and the column of weights; NULL: ones. */
struct ring_law_problem : forces_problem {
    struct law_numbers numbers;
    const void *weight;
    enum law_kind kind;
};

static inline const void **ring_weight(struct ring_law_problem *problem)
{
    return &problem->weight;
}

/* What is the same for all laws. */
template <typename real_, bool potential_> struct ring_laws {
    typedef real_ real;
    typedef struct ring_law_problem problem;
    static constexpr bool potential = potential_, by_masses = false;
    static constexpr enum ring_form form = sums_are_forces;

    /* deliver turns the sign of potentials. */
    static __device__ inline void result(const problem &problem, int64_t i, int value, double sum,
                                         bool)
    {
        const double mass =
            problem.target_mass ? (double)((const real *)problem.target_mass)[i] : 1.0;
        deliver<real>(problem, i, value, value < 3 ? sum / mass : -sum);
    }
};

template <enum law_kind kind, typename real, bool potential>
struct ring_law : ring_laws<real, potential> {
    typedef struct ring_law_problem problem;

    struct constants {
        real softening2;
        struct ring_law_numbers<real> numbers;
    };

    static __device__ inline struct constants load(const problem &problem)
    {
        return {(real)(problem.softening2_at ? *problem.softening2_at : problem.softening2),
                ring_law_load(problem.numbers, (real)0)};
    }

    /* Past the last body the first one again, of weight 0: where it is, forces are finite. */
    static __device__ inline struct ring_body<real> load_body(const problem &problem, int64_t i) {
        const bool is_one = i < problem.target_count;
        const int64_t k = is_one ? i : 0;
        struct ring_body<real> body;
        body.x = ((const real *)problem.target_position[0])[k];
        body.y = ((const real *)problem.target_position[1])[k];
        body.z =
            problem.target_position[2] ? ((const real *)problem.target_position[2])[k] : (real)0;
        const real weight = problem.weight ? ((const real *)problem.weight)[k] : (real)1;
        body.mass = is_one ? weight : (real)0;
        return body;
    }

    template <bool symmetric>
    static __device__ inline void
    meet(const struct constants &constants, const struct ring_body<real> &target,
         const struct ring_body<real> &source, bool is_self, real *target_sum, real *source_sum)
    {
        const real dx = source.x - target.x, dy = source.y - target.y, dz = source.z - target.z;
        const real s2 = fma(dz, dz, fma(dy, dy, fma(dx, dx, constants.softening2)));
        const real factor =
            ring_law_factor<kind>(constants.numbers, s2) * source.mass * target.mass;
        target_sum[0] = fma(factor, dx, target_sum[0]);
        target_sum[1] = fma(factor, dy, target_sum[1]);
        target_sum[2] = fma(factor, dz, target_sum[2]);
        if (symmetric) {
            source_sum[0] = fma(-factor, dx, source_sum[0]);
            source_sum[1] = fma(-factor, dy, source_sum[1]);
            source_sum[2] = fma(-factor, dz, source_sum[2]);
        }
        if (potential) {
            const real of_pair =
                ring_law_value<kind>(constants.numbers, s2) * source.mass * target.mass;
            const real value = is_self ? (real)0 : of_pair;
            target_sum[3] += value;
            if (symmetric)
                source_sum[3] += value;
        }
    }
};

#endif
