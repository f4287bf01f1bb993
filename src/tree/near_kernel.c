/* The near kernels of one instruction set: near_kernel_body.h, for float and for double. */

#include "tree/near_kernel.h"

#include <string.h>

#include "core/floors.h"
#include "core/simd.h"
#include "core/simd_math.h"

#define REAL        float
#define VREAL       vfloat
#define INT         int32_t
#define VINT        vint32
#define NAME(name)  name##_float
#define S2_FLOOR    S2_FLOOR_FLOAT
#define FIELD_SCALE SIMD_RSQRT3_SCALE_FLOAT
#include "tree/near_kernel_body.h"
#undef REAL
#undef VREAL
#undef INT
#undef VINT
#undef NAME
#undef S2_FLOOR
#undef FIELD_SCALE

#define REAL        double
#define VREAL       vdouble
#define INT         int64_t
#define VINT        vint64
#define NAME(name)  name##_double
#define S2_FLOOR    S2_FLOOR_DOUBLE
#define FIELD_SCALE SIMD_RSQRT3_SCALE_DOUBLE
#include "tree/near_kernel_body.h"

const struct tree_near_kernels KITH_ISA_SYMBOL(tree_near) = {
    .in_double = near_double, .in_float = near_float, .bytes = SIMD_BYTES};
