/* The kernels of the mesh, of one instruction set: waves_kernel_body.h, for float and for double.
 */

#include "mesh/waves_kernel.h"

#include <string.h>

#include "core/simd.h"
#include "core/simd_by_lane.h"
#include "core/simd_math.h"

#define REAL       float
#define VREAL      vfloat
#define NAME(name) name##_float
#include "mesh/waves_kernel_body.h"
#undef REAL
#undef VREAL
#undef NAME

#define REAL       double
#define VREAL      vdouble
#define NAME(name) name##_double
#include "mesh/waves_kernel_body.h"

#define KERNELS(real)                                                                              \
    {                                                                                              \
        .spread = spread_##real, .fold = fold_##real, .extend = extend_##real,                     \
        .gather = gather_##real, .multiply = multiply_##real,                                      \
        .multiply_sixth = multiply_sixth_##real                                                    \
    }
const struct waves_kernels KITH_ISA_SYMBOL(mesh_waves_float) = KERNELS(float);
const struct waves_kernels KITH_ISA_SYMBOL(mesh_waves_double) = KERNELS(double);
