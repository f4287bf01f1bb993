/* Forces by any law and the rates at which they change, for one instruction set and
 * real type: law_jerk_kernel_body.h. */

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"
#include "forces/law_sums_kernel.h"
#include "law/real_law.h"

/* Sums over this many sources are taken in the problem's own precision, the sum of these sums in
 * double: as in law_sums_kernel.c. */
enum { chunk_sources = 256 };

enum { one_sided_vectors = 1, one_sided_values = law_jerk_values };

struct variant {
    int vectors;
    bool adds_apart;
    struct law_form form;
};

#include "forces/law_jerk_kernel_body.h"

#ifndef LAW_CUSTOM_BODY
#define ENTRY(kind) [law_##kind] = jerk_##kind,
const struct law_sums_kernels KITH_REAL_SYMBOL(law_jerk) = {{LAW_EACH_BUILT_IN(ENTRY)}, REAL_LANES};
#undef ENTRY
#endif
