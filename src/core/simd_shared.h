#ifndef CORE_SIMD_SHARED_H
#define CORE_SIMD_SHARED_H

/* Vectors of doubles for kernels that a CPU and a GPU share: those of core/simd_math.h, or one
 * number (core/simd_scalar.h), which has the same names.
 *
 * SIMD_SCALAR: the latter on a CPU, for tests of it. */

#if defined(__CUDACC__) || defined(SIMD_SCALAR)
#include "core/simd_scalar.h"
#else
#include "core/simd_math.h"

#define SIMD_IS_SCALAR           0

/* A function that is not inlined, a table of constants, and a lane of a vector. */
#define SIMD_OUTLINE             static __attribute__((noinline, unused))
#define SIMD_TABLE               static
#define SIMD_LANE(x, lane)       ((x)[lane])

/* The masks of a ≤ b and a > b. */
#define simd_is_at_most(a, b)    ((a) <= (b))
#define simd_is_more(a, b)       ((a) > (b))

/* a / b, rounded without a bias, and 1 / b for what need not be. */
#define simd_quotient(a, b)      ((a) / (b))
#define simd_rough_reciprocal(b) (1 / (b))

/* √x and 1/√x. */
SIMD_INLINE vdouble simd_roots(vdouble x, vdouble *inverse_root)
{
    const vdouble root = simd_sqrt(x);
    *inverse_root = 1 / root;
    return root;
}
#endif

#endif
