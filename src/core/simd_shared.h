#ifndef CORE_SIMD_SHARED_H
#define CORE_SIMD_SHARED_H

/* Vectors of doubles for kernels that a CPU and a GPU share: those of core/simd_math.h, or a number
 * of a thread (core/simd_cuda.cuh), which defines the same names. */

#if defined(__CUDACC__)
#include "core/simd_cuda.cuh"
#else
#include "core/simd_math.h"

/* A function that is not inlined, a table of constants, and a lane of a vector. */
#define SIMD_OUTLINE          static __attribute__((noinline, unused))
#define SIMD_TABLE            static
#define SIMD_LANE(x, lane)    ((x)[lane])

/* The mask of a ≤ b. */
#define simd_is_at_most(a, b) ((a) <= (b))

/* a / b and 1 / b, rounded without a bias. */
#define simd_quotient(a, b)   ((a) / (b))
#define simd_reciprocal(b)    (1 / (b))
#endif

#endif
