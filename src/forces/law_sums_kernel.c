/* Sums over pairs by any law, for one instruction set and real type:
 * law_sums_kernel_body.h. */

#include "forces/law_sums_kernel.h"
#include "core/memory.h"
#include "law/real_law.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums over this many sources are taken in the problem's own precision, the sum of these sums in
 * double: a float result is then as good as its terms for any number of sources. */
enum { chunk_sources = 256 };

/* Vectors of targets in a register block, which divides kith_padding, and their sums. */
enum { one_sided_vectors = 4, one_sided_values = law_sums_values };

/* What the inner loop is compiled for; constants once inlined. */
struct variant {
    int vectors; /* of targets: one_sided_vectors or 1 */
    bool adds_apart;
    bool omits_self; /* j = i */
    bool may_touch;  /* pairs may be at the same position */
    struct law_form form;
    enum law_sums sums;
    int per_body; /* half of ε² from the target and half from the source */
    int central;
};

#include "forces/law_sums_kernel_body.h"

#ifndef LAW_CUSTOM_BODY
#define ENTRY(kind) [law_##kind] = sums_##kind,
const struct law_sums_kernels KITH_REAL_SYMBOL(law_sums) = {{LAW_EACH_BUILT_IN(ENTRY)}, REAL_LANES};
#undef ENTRY
#endif
