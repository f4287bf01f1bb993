/* The interaction matrix, for one instruction set: matrix_kernel_body.h. */

#include "matrix/matrix_kernel.h"

#define KERNEL_BODY "matrix/matrix_kernel_body.h"
#include "law/for_each_real.h"

#ifndef LAW_CUSTOM_BODY

/* 64 bytes at once from an address that is a multiple of 64 on: a whole line of the cache, which
 * the processor need not read before. */
static void stream(void *to, const void *from, long long bytes)
{
    char *out = to;
    const char *in = from;
    const long long head = (long long)(-(uintptr_t)out & 63);
    long long k = head < bytes ? head : bytes;
    memcpy(out, in, (size_t)k);
#if defined(__x86_64__)
    for (; k + 64 <= bytes; k += 64) {
#if defined(__AVX512F__)
        _mm512_stream_si512((void *)(out + k), _mm512_loadu_si512(in + k));
#else
        for (int part = 0; part < 64; part += 16)
            _mm_stream_si128((__m128i *)(void *)(out + k + part),
                             _mm_loadu_si128((const __m128i *)(const void *)(in + k + part)));
#endif
    }
#endif
    memcpy(out + k, in + k, (size_t)(bytes - k));
}

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
    .stream = stream,
};
#endif
