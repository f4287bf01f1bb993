/* Includes the body of a kernel with laws, KERNEL_BODY, for vectors of floats and of doubles, with
 *
 *   REAL, VREAL  float, vfloat or double, vdouble
 *   VMASK        vint32 or vint64
 *   NAME(name)   name_float or name_double
 *   LAW_FLOOR    LAW_FLOOR_FLOAT or LAW_FLOOR_DOUBLE
 *
 * and the laws before it. To be included once in a kernel's file (law/pair_law.h). */

#include "law/law_kinds.h"
#include "law/law_math_simd.h"

#define REAL       float
#define VREAL      vfloat
#define VMASK      vint32
#define NAME(name) name##_float
#define LAW_FLOOR  LAW_FLOOR_FLOAT
#include "law/law_body.h"
#include KERNEL_BODY
#undef REAL
#undef VREAL
#undef VMASK
#undef NAME
#undef LAW_FLOOR

#define REAL       double
#define VREAL      vdouble
#define VMASK      vint64
#define NAME(name) name##_double
#define LAW_FLOOR  LAW_FLOOR_DOUBLE
#include "law/law_body.h"
#include KERNEL_BODY
#undef REAL
#undef VREAL
#undef VMASK
#undef NAME
#undef LAW_FLOOR
#undef KERNEL_BODY
