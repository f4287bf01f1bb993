/* Includes the body of a kernel, KERNEL_BODY, for float and for double, with
 *
 *   REAL, VREAL  float, vfloat or double, vdouble
 *   NAME(name)   name_float or name_double
 *   S2_FLOOR     core/floors.h
 *   FIELD_SCALE  what simd_rsqrt3_scaled multiplies by
 *
 * To be included once for each body; KERNEL_BODY is then free again. */

#include "core/floors.h"
#include "core/simd.h"

#define REAL        float
#define VREAL       vfloat
#define NAME(name)  name##_float
#define S2_FLOOR    S2_FLOOR_FLOAT
#define FIELD_SCALE (double)SIMD_RSQRT3_SCALE_FLOAT
#include KERNEL_BODY
#undef REAL
#undef VREAL
#undef NAME
#undef S2_FLOOR
#undef FIELD_SCALE

#define REAL        double
#define VREAL       vdouble
#define NAME(name)  name##_double
#define S2_FLOOR    S2_FLOOR_DOUBLE
#define FIELD_SCALE SIMD_RSQRT3_SCALE_DOUBLE
#include KERNEL_BODY
#undef REAL
#undef VREAL
#undef NAME
#undef S2_FLOOR
#undef FIELD_SCALE
#undef KERNEL_BODY
