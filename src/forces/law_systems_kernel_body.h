/* Forces by any law in many small systems, for one precision (law/for_each_real.h): a system in
 * each lane. Every pair is met from both sides, as a formula need not be symmetric. */

#include "forces/law_pull_body.h"

/* What body i feels in each of the systems. */
SIMD_INLINE void NAME(sum_pulls)(const struct law_form form, const struct law_pull_outputs outputs,
                                 const struct NAME(law_constants) * law, int bodies, int i,
                                 const struct NAME(place) * place, struct NAME(pull) * sum)
{
    *sum = (struct NAME(pull)){0};
    for (int j = 0; j < bodies; j++) {
        struct NAME(pull) pull;
        if (j == i)
            continue;
        NAME(pull_by)(form, outputs, law, &place[i], &place[j], &pull);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++) {
            sum->force[c] += pull.force[c];
            if (outputs.rate)
                sum->rate[c] += pull.rate[c];
        }
        if (outputs.value)
            sum->value += pull.value;
    }
}

/* Compiled once for all laws. */
static __attribute__((noinline)) void NAME(store_pull)(const struct law_pull_outputs outputs,
                                                       const struct law_sums_problem *problem,
                                                       long long at, const struct NAME(pull) * sum)
{
    for (int c = 0; c < 3; c++) {
        if (problem->acceleration[c])
            NAME(store_over_mass)(problem, at, sum->force[c], problem->acceleration[c]);
        if (outputs.rate && problem->jerk[c])
            NAME(store_over_mass)(problem, at, sum->rate[c], problem->jerk[c]);
    }
    if (outputs.value)
        simd_store((REAL *)problem->value + at, sum->value);
}

SIMD_INLINE void NAME(compute_systems)(const struct law_form form,
                                       const struct law_pull_outputs outputs,
                                       const struct law_sums_problem *problem, long long begin,
                                       long long end)
{
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const int bodies = (int)problem->target_count;
    struct NAME(place) place[law_systems_most_bodies];
    for (long long s = begin; s < end; s += NAME(lanes)) {
        for (int i = 0; i < bodies; i++)
            NAME(load_place)(problem, i * problem->system_stride + s, &place[i]);
        for (int i = 0; i < bodies; i++) {
            struct NAME(pull) sum;
            NAME(sum_pulls)(form, outputs, &law, bodies, i, place, &sum);
            const struct NAME(pull) found = sum; /* sum stays in registers */
            NAME(store_pull)(outputs, problem, i * problem->system_stride + s, &found);
        }
    }
}

/* Values are requested rarely, and then all outputs are computed. */
SIMD_INLINE void NAME(compute)(const struct law_form form, const struct law_sums_problem *problem,
                               long long begin, long long end)
{
    const struct law_pull_outputs force = {0}, rate = {.rate = 1}, all = {.rate = 1, .value = 1};
    if (problem->value)
        NAME(compute_systems)(form, all, problem, begin, end);
    else if (problem->jerk[0])
        NAME(compute_systems)(form, rate, problem, begin, end);
    else
        NAME(compute_systems)(form, force, problem, begin, end);
}

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) law_sums_kernel NAME(law_systems_custom);
void NAME(law_systems_custom)(const struct law_sums_problem *problem, long long begin,
                              long long end)
{
    NAME(compute)((struct law_form){law_custom, law_unweighted}, problem, begin, end);
}
#else
/* The constant is the only kind that the table has with several weightings. */
#define DEFINE(kind)                                                                               \
    static void NAME(systems_##kind)(const struct law_sums_problem *problem, long long begin,      \
                                     long long end)                                                \
    {                                                                                              \
        if (law_##kind == law_constant && problem->weighting == law_sum)                           \
            NAME(compute)((struct law_form){law_##kind, law_sum}, problem, begin, end);            \
        else if (law_##kind == law_constant)                                                       \
            NAME(compute)((struct law_form){law_##kind, law_product}, problem, begin, end);        \
        else                                                                                       \
            NAME(compute)                                                                          \
        ((struct law_form){law_##kind, LAW_SUMS_WEIGHTING(law_##kind)}, problem, begin, end);      \
    }
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#endif
