/* Sums over near points by any law, for one instruction set: near_law_kernel_body.h, for float and
 * for double. */

#include "tree/near_law_kernel.h"

#include <stdbool.h>

#define KERNEL_BODY "tree/near_law_kernel_body.h"
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY
const struct tree_near_law_kernels KITH_ISA_SYMBOL(tree_near_law) = {
#define ENTRY(kind) [law_##kind] = near_##kind##_float,
    .in_float = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
#define ENTRY(kind) [law_##kind] = near_##kind##_double,
    .in_double = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
};
#endif
