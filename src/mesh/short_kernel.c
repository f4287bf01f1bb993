/* The short-range kernels of one instruction set: short_kernel_body.h, for float and for double. */

#include "mesh/short_kernel.h"

#include <string.h>

#include "core/floors.h"
#include "core/simd.h"
#include "core/simd_gather.h"
#include "core/simd_math.h"
#include "pairs/lanes.h"

#define REAL       float
#define VREAL      vfloat
#define VINDEX     vindex_float
#define VMASK      vint32
#define LANES      LANES_FLOAT
#define NAME(name) name##_float
#include "mesh/short_kernel_body.h"
#undef REAL
#undef VREAL
#undef VINDEX
#undef VMASK
#undef LANES
#undef NAME

#define REAL       double
#define VREAL      vdouble
#define VINDEX     vindex_double
#define VMASK      vint64
#define LANES      LANES_DOUBLE
#define NAME(name) name##_double
#include "mesh/short_kernel_body.h"

const struct short_kernels KITH_ISA_SYMBOL(mesh_short_float) = {sum_float, sum_sixth_float,
                                                                fill_float};
const struct short_kernels KITH_ISA_SYMBOL(mesh_short_double) = {sum_double, sum_sixth_double,
                                                                 fill_double};
