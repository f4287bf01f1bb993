/* What the kernels of formulas have in common, of one precision and instruction set: compiled at
 * run time only. LAW_CUSTOM_BODY (write.c) is included twice: with SUMS_NUMBERS for
 *
 *   SUMS_IN_FLOAT      1: REAL is float
 *   SUMS_DIMENSIONS    1 to 3
 *   SUMS_MORE_AXES     axes beyond three, which are columns after those of formulas
 *   SUMS_ALL_PAIRS     1: candidates are read one after the other; 0: those within the cutoff
 *   SUMS_LISTED        1: the pairs are those of a list, or rows of one
 *   SUMS_FLAT          1: all candidates near a cell are evaluated (flat_kernel_body.h)
 *   SUMS_PERIODIC      1: candidates may have translations
 *   SUMS_OUTPUTS       their number
 *   SUMS_COLUMNS_I, _J the number of columns that formulas use, of targets and of sources
 *   SUMS_REDUCTION     a kith_sums_reduction
 *
 * and without for sums_load_i, sums_load_j and sums_values. */

#include <math.h>

#include "core/floors.h"
#define LAW_MEETS_SUBNORMAL
#include "core/simd.h"
#include "law/law_math_simd.h"
#include "law/law_numbers.h"
#include "pairs/lanes.h"

#define SUMS_NUMBERS
#include LAW_CUSTOM_BODY
#undef SUMS_NUMBERS

#if SUMS_IN_FLOAT
#define REAL          float
#define VREAL         vfloat
#define VMASK         vint32
#define VINDEX        vindex_float
#define WHOLE         int32_t
#define LANES         LANES_FLOAT
#define OF_REAL(name) name##_float
#define S2_FLOOR      S2_FLOOR_FLOAT
/* Where 1/r is not needed: a root has fewer operations, which wait for each other. */
#define law_distance(s2) law_sqrt(s2)
#else
#define REAL             double
#define VREAL            vdouble
#define VMASK            vint64
#define VINDEX           vindex_double
#define WHOLE            int64_t
#define LANES            LANES_DOUBLE
#define OF_REAL(name)    name##_double
#define S2_FLOOR         S2_FLOOR_DOUBLE
#define law_distance(s2) ((s2)*law_rsqrt((s2) + S2_FLOOR))
#endif

enum { most_columns = SUMS_COLUMNS_I + SUMS_COLUMNS_J + 1 };

/* As a formula sees a pair: columns by the index that write.c gave them, targets' first. */
struct sums_pair {
    VREAL s2, d[3], column[most_columns];
};

struct sums_constants {
    REAL c[law_constant_count];
};

/* sums_values(law, pair, value, factor): of value · factor; SUMS_DIVERGES(k), SUMS_IS_PRODUCT(k):
 * the factor is not 1. */
#include LAW_CUSTOM_BODY
