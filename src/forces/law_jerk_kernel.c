/* Forces by any law and the rates at which they change, for one instruction set:
 * law_jerk_kernel_body.h, for float and for double. */

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"
#include "forces/law_sums_kernel.h"

/* Sums over this many sources are taken in the problem's own precision, the sum of these sums in
 * double: as in law_sums_kernel.c. */
enum { chunk_sources = 256 };

enum { one_sided_vectors = 1, one_sided_values = law_jerk_values };

struct variant {
    int vectors;
    bool adds_apart;
    struct law_form form;
};

#define KERNEL_BODY "forces/law_jerk_kernel_body.h"
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY
const struct law_sums_kernels KITH_ISA_SYMBOL(law_jerk) = {
#define ENTRY(kind) [law_##kind] = jerk_##kind##_float,
    .in_float = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
#define ENTRY(kind) [law_##kind] = jerk_##kind##_double,
    .in_double = {LAW_EACH_BUILT_IN(ENTRY)},
#undef ENTRY
    .vector_bytes = SIMD_BYTES,
};
#endif
