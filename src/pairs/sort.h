#ifndef PAIRS_SORT_H
#define PAIRS_SORT_H

/* Sorting with vectors, in kernel files: Batcher's bitonic network (1968), in the form in which
 * each merge begins with a comparison with the mirror image, so that all comparisons have one
 * direction.
 *
 *   sort_narrow, sort_wide   sort int32 or int64 ≥ 0 in place; there is room for a power of two of
 *                            them that is not below 16, pairs_sorting_room */

#include "core/simd.h"
#include "pairs/pairs_kernel.h"

typedef vint32 vnarrow;
typedef vint64 vwide;

#if SIMD_BYTES == 64
#define SORT_LANES_narrow 16
#define SORT_LANES_wide   8
#define SORT_EACH_narrow  SORT_EACH_16
#define SORT_EACH_wide    SORT_EACH_8
#elif SIMD_BYTES == 32
#define SORT_LANES_narrow 8
#define SORT_LANES_wide   4
#define SORT_EACH_narrow  SORT_EACH_8
#define SORT_EACH_wide    SORT_EACH_4
#else
#define SORT_LANES_narrow 4
#define SORT_LANES_wide   2
#define SORT_EACH_narrow  SORT_EACH_4
#define SORT_EACH_wide    SORT_EACH_2
#endif

/* of(k, m) for each lane k. */
#define SORT_EACH_2(of, m) of(0, m), of(1, m)
#define SORT_EACH_4(of, m) SORT_EACH_2(of, m), of(2, m), of(3, m)
#define SORT_EACH_8(of, m) SORT_EACH_4(of, m), of(4, m), of(5, m), of(6, m), of(7, m)
#define SORT_EACH_16(of, m)                                                                        \
    SORT_EACH_8(of, m), of(8, m), of(9, m), of(10, m), of(11, m), of(12, m), of(13, m), of(14, m), \
        of(15, m)

/* Lane k meets lane k ^ m. */
#define SORT_MEETS_narrow(k, m) (((k) ^ (m)) & (SORT_LANES_narrow - 1))
#define SORT_MEETS_wide(k, m)   (((k) ^ (m)) & (SORT_LANES_wide - 1))

/* −1 for the lanes that keep the larger: those with this bit. */
#define SORT_KEEPS_LARGER(k, bit) (((k) & (bit)) != 0 ? -1 : 0)

