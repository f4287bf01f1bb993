/* Compiled for each instruction set. */

#include "law_values.h"

#define KERNEL_BODY "law/law_values_kernel_body.h"
#define LAW_MEETS_SUBNORMAL
#include "law/for_each_real.h"

/* A branch outside the loop chooses the weighting; few kinds have several in the table of laws. */
#define DEFINE_OF(kind, real)                                                                      \
    static void values_##kind##_##real(const struct law_values_problem *problem)                   \
    {                                                                                              \
        if (law_##kind == law_constant && problem->weighting == law_sum)                           \
            values_##real((struct law_form){law_##kind, law_sum}, problem);                        \
        else if (LAW_MAY_BE_PRODUCT(law_##kind) && problem->weighting == law_product)              \
            values_##real((struct law_form){law_##kind, law_product}, problem);                    \
        else if (law_##kind != law_constant)                                                       \
            values_##real((struct law_form){law_##kind, law_unweighted}, problem);                 \
    }
#define DEFINE(kind)                                                                               \
    DEFINE_OF(kind, float)                                                                         \
    DEFINE_OF(kind, double)
LAW_EACH_BUILT_IN(DEFINE)

const struct law_values_kernels KITH_ISA_SYMBOL(law_values) = {
#define ENTRY(kind) [law_##kind] = values_##kind##_float,
    .in_float = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
#define ENTRY(kind) [law_##kind] = values_##kind##_double,
    .in_double = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
};
