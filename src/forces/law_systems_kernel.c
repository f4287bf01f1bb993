/* Forces by any law in many small systems, for one instruction set: law_systems_kernel_body.h, for
 * float and for double. */

#include <stdint.h>

#include "forces/law_sums_kernel.h"

enum { systems_room = law_systems_most_bodies };

struct systems_variant {
    struct law_form form;
    struct law_pull_outputs outputs;
};

#define KERNEL_BODY "forces/law_systems_kernel_body.h"
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY
const struct law_sums_kernels KITH_ISA_SYMBOL(law_systems) = {
#define ENTRY(kind) [law_##kind] = systems_##kind##_float,
    .in_float = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
#define ENTRY(kind) [law_##kind] = systems_##kind##_double,
    .in_double = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
    .vector_bytes = SIMD_BYTES,
};
#endif
