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
#define ROUGH_SCALE SIMD_RSQRT3_ROUGH_SCALE_FLOAT
#include "tree/near_kernel_body.h"
#undef REAL
#undef VREAL
#undef INT
#undef VINT
#undef NAME
#undef S2_FLOOR
#undef FIELD_SCALE
#undef ROUGH_SCALE

#define REAL        double
#define VREAL       vdouble
#define INT         int64_t
#define VINT        vint64
#define NAME(name)  name##_double
#define S2_FLOOR    S2_FLOOR_DOUBLE
#define FIELD_SCALE SIMD_RSQRT3_SCALE_DOUBLE
#define ROUGH_SCALE SIMD_RSQRT3_ROUGH_SCALE_DOUBLE
#include "tree/near_kernel_body.h"

/* A vector at a time, the last of them up to the end: most copies are of a few vectors, which
 * memcpy takes longer to begin than to do. */
static void copy_columns(void *const *to, const void *const *from, int32_t columns, int64_t bytes)
{
    const int64_t last = bytes - SIMD_BYTES;
    for (int32_t c = 0; c < columns; c++) {
        char *const restrict into = to[c];
        const char *const restrict of = from[c];
        if (last < 0) {
            memcpy(into, of, (size_t)bytes);
            continue;
        }
        for (int64_t k = 0; k < last; k += SIMD_BYTES)
            memcpy(into + k, of + k, SIMD_BYTES);
        memcpy(into + last, of + last, SIMD_BYTES);
    }
}

const struct tree_near_kernels KITH_ISA_SYMBOL(tree_near) = {
    .in_double = near_double,
    .in_float = near_float,
    .rough_error = {SIMD_RSQRT3_ROUGH_ERROR_DOUBLE, SIMD_RSQRT3_ROUGH_ERROR_FLOAT},
    .copy_columns = copy_columns,
    .bytes = SIMD_BYTES};
