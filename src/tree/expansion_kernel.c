/* The expansion operators of one instruction set, for float and for double. */

#include "tree/expansion_kernel.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/simd.h"
#include "core/simd_gather.h"
#include "core/simd_math.h"
#include "tree/expansion_angles.h"
#include "tree/expansion_rotation.h"

enum {
    max_order = expansion_max_order + 1, /* M2P and L2P take a degree more */
    max_rows = max_order + 1,
    max_count = max_rows * (max_rows + 1) * (max_rows + 2) / 6
};

/* Orders of planes of coefficients that have loops of their own. */
enum { max_fixed = 10 };
#define EACH_FIXED(ROW)                                                                            \
    ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10)
/* Numbers of a column of a rotation. */
enum { most_of_column = 11 };
#define EACH_COLUMN(ROW)                                                                           \
    ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10) ROW(11)
_Static_assert(expansion_max_order / 2 + 1 == 11, "EACH_COLUMN has a row for each length");

/* Vectors of targets that a source cell is read for. */
enum { block_vectors = 8 };

/* Rows of all orders. */
#define EACH_LAST(ROW)                                                                             \
    EACH_FIXED(ROW)                                                                                \
    ROW(11) ROW(12) ROW(13) ROW(14) ROW(15) ROW(16) ROW(17) ROW(18) ROW(19) ROW(20)
_Static_assert(expansion_max_order == 20, "EACH_LAST has a row for each order");

#define REAL             float
#define VREAL            vfloat
#define INT              int32_t
#define VINT             vint32
#define BITS_OF_MANTISSA 23
#define NAME(name)       name##_float
#define FAR              0x1p8f
#include "tree/expansion_kernel_body.h"
#undef REAL
#undef VREAL
#undef INT
#undef VINT
#undef BITS_OF_MANTISSA
#undef NAME
#undef FAR

#define REAL             double
#define VREAL            vdouble
#define INT              int64_t
#define VINT             vint64
#define BITS_OF_MANTISSA 52
#define NAME(name)       name##_double
#define FAR              0x1p40
#include "tree/expansion_kernel_body.h"
#undef REAL
#undef VREAL
#undef INT
#undef VINT
#undef BITS_OF_MANTISSA
#undef NAME
#undef FAR

#define OPERATORS(real)                                                                            \
    {                                                                                              \
        p2m_##real, m2m_##real, m2l_##real, l2l_##real, l2p_##real, m2p_##real, powers_##real      \
    }

const struct expansion_kernels KITH_ISA_SYMBOL(expansion) = {.in_double = OPERATORS(double),
                                                             .in_float = OPERATORS(float)};
