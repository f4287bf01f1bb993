/* Forces by any law in many small systems on a GPU, for one precision (law/for_each_real_cuda.h):
 * laws in the loop of small systems. */

#include "forces/law_pull_cuda_body.h"

/* A sum over the mass of element `at`. + 0: no −0 of an empty sum. */
LAW_INLINE void NAME(law_store)(const struct law_sums_problem *problem, void *column, bool is_force,
                                long long at, REAL sum)
{
    if (column)
        ((REAL *)column)[at] =
            (is_force ? sum / NAME(law_element)(problem->target_mass, at, 1) : sum) + (REAL)0;
}

/* all: with the rate and the value, requested or not. */
template <enum law_kind kind, enum law_weighting weighting, bool all> struct NAME(law_in_systems)
{
    typedef struct law_sums_problem problem;
    typedef struct NAME(law_constants) constants;
    typedef struct NAME(law_place) body;
    typedef struct NAME(law_pull) sums;

    static __device__ inline constants load(const problem &problem)
    {
        return NAME(law_load)(&problem.numbers);
    }

    static __device__ inline body load_body(const problem &problem, long long at)
    {
        body body;
        NAME(law_load_target)(&problem, at, &body);
        return body;
    }

    static __device__ inline void add(const constants &law, const body &target, const body &source,
                                      sums &sum)
    {
        NAME(law_add_pull)
        (law_form{kind, weighting}, law_pull_outputs{all, all, false}, &law, &target, &source,
         &sum);
    }

    static __device__ inline void put(const problem &problem, long long at, const sums &sum)
    {
        for (int c = 0; c < 3; c++) {
            NAME(law_store)(&problem, problem.acceleration[c], true, at, sum.force[c]);
            if (all)
                NAME(law_store)(&problem, problem.jerk[c], true, at, sum.rate[c]);
        }
        if (all)
            NAME(law_store)(&problem, problem.value, false, at, sum.value);
    }
};

#ifdef LAW_CUSTOM_BODY
#define LAW_CUSTOM_SYSTEMS(name, all)                                                              \
    extern "C" __global__ void __launch_bounds__(systems_block *systems_bodies)                    \
        NAME(law_systems_##name)(const struct law_sums_problem problem)                            \
    {                                                                                              \
        in_systems < NAME(law_in_systems) < law_custom, law_unweighted, all >> (problem);          \
    }
LAW_CUSTOM_SYSTEMS(custom_force, false)
LAW_CUSTOM_SYSTEMS(custom_all, true)
#undef LAW_CUSTOM_SYSTEMS
#else
/* The constant is the only kind that the table has with several weightings. */
template <enum law_kind kind, bool all>
__global__ void __launch_bounds__(systems_block *systems_bodies)
    NAME(law_systems_kernel)(const struct law_sums_problem problem)
{
    if (kind == law_constant && problem.weighting == law_sum)
        in_systems < NAME(law_in_systems) < kind, law_sum, all >> (problem);
    else if (kind == law_constant && problem.weighting == law_product)
        in_systems < NAME(law_in_systems) < kind, law_product, all >> (problem);
    else
        in_systems < NAME(law_in_systems) < kind, LAW_SUMS_WEIGHTING(kind), all >> (problem);
}
#endif
