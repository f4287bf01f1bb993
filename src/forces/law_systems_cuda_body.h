/* Forces by any law in many small systems on a GPU, for one precision (law/for_each_real_cuda.h): a
 * thread a body, neighboring threads in neighboring systems, as in systems_cuda.cu. */

#include "forces/law_pull_cuda_body.h"

/* A sum over the mass of element `at`. + 0: no −0 of an empty sum. */
LAW_INLINE void NAME(law_store)(const struct law_sums_problem *problem, void *column, bool is_force,
                                long long at, REAL sum)
{
    if (column)
        ((REAL *)column)[at] =
            (is_force ? sum / NAME(law_element)(problem->target_mass, at, 1) : sum) + (REAL)0;
}

LAW_INLINE void NAME(law_systems)(const struct law_form form, const struct law_pull_outputs outputs,
                                  const struct law_sums_problem *problem)
{
    const long long s = (long long)blockIdx.x * law_systems_block + threadIdx.x;
    if (s >= problem->system_count)
        return;
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    for (long long i = threadIdx.y; i < problem->target_count; i += law_systems_bodies) {
        const long long at = i * problem->system_stride + s;
        struct NAME(law_place) target, source;
        struct NAME(law_pull) sum = {};
        NAME(law_load_target)(problem, at, &target);
        for (long long j = 0; j < problem->target_count; j++) {
            NAME(law_load_source)(problem, j * problem->system_stride + s, &source);
            if (j != i)
                NAME(law_add_pull)(form, outputs, &law, &target, &source, &sum);
        }
        for (int c = 0; c < 3; c++) {
            NAME(law_store)(problem, problem->acceleration[c], true, at, sum.force[c]);
            if (outputs.rate)
                NAME(law_store)(problem, problem->jerk[c], true, at, sum.rate[c]);
        }
        if (outputs.value)
            NAME(law_store)(problem, problem->value, false, at, sum.value);
    }
}

#ifdef LAW_CUSTOM_BODY
#define LAW_CUSTOM_SYSTEMS(name, ...)                                                              \
    extern "C" __global__ void __launch_bounds__(law_systems_block *law_systems_bodies)            \
        NAME(law_systems_##name)(const struct law_sums_problem problem)                            \
    {                                                                                              \
        NAME(law_systems)(law_form{law_custom, law_unweighted}, {__VA_ARGS__}, &problem);          \
    }
LAW_CUSTOM_SYSTEMS(custom_force, false, false)
LAW_CUSTOM_SYSTEMS(custom_all, true, true)
#undef LAW_CUSTOM_SYSTEMS
#else
/* all: with jerk and value, requested or not. The constant is the only kind that the table has with
 * several weightings. */
template <enum law_kind kind, bool all>
__global__ void __launch_bounds__(law_systems_block *law_systems_bodies)
    NAME(law_systems_kernel)(const struct law_sums_problem problem)
{
    if (kind == law_constant && problem.weighting == law_sum)
        NAME(law_systems)(law_form{kind, law_sum}, {all, all, false}, &problem);
    else if (kind == law_constant && problem.weighting == law_product)
        NAME(law_systems)(law_form{kind, law_product}, {all, all, false}, &problem);
    else
        NAME(law_systems)(law_form{kind, LAW_SUMS_WEIGHTING(kind)}, {all, all, false}, &problem);
}
#endif
