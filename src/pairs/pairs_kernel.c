/* The kernels of one instruction set and real type. */

#include "pairs/pairs_kernel.h"

#include <math.h>

#include "core/real.h"
#include "pairs/lanes.h"
#include "pairs/row_stores.h"
#include "pairs/sort.h"

/* What a loop over candidates is compiled for; constants once inlined. */
struct variant {
    int32_t dimensions;
    bool half, moved, radii;
};

/* A statement with the variant that the candidates need. With radii and in half lists candidates
 * always have translations, so that there are fewer variants. */
#define DISPATCH_FOR(statement, d, is_half, is_moved, has_radii)                                   \
    do {                                                                                           \
        const struct variant variant = {                                                           \
            .dimensions = (d), .half = (is_half), .moved = (is_moved), .radii = (has_radii)};      \
        statement;                                                                                 \
    } while (0)

#define DISPATCH_FLAGS(candidates, statement, d)                                                   \
    do {                                                                                           \
        if ((candidates)->radius && (candidates)->half)                                            \
            DISPATCH_FOR(statement, d, true, true, true);                                          \
        else if ((candidates)->radius)                                                             \
            DISPATCH_FOR(statement, d, false, true, true);                                         \
        else if ((candidates)->half)                                                               \
            DISPATCH_FOR(statement, d, true, true, false);                                         \
        else if ((candidates)->moved)                                                              \
            DISPATCH_FOR(statement, d, false, true, false);                                        \
        else                                                                                       \
            DISPATCH_FOR(statement, d, false, false, false);                                       \
    } while (0)

#define DISPATCH(candidates, statement)                                                            \
    do {                                                                                           \
        if ((candidates)->dimensions == 3)                                                         \
            DISPATCH_FLAGS(candidates, statement, 3);                                              \
        else                                                                                       \
            DISPATCH_FLAGS(candidates, statement, 2);                                              \
    } while (0)

static const OF_REAL(vindex) lane_numbers = {
#if SIMD_BYTES == (REAL_IS_DOUBLE ? 128 : 64)
    0, 1,  2,  3,  4,  5,  6, 7, 8,
    9, 10, 11, 12, 13, 14, 15
#elif SIMD_BYTES == (REAL_IS_DOUBLE ? 64 : 32)
    0, 1, 2, 3, 4,
    5, 6, 7
#elif SIMD_BYTES == (REAL_IS_DOUBLE ? 32 : 16)
    0, 1, 2, 3
#else
    0, 1
#endif
};

/* Rows lie at their offsets, far from each other. The offset of a row is prefetched this many
 * targets before it is written, and then its ends, which share lines with other rows. */
enum { rows_ahead = 8, offsets_ahead = 2 * rows_ahead };

SIMD_INLINE void prefetch_ends(const void *column, int64_t begin, int64_t end)
{
    if (!column)
        return;
    __builtin_prefetch((const char *)column + begin, 1);
    __builtin_prefetch((const char *)column + end, 1);
}

SIMD_INLINE void prefetch_ahead(const struct pairs_columns *columns, const int32_t *index,
                                int64_t position)
{
    const int64_t bytes = columns->narrow ? 4 : 8;
    if (!columns->streamed || position + offsets_ahead >= columns->target_count)
        return;
    __builtin_prefetch(&columns->offsets[index[position + offsets_ahead]]);
    const int64_t *offsets = &columns->offsets[index[position + rows_ahead]];
    prefetch_ends(columns->i, offsets[0] * bytes, offsets[1] * bytes);
    prefetch_ends(columns->j, offsets[0] * bytes, offsets[1] * bytes);
    const int64_t each = columns->bytes_of_shift, real = columns->bytes_of_real;
    prefetch_ends(columns->shifts, offsets[0] * each, offsets[1] * each);
    prefetch_ends(columns->vectors, offsets[0] * each / 4 * real, offsets[1] * each / 4 * real);
    prefetch_ends(columns->distances, offsets[0] * real, offsets[1] * real);
}

static void write_row(const struct pairs_columns *columns, int32_t i, const int32_t *row,
                      int64_t count)
{
    const int64_t begin = columns->offsets[i];
    if (columns->narrow) {
        if (columns->i)
            store_value_narrow((int32_t *)columns->i + begin, i, count);
        if (columns->j)
            store_narrow((int32_t *)columns->j + begin, row, count);
        return;
    }
    if (columns->i)
        store_value_wide((int64_t *)columns->i + begin, i, count, columns->streamed);
    if (columns->j)
        store_wide((int64_t *)columns->j + begin, row, count, columns->streamed);
}

/* S = T − n_j + n_i is that of a candidate and the target's n_i. */
static void gather_shifts(const struct pairs_points *points, const struct pairs_run *run,
                          int64_t at, const struct pairs_candidates *candidates)
{
    for (int32_t k = 0; k < candidates->dimensions; k++) {
        int32_t *shift = candidates->shift[k] + at;
        for (int64_t p = run->begin; p < run->end; p++)
            *shift++ =
                run->image[k] -
                (points->wraps ? points->wraps[3 * (points->index[p] - points->first) + k] : 0);
    }
}

SIMD_INLINE void pick_index(int32_t *restrict to, const int32_t *restrict from,
                            const int32_t *order, int64_t count)
{
    for (int64_t p = 0; p < count; p++)
        to[p] = from[order[p]];
}

SIMD_INLINE void put_shifts(const struct pairs_columns *columns, int64_t dimensions, int64_t begin,
                            const int32_t *wraps, int32_t *const shift[3], int32_t *part,
                            int64_t count)
{
    int32_t *to = columns->shifts + begin * dimensions;
    int32_t *restrict at = columns->streamed ? part : to;
    const int32_t *restrict a = shift[0], *restrict b = shift[1], *restrict c = shift[2];
    const int32_t own[3] = {wraps ? wraps[0] : 0, wraps ? wraps[1] : 0, wraps ? wraps[2] : 0};
    for (int64_t p = 0; dimensions == 3 && p < count; p++) {
        at[3 * p] = a[p] + own[0];
        at[3 * p + 1] = b[p] + own[1];
        at[3 * p + 2] = c[p] + own[2];
    }
    for (int64_t p = 0; dimensions == 2 && p < count; p++) {
        at[2 * p] = a[p] + own[0];
        at[2 * p + 1] = b[p] + own[1];
    }
    if (columns->streamed)
        stream_part(to, at, (size_t)(count * dimensions) * sizeof *to);
}

#define ROOT_float  sqrtf
#define ROOT_double sqrt
#define ROOT        OF_REAL(ROOT)

#include "pairs/pairs_kernel_body.h"

#include "pairs/stored_rows_body.h"

const struct pairs_kernels KITH_REAL_SYMBOL(pairs_kernels) = {
    .gather = gather,
    .arrange = arrange,
    .count = count,
    .write = write,
    .write_whole = write_whole,
    .find = find,
    .store = store,
    .sort_wide = sort_wide,
    .sort_narrow = sort_narrow,
};
