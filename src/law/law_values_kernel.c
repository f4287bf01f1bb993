/* The values of pairs, for one instruction set: law_values_kernel_body.h. */

#include "law/law_values_kernel.h"

#define KERNEL_BODY "law/law_values_kernel_body.h"
#define LAW_MEETS_SUBNORMAL
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY
const struct law_values_kernels KITH_ISA_SYMBOL(law_values) = {
#define ENTRY(kind) [law_##kind] = values_##kind##_float,
    .in_float = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
#define ENTRY(kind) [law_##kind] = values_##kind##_double,
    .in_double = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
};
#endif
