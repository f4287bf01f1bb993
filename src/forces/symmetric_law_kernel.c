/* Laws by the symmetric loop, for one instruction set and real type:
 * symmetric_law_body.h. */

#include "forces/symmetric_kernel.h"

#include <stddef.h>

#include "forces/law_sums_problem.h"
#include "law/real_law.h"

/* What the loop is compiled for; constants once inlined. */
struct variant {
    int32_t vectors, fields; /* these four: symmetric_loop_body.h */
    bool has_rest, potential;
    struct law_form form;
    bool careful; /* pairs may be at the same position, and bodies may have softenings of their own
                   */
    bool central;
};

#include "forces/symmetric_law_body.h"

#ifndef LAW_CUSTOM_BODY
#define ENTRY(kind) [law_##kind] = symmetric_##kind,
forces_symmetric_kernel *const KITH_REAL_SYMBOL(forces_symmetric_law)[] = {
    LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
#endif
