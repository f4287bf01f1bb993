/* The interaction matrix, for one instruction set and real type. */

#include "matrix/matrix_kernel.h"

#include "core/real.h"

#define LAW_MEETS_SUBNORMAL
#include "law/real_law.h"

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

#include "matrix/matrix_kernel_body.h"

#ifndef LAW_CUSTOM_BODY

#define FILL(kind)  [law_##kind] = OF_REAL(fill_##kind),
#define SUM(kind)   [law_##kind] = OF_REAL(sum_##kind),
#define LEAST(kind) [law_##kind] = OF_REAL(least_##kind),
const struct matrix_kernels KITH_REAL_SYMBOL(matrix) = {
    {LAW_EACH_BUILT_IN(FILL)}, {LAW_EACH_BUILT_IN(SUM)}, {LAW_EACH_BUILT_IN(LEAST)}};
#endif
