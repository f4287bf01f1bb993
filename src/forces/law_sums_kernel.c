/* Sums over pairs by any law, for one instruction set: law_sums_kernel_body.h, for float and for
 * double. */

#include "forces/law_sums_kernel.h"

#include <stdbool.h>
#include <stddef.h>

/* Sums over so many sources are taken in the problem's own precision, the sum of these sums in
 * double: a float result is then as good as its terms for any number of sources. */
enum { chunk_sources = 256 };

/* Vectors of targets in a register block, which divides kith_padding. */
enum { wide = 4 };

/* What the inner loop is compiled for; constants once inlined. */
struct variant {
    struct law_form form;
    enum law_sums sums;
    int per_body; /* half of ε² from the target and half from the source */
    int central;
};

#define KERNEL_BODY "forces/law_sums_kernel_body.h"
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY
const struct law_sums_kernels KITH_ISA_SYMBOL(law_sums) = {
    .find_in_float = law_sums_find_float,
    .find_in_double = law_sums_find_double,
    .vector_bytes = SIMD_BYTES,
};
#endif
