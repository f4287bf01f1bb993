#ifndef PAIRS_ROW_STORES_H
#define PAIRS_ROW_STORES_H

/* Writing the i and j of a row, in kernel files. A long list is streamed past the caches: rows are
 * written in the order of the cells, so that each would otherwise be fetched from memory first,
 * and drive out the points. */

#include "core/streaming.h"

#if defined(__AVX512F__)
SIMD_INLINE void stream_line(int64_t *to, const int32_t *from)
{
    _mm512_stream_si512((void *)to, _mm512_cvtepi32_epi64(_mm256_loadu_si256((const void *)from)));
}
SIMD_INLINE void stream_value_line(int64_t *to, int64_t value)
{
    _mm512_stream_si512((void *)to, _mm512_set1_epi64(value));
}
#elif defined(__x86_64__)
SIMD_INLINE void stream_line(int64_t *to, const int32_t *from)
{
    for (int k = 0; k < 8; k++)
        _mm_stream_si64((void *)(to + k), from[k]);
}
SIMD_INLINE void stream_value_line(int64_t *to, int64_t value)
{
    for (int k = 0; k < 8; k++)
        _mm_stream_si64((void *)(to + k), value);
}
#else
SIMD_INLINE void stream_line(int64_t *to, const int32_t *from)
{
    for (int k = 0; k < 8; k++)
        to[k] = from[k];
}
SIMD_INLINE void stream_value_line(int64_t *to, int64_t value)
{
    for (int k = 0; k < 8; k++)
        to[k] = value;
}
#endif

/* Copies a part of a row to its place. */
SIMD_INLINE void stream_part(void *restrict to, const void *restrict from, size_t bytes)
{
    char *at = to;
    const char *source = from;
    const size_t before = -(uintptr_t)to % stored_line;
    const size_t head = before < bytes ? before : bytes;
    memcpy(at, source, head);
    for (at += head, source += head, bytes -= head; bytes >= stored_line; bytes -= stored_line) {
        stream_copy_of_line(at, source);
        at += stored_line;
        source += stored_line;
    }
    memcpy(at, source, bytes);
}

SIMD_INLINE int64_t elements_before_line(const int64_t *to, int64_t count)
{
    const int64_t before = (int64_t)(-(uintptr_t)to % stored_line) / 8;
    return before < count ? before : count;
}

SIMD_INLINE void store_wide(int64_t *restrict to, const int32_t *restrict from, int64_t count,
                            bool streamed)
{
    int64_t p = 0;
    if (streamed) {
        for (const int64_t head = elements_before_line(to, count); p < head; p++)
            to[p] = from[p];
        for (; p + 8 <= count; p += 8)
            stream_line(to + p, from + p);
    }
    for (; p < count; p++)
        to[p] = from[p];
}

SIMD_INLINE void store_value_wide(int64_t *to, int64_t value, int64_t count, bool streamed)
{
    int64_t p = 0;
    if (streamed) {
        for (const int64_t head = elements_before_line(to, count); p < head; p++)
            to[p] = value;
        for (; p + 8 <= count; p += 8)
            stream_value_line(to + p, value);
    }
    for (; p < count; p++)
        to[p] = value;
}

SIMD_INLINE void store_narrow(int32_t *restrict to, const int32_t *restrict from, int64_t count)
{
    for (int64_t p = 0; p < count; p++)
        to[p] = from[p];
}

SIMD_INLINE void store_value_narrow(int32_t *to, int32_t value, int64_t count)
{
    for (int64_t p = 0; p < count; p++)
        to[p] = value;
}

#endif
