/* What the kernels of formulas on a GPU have in common, of one precision: compiled at run time by
 * NVRTC only. LAW_CUSTOM_BODY (write.c) is included twice, as in formulas_kernel_body.h. */

#include "core/floors.h"
#include "law/law_math_cuda.h"
#include "law/law_numbers.h"

#define SUMS_NUMBERS
#include LAW_CUSTOM_BODY
#undef SUMS_NUMBERS

#if SUMS_IN_FLOAT
#define REAL     float
#define S2_FLOOR S2_FLOOR_FLOAT
#else
#define REAL     double
#define S2_FLOOR S2_FLOOR_DOUBLE
#endif
#define VREAL            REAL
#define VMASK            bool
#define law_distance(s2) ((s2)*law_rsqrt((s2) + S2_FLOOR))

/* As a formula sees a pair: columns by the index that write.c gave them, targets' first. */
struct sums_pair {
    REAL s2, d[3], column[SUMS_COLUMNS_I + SUMS_COLUMNS_J + 1];
};

struct sums_constants {
    REAL c[law_constant_count];
};

/* sums_values(law, pair, value, factor): of value · factor; SUMS_DIVERGES(k), SUMS_IS_PRODUCT(k):
 * the factor is not 1. */
#include LAW_CUSTOM_BODY

LAW_INLINE struct sums_constants constants_of(const struct law_numbers &numbers)
{
    struct sums_constants law;
    for (int k = 0; k < law_constant_count; k++)
        law.c[k] = (REAL)numbers.c[k];
    return law;
}
