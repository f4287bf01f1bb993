/* Forces within a cutoff by any law, for one instruction set: cutoff_kernel_body.h, for float and
 * for double. */

#include "forces/cutoff_kernel.h"

#include <stddef.h>

#include "forces/law_sums_problem.h"
#include "pairs/lanes.h"

/* What the loop over pairs is compiled for; constants once inlined. */
struct cutoff_variant {
    enum law_kind kind;
    int everything; /* values, totals, softenings of bodies, forces that are not central */
    int shifted;    /* the force, by what it is at the cutoff for all pairs */
};

#define KERNEL_BODY "forces/cutoff_kernel_body.h"
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY
#define ENTRY_FLOAT(kind)  [law_##kind] = cutoff_##kind##_float,
#define ENTRY_DOUBLE(kind) [law_##kind] = cutoff_##kind##_double,
const struct cutoff_kernels KITH_ISA_SYMBOL(cutoff_kernels) = {
    .in_float = {LAW_EACH_BUILT_IN(ENTRY_FLOAT)},
    .in_double = {LAW_EACH_BUILT_IN(ENTRY_DOUBLE)},
};
#endif