#if defined(__AVX512F__)
#define SORT_DEFINE_ORDER(kind, bits)                                                              \
    SIMD_INLINE v##kind sort_least_##kind(v##kind a, v##kind b)                                    \
    {                                                                                              \
        return (v##kind)_mm512_min_epi##bits((__m512i)a, (__m512i)b);                              \
    }                                                                                              \
    SIMD_INLINE v##kind sort_largest_##kind(v##kind a, v##kind b)                                  \
    {                                                                                              \
        return (v##kind)_mm512_max_epi##bits((__m512i)a, (__m512i)b);                              \
    }
#else
#define SORT_DEFINE_ORDER(kind, bits)                                                              \
    SIMD_INLINE v##kind sort_least_##kind(v##kind a, v##kind b)                                    \
    {                                                                                              \
        const v##kind less = (v##kind)(a < b);                                                     \
        return (a & less) | (b & ~less);                                                           \
    }                                                                                              \
    SIMD_INLINE v##kind sort_largest_##kind(v##kind a, v##kind b)                                  \
    {                                                                                              \
        const v##kind less = (v##kind)(a < b);                                                     \
        return (b & less) | (a & ~less);                                                           \
    }
#endif

/* Compares each lane k of x with lane k ^ m. */
#define SORT_STEP(kind, x, m, bit)                                                                 \
    do {                                                                                           \
        if ((m) < SORT_LANES_##kind) {                                                             \
            const v##kind partner =                                                                \
                __builtin_shufflevector(x, x, SORT_EACH_##kind(SORT_MEETS_##kind, m));             \
            const v##kind larger = {SORT_EACH_##kind(SORT_KEEPS_LARGER, bit)};                     \
            const v##kind low = sort_least_##kind(x, partner);                                     \
            const v##kind high = sort_largest_##kind(x, partner);                                  \
            (x) = (low & ~larger) | (high & larger);                                               \
        }                                                                                          \
    } while (0)

#define SORT_DEFINE(kind, integer, bits)                                                           \
    SORT_DEFINE_ORDER(kind, bits)                                                                  \
                                                                                                   \
    /* The merges within a vector. */                                                              \
    SIMD_INLINE v##kind sort_vector_##kind(v##kind x)                                              \
    {                                                                                              \
        SORT_STEP(kind, x, 1, 1);                                                                  \
        SORT_STEP(kind, x, 3, 2);                                                                  \
        if (SORT_LANES_##kind > 2)                                                                 \
            SORT_STEP(kind, x, 1, 1);                                                              \
        SORT_STEP(kind, x, 7, 4);                                                                  \
        if (SORT_LANES_##kind > 4) {                                                               \
            SORT_STEP(kind, x, 2, 2);                                                              \
            SORT_STEP(kind, x, 1, 1);                                                              \
        }                                                                                          \
        SORT_STEP(kind, x, 15, 8);                                                                 \
        if (SORT_LANES_##kind > 8) {                                                               \
            SORT_STEP(kind, x, 4, 4);                                                              \
            SORT_STEP(kind, x, 2, 2);                                                              \
            SORT_STEP(kind, x, 1, 1);                                                              \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
                                                                                                   \
    /* The last steps of a merge of vectors. */                                                    \
    SIMD_INLINE v##kind sort_finish_##kind(v##kind x)                                              \
    {                                                                                              \
        SORT_STEP(kind, x, 8, 8);                                                                  \
        SORT_STEP(kind, x, 4, 4);                                                                  \
        SORT_STEP(kind, x, 2, 2);                                                                  \
        SORT_STEP(kind, x, 1, 1);                                                                  \
        return x;                                                                                  \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE v##kind sort_reversed_##kind(v##kind x)                                            \
    {                                                                                              \
        return __builtin_shufflevector(                                                            \
            x, x, SORT_EACH_##kind(SORT_MEETS_##kind, SORT_LANES_##kind - 1));                     \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE void sort_compare_##kind(v##kind *a, v##kind *b)                                   \
    {                                                                                              \
        const v##kind low = sort_least_##kind(*a, *b);                                             \
        *b = sort_largest_##kind(*a, *b);                                                          \
        *a = low;                                                                                  \
    }                                                                                              \
                                                                                                   \
    /* The network for a power of two of vectors; unrolled if their number is constant. */         \
    SIMD_INLINE void sort_vectors_##kind(v##kind *x, int64_t vectors)                              \
    {                                                                                              \
        SIMD_UNROLL                                                                                \
        for (int64_t k = 0; k < vectors; k++)                                                      \
            x[k] = sort_vector_##kind(x[k]);                                                       \
        SIMD_UNROLL                                                                                \
        for (int64_t merged = 2; merged <= vectors; merged *= 2) {                                 \
            SIMD_UNROLL                                                                            \
            for (int64_t at = 0; at < vectors; at += merged)                                       \
                SIMD_UNROLL                                                                        \
            for (int64_t k = 0; k < merged / 2; k++) {                                             \
                x[at + merged - 1 - k] = sort_reversed_##kind(x[at + merged - 1 - k]);             \
                sort_compare_##kind(&x[at + k], &x[at + merged - 1 - k]);                          \
                x[at + merged - 1 - k] = sort_reversed_##kind(x[at + merged - 1 - k]);             \
            }                                                                                      \
            SIMD_UNROLL                                                                            \
            for (int64_t apart = merged / 4; apart > 0; apart /= 2)                                \
                SIMD_UNROLL                                                                        \
            for (int64_t at = 0; at < vectors; at += 2 * apart)                                    \
                SIMD_UNROLL                                                                        \
            for (int64_t k = at; k < at + apart; k++)                                              \
                sort_compare_##kind(&x[k], &x[k + apart]);                                         \
            SIMD_UNROLL                                                                            \
            for (int64_t k = 0; k < vectors; k++)                                                  \
                x[k] = sort_finish_##kind(x[k]);                                                   \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Vectors in registers. */                                                                    \
    SIMD_INLINE void sort_few_##kind(integer *keys, const int64_t vectors)                         \
    {                                                                                              \
        v##kind x[8];                                                                              \
        memcpy(x, keys, (size_t)vectors *SIMD_BYTES);                                              \
        sort_vectors_##kind(x, vectors);                                                           \
        memcpy(keys, x, (size_t)vectors *SIMD_BYTES);                                              \
    }                                                                                              \
                                                                                                   \
    static void sort_##kind(integer *keys, int64_t count)                                          \
    {                                                                                              \
        const int64_t room = pairs_sorting_room(count);                                            \
        for (int64_t k = count; k < room; k++)                                                     \
            keys[k] = (integer)(~(uint##bits##_t)0 >> 1);                                          \
        const int64_t vectors = room / SORT_LANES_##kind;                                          \
        if (vectors == 1)                                                                          \
            sort_few_##kind(keys, 1);                                                              \
        else if (vectors == 2)                                                                     \
            sort_few_##kind(keys, 2);                                                              \
        else if (vectors == 4)                                                                     \
            sort_few_##kind(keys, 4);                                                              \
        else if (vectors == 8)                                                                     \
            sort_few_##kind(keys, 8);                                                              \
        else                                                                                       \
            sort_vectors_##kind((v##kind *)(void *)keys, vectors);                                 \
    }

SORT_DEFINE(narrow, int32_t, 32)
SORT_DEFINE(wide, int64_t, 64)

#endif
