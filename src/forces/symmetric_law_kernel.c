/* Laws by the symmetric loop, for one instruction set: symmetric_law_body.h, for float and for
 * double. */

#include "forces/symmetric_kernel.h"

#include <stddef.h>

#include "forces/law_sums_problem.h"

/* What the loop is compiled for; constants once inlined. */
struct variant {
    int32_t vectors, fields; /* these four: symmetric_loop_body.h */
    bool has_rest, potential;
    struct law_form form;
    bool careful; /* pairs may be at the same position, and bodies may have softenings of their own
                   */
    bool central;
};

#define KERNEL_BODY "forces/symmetric_law_body.h"
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY
const struct forces_symmetric_laws KITH_ISA_SYMBOL(forces_symmetric_law) = {
#define ENTRY(kind) [law_##kind] = symmetric_##kind##_double,
    .in_double = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
#define ENTRY(kind) [law_##kind] = symmetric_##kind##_float,
    .in_float = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
};
#endif
