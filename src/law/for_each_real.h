/* Includes the body of a kernel with laws, KERNEL_BODY, for vectors of floats and of doubles, with
 *
 *   REAL, VREAL  float, vfloat or double, vdouble
 *   VMASK        vint32 or vint64
 *   NAME(name)   name_float or name_double
 *   S2_FLOOR    S2_FLOOR_FLOAT or S2_FLOOR_DOUBLE
 *
 * and the laws before it. To be included once in a kernel's file (law/pair_law.h). */

#include "law/law_kinds.h"
#include "law/law_math_simd.h"

#define REAL       float
#define VREAL      vfloat
#define VMASK      vint32
#define NAME(name) name##_float
#define S2_FLOOR   S2_FLOOR_FLOAT
#include "law/law_body.h"
#include KERNEL_BODY
#undef REAL
#undef VREAL
#undef VMASK
#undef NAME
#undef S2_FLOOR

#define REAL       double
#define VREAL      vdouble
#define VMASK      vint64
#define NAME(name) name##_double
#define S2_FLOOR   S2_FLOOR_DOUBLE
#include "law/law_body.h"
#include KERNEL_BODY
#undef REAL
#undef VREAL
#undef VMASK
#undef NAME
#undef S2_FLOOR
#undef KERNEL_BODY
