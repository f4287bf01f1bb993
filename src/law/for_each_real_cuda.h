/* law/for_each_real.h on a GPU: includes the laws and the body of a kernel, KERNEL_BODY, for float
 * and for double, with
 *
 *   REAL, VREAL  float or double
 *   VMASK        bool
 *   NAME(name)   name_float or name_double
 *   S2_FLOOR    S2_FLOOR_FLOAT or S2_FLOOR_DOUBLE
 *
 * nvcc and NVRTC read this; nothing of the host's is included. */

#include "law/law_kinds.h"
#include "law/law_math_cuda.h"

#define VMASK bool

#define REAL       float
#define VREAL      float
#define NAME(name) name##_float
#define S2_FLOOR   S2_FLOOR_FLOAT
#include "law/law_body.h"
#include KERNEL_BODY
#undef REAL
#undef VREAL
#undef NAME
#undef S2_FLOOR

#define REAL       double
#define VREAL      double
#define NAME(name) name##_double
#define S2_FLOOR   S2_FLOOR_DOUBLE
#include "law/law_body.h"
#include KERNEL_BODY
#undef REAL
#undef VREAL
#undef NAME
#undef S2_FLOOR
#undef VMASK
#undef KERNEL_BODY
