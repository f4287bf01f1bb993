/* The kernels of one instruction set and real type. */

#include "pairs/kd_kernel.h"

#include "core/real.h"
#include "kith/particles.h"
#include "pairs/lanes.h"

/* The larger of each two lanes. */
#if defined(__x86_64__)
#define LARGER_float(a, b)  SIMD_X86(max, ps)(a, b)
#define LARGER_double(a, b) SIMD_X86(max, pd)(a, b)
#else
#define LARGER_float(a, b)  larger_float(a, b)
#define LARGER_double(a, b) larger_double(a, b)

SIMD_INLINE vfloat larger_float(vfloat a, vfloat b)
{
    const vint32 more = (vint32)(a > b);
    return (vfloat)(((vint32)a & more) | ((vint32)b & ~more));
}

SIMD_INLINE vdouble larger_double(vdouble a, vdouble b)
{
    const vint64 more = (vint64)(a > b);
    return (vdouble)(((vint64)a & more) | ((vint64)b & ~more));
}
#endif

/* Coordinates after which a comparison looks whether all of its points are too far already. */
enum { coordinates_between_looks = 4 };

#define LARGER(a, b) OF_REAL(LARGER)(a, b)

#include "pairs/kd_kernel_body.h"

const struct pairs_kd_kernels KITH_REAL_SYMBOL(pairs_kd_kernels) = {meet, leaves, gap};
