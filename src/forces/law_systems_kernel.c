/* Forces by any law in many small systems, for one instruction set and real type:
 * law_systems_kernel_body.h. */

#include <stdint.h>

#include "forces/law_sums_kernel.h"
#include "law/real_law.h"

struct systems_variant {
    struct law_form form;
    struct law_pull_outputs outputs;
};

#include "forces/law_systems_kernel_body.h"

#ifndef LAW_CUSTOM_BODY
#define ENTRY(kind) [law_##kind] = systems_##kind,
const struct law_sums_kernels KITH_REAL_SYMBOL(law_systems) = {{LAW_EACH_BUILT_IN(ENTRY)},
                                                               REAL_LANES};
#undef ENTRY
#endif
