/* Forces by any law in many small systems, for one precision (law/real_law.h): laws in the
 * loop of small systems. */

#include "forces/law_pull_body.h"

struct systems_constants {
    struct NAME(law_constants) law;
    int is_symmetric; /* V(j, i) is V(i, j), and forces are equal and opposite */
};

SIMD_INLINE void copy_pull(const struct systems_variant variant, const struct pull *from,
                           struct pull *to)
{
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        to->force[c] = from->force[c];
        if (variant.outputs.rate)
            to->rate[c] = from->rate[c];
    }
    if (variant.outputs.value)
        to->value = from->value;
}

/* sum += sign · pull, the value without the sign. */
SIMD_INLINE void add_pull(const struct systems_variant variant, REAL sign, const struct pull *pull,
                          struct pull *sum)
{
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        sum->force[c] += sign * pull->force[c];
        if (variant.outputs.rate)
            sum->rate[c] += sign * pull->rate[c];
    }
    if (variant.outputs.value)
        sum->value += pull->value;
}

/* A formula need not be symmetric: then the pair is evaluated from both sides. */
SIMD_INLINE void pull_together(const struct systems_variant variant,
                               const struct systems_constants *constants, const struct place *i,
                               const struct place *j, struct pull *of_i, struct pull *of_j)
{
    struct pull pull;
    pull_by(variant.form, variant.outputs, &constants->law, i, j, &pull);
    add_pull(variant, 1, &pull, of_i);
    if (constants->is_symmetric) {
        add_pull(variant, -1, &pull, of_j);
    } else {
        pull_by(variant.form, variant.outputs, &constants->law, j, i, &pull);
        add_pull(variant, 1, &pull, of_j);
    }
}

#include "forces/systems_loop_body.h"

/* Compiled once for all laws. */
static __attribute__((noinline)) void store_pull(const struct law_pull_outputs outputs,
                                                 const struct law_sums_problem *problem,
                                                 long long at, const struct pull *sum)
{
    for (int c = 0; c < 3; c++) {
        if (problem->acceleration[c])
            store_over_mass(problem, at, sum->force[c], problem->acceleration[c]);
        if (outputs.rate && problem->jerk[c])
            store_over_mass(problem, at, sum->rate[c], problem->jerk[c]);
    }
    if (outputs.value)
        simd_store((REAL *)problem->value + at, sum->value);
}

SIMD_INLINE void compute_systems(const struct systems_variant variant,
                                 const struct law_sums_problem *problem, long long begin,
                                 long long end)
{
    const struct systems_constants constants = {NAME(law_load)(&problem->numbers),
                                                variant.form.kind != law_custom ||
                                                    problem->is_symmetric};
    struct block block;
    block.bodies = (int)problem->target_count;
    for (long long s = begin; s < end; s += REAL_LANES) {
        for (int i = 0; i < block.bodies; i++)
            load_place(problem, i * problem->system_stride + s, &block.place[i]);
        block_evaluate(variant, &constants, &block);
        for (int i = 0; i < block.bodies; i++)
            store_pull(variant.outputs, problem, i * problem->system_stride + s, &block.pull[i]);
    }
}

/* Values are requested rarely, and then all outputs are computed. */
SIMD_INLINE void compute(const struct law_form form, const struct law_sums_problem *problem,
                         long long begin, long long end)
{
    const struct systems_variant force = {form, {0}}, rate = {form, {.rate = 1}},
                                 all = {form, {.rate = 1, .value = 1}};
    if (problem->value)
        compute_systems(all, problem, begin, end);
    else if (problem->jerk[0])
        compute_systems(rate, problem, begin, end);
    else
        compute_systems(force, problem, begin, end);
}

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) law_sums_kernel OF_REAL(law_systems_custom);
void OF_REAL(law_systems_custom)(const struct law_sums_problem *problem, long long begin,
                                 long long end)
{
    compute((struct law_form){law_custom, law_unweighted}, problem, begin, end);
}
#else
/* The constant is the only kind that the table has with several weightings. */
#define DEFINE(kind)                                                                               \
    static void systems_##kind(const struct law_sums_problem *problem, long long begin,            \
                               long long end)                                                      \
    {                                                                                              \
        if (law_##kind == law_constant && problem->weighting == law_sum)                           \
            compute((struct law_form){law_##kind, law_sum}, problem, begin, end);                  \
        else if (law_##kind == law_constant)                                                       \
            compute((struct law_form){law_##kind, law_product}, problem, begin, end);              \
        else                                                                                       \
            compute((struct law_form){law_##kind, LAW_SUMS_WEIGHTING(law_##kind)}, problem, begin, \
                    end);                                                                          \
    }
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#endif
