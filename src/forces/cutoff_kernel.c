/* Forces within a cutoff by any law, for one instruction set and real type: cutoff_kernel_body.h.
 */

#include "forces/cutoff_kernel.h"

#include <stddef.h>

#include "forces/law_sums_problem.h"
#include "law/real_law.h"
#include "pairs/lanes.h"

/* What the loop over pairs is compiled for; constants once inlined. */
struct cutoff_variant {
    enum law_kind kind;
    int everything; /* values, totals, softenings of bodies, forces that are not central */
    int shifted;    /* the force, by what it is at the cutoff for all pairs */
};

#include "forces/cutoff_kernel_body.h"

#ifndef LAW_CUSTOM_BODY
#define ENTRY(kind) [law_##kind] = cutoff_##kind,
const struct cutoff_kernels KITH_REAL_SYMBOL(cutoff_kernels) = {{LAW_EACH_BUILT_IN(ENTRY)}};
#undef ENTRY
#endif
