/* The interaction matrix, for one instruction set: matrix_kernel_body.h. */

#include "matrix/matrix_kernel.h"

#include "core/simd.h"

/* 64 bytes to an address that is a multiple of 64: a whole line, which the processor need not read
 * before, and which does not push others out of its caches. */
SIMD_INLINE void stream_line(char *to, const char *from)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((void *)to, _mm512_loadu_si512(from));
#elif defined(__x86_64__)
    for (int part = 0; part < 64; part += 16)
        _mm_stream_si128((__m128i *)(void *)(to + part),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + part)));
#else
    memcpy(to, from, 64);
#endif
}

#define KERNEL_BODY "matrix/matrix_kernel_body.h"
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY

const struct matrix_kernels KITH_ISA_SYMBOL(matrix) = {
#define FILL(kind)  [law_##kind] = fill_##kind##_float,
#define SUM(kind)   [law_##kind] = sum_##kind##_float,
#define LEAST(kind) [law_##kind] = least_##kind##_float,
    .in_float = {{LAW_EACH_BUILT_IN(FILL)},
                 {LAW_EACH_BUILT_IN(SUM)},
                 {LAW_EACH_BUILT_IN(LEAST)},
                 limit_gaussian_float,
                 limit_inverse_float},
#undef FILL
#undef SUM
#undef LEAST
#define FILL(kind)  [law_##kind] = fill_##kind##_double,
#define SUM(kind)   [law_##kind] = sum_##kind##_double,
#define LEAST(kind) [law_##kind] = least_##kind##_double,
    .in_double = {{LAW_EACH_BUILT_IN(FILL)},
                  {LAW_EACH_BUILT_IN(SUM)},
                  {LAW_EACH_BUILT_IN(LEAST)},
                  limit_gaussian_double,
                  limit_inverse_double},
#undef FILL
#undef SUM
#undef LEAST
};
#endif
