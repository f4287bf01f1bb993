#ifndef CORE_STREAMING_H
#define CORE_STREAMING_H

/* Writing lines of memory past the caches, in kernel files: what is too long to stay there would
 * be fetched from memory first, and drive out what is read again. */

#include "core/simd.h"

enum { stored_line = 64 };

/* `to` is the begin of a line. */
#if defined(__AVX512F__)
SIMD_INLINE void stream_copy_of_line(char *to, const char *from)
{
    _mm512_stream_si512((void *)to, _mm512_loadu_si512((const void *)from));
}
#elif defined(__x86_64__)
SIMD_INLINE void stream_copy_of_line(char *to, const char *from)
{
    for (int k = 0; k < stored_line; k += 16)
        _mm_stream_si128((void *)(to + k), _mm_loadu_si128((const void *)(from + k)));
}
#else
SIMD_INLINE void stream_copy_of_line(char *to, const char *from)
{
    memcpy(to, from, stored_line);
}
#endif

/* The same where lines of memory begin elsewhere, at a multiple of 16 bytes: what is written one
 * after the other makes lines of them. */
SIMD_INLINE void stream_copy_off_the_line(char *to, const char *from)
{
#if defined(__x86_64__)
    for (int k = 0; k < stored_line; k += 16)
        _mm_stream_si128((void *)(to + k), _mm_loadu_si128((const void *)(from + k)));
#else
    memcpy(to, from, stored_line);
#endif
}

/* After streaming, before others may read. */
SIMD_INLINE void end_streaming(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

#endif
