/* The interaction matrix, for one instruction set: matrix_kernel_body.h. */

#include "matrix/matrix_kernel.h"

#include "core/simd.h"

/* A vector to an address that is a multiple of its length: several in a row that make up a line the
 * processor need not read before, and they do not push others out of its caches. */
#if defined(__AVX512F__)
#define STREAM_VECTOR(type, to, x) _mm512_stream_##type(to, x)
#elif defined(__AVX__)
#define STREAM_VECTOR(type, to, x) _mm256_stream_##type(to, x)
#elif defined(__x86_64__)
#define STREAM_VECTOR(type, to, x) _mm_stream_##type(to, x)
#else
#define STREAM_VECTOR(type, to, x) memcpy(to, &(x), sizeof(x))
#endif

SIMD_INLINE void stream_vector_float(float *to, vfloat x)
{
    STREAM_VECTOR(ps, to, x);
}

SIMD_INLINE void stream_vector_double(double *to, vdouble x)
{
    STREAM_VECTOR(pd, to, x);
}

#define stream_vector(to, x) SIMD_OF(x, stream_vector)(to, x)

#define KERNEL_BODY "matrix/matrix_kernel_body.h"
#define LAW_MEETS_SUBNORMAL
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY

const struct matrix_kernels KITH_ISA_SYMBOL(matrix) = {
#define FILL(kind)  [law_##kind] = fill_##kind##_float,
#define SUM(kind)   [law_##kind] = sum_##kind##_float,
#define LEAST(kind) [law_##kind] = least_##kind##_float,
    .in_float = {{LAW_EACH_BUILT_IN(FILL)}, {LAW_EACH_BUILT_IN(SUM)}, {LAW_EACH_BUILT_IN(LEAST)}},
#undef FILL
#undef SUM
#undef LEAST
#define FILL(kind)  [law_##kind] = fill_##kind##_double,
#define SUM(kind)   [law_##kind] = sum_##kind##_double,
#define LEAST(kind) [law_##kind] = least_##kind##_double,
    .in_double = {{LAW_EACH_BUILT_IN(FILL)}, {LAW_EACH_BUILT_IN(SUM)}, {LAW_EACH_BUILT_IN(LEAST)}},
#undef FILL
#undef SUM
#undef LEAST
};
#endif
