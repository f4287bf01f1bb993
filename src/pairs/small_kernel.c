/* The kernels for small systems of one instruction set. */

#include "pairs/small_kernel.h"

#include <math.h>

#include "pairs/lanes.h"

enum { part_pairs = 64 };

/* Where no point is a partner, and its square is a float. */
static const float far_away = 1e18f;

/* The i and j of some targets' rows: these follow each other. */
static void write_indices(const struct pairs_small_system *system, int64_t begin, int64_t end,
                          const int32_t *found, const struct pairs_columns *columns)
{
    const int64_t *offsets = columns->offsets + system->targets.first;
    const int64_t at = offsets[begin], count = offsets[end] - at;
    const int64_t first_i = system->targets.first, first_j = system->points.first;
    if (columns->j && columns->narrow) {
        int32_t *restrict to = (int32_t *)columns->j + at;
        for (int64_t p = 0; p < count; p++)
            to[p] = found[p] + (int32_t)first_j;
    } else if (columns->j) {
        int64_t *restrict to = (int64_t *)columns->j + at;
        for (int64_t p = 0; p < count; p++)
            to[p] = found[p] + first_j;
    }
    if (!columns->i)
        return;
    for (int64_t i = begin; i < end; i++)
        for (int64_t p = offsets[i]; p < offsets[i + 1]; p++)
            if (columns->narrow)
                ((int32_t *)columns->i)[p] = (int32_t)(first_i + i);
            else
                ((int64_t *)columns->i)[p] = first_i + i;
}

#define REAL       float
#define VREAL      vfloat
#define VINT       vint32
#define VINDEX     vindex_float
#define LANES      LANES_FLOAT
#define ROOT       sqrtf
#define SIGN_BIT   INT32_MIN
#define NAME(name) name##_float
#include "pairs/small_kernel_body.h"
#undef REAL
#undef VREAL
#undef VINT
#undef VINDEX
#undef LANES
#undef ROOT
#undef SIGN_BIT
#undef NAME

#define REAL       double
#define VREAL      vdouble
#define VINT       vint64
#define VINDEX     vindex_double
#define LANES      LANES_DOUBLE
#define ROOT       sqrt
#define SIGN_BIT   INT64_MIN
#define NAME(name) name##_double
#include "pairs/small_kernel_body.h"

/* The screen, and what is in its registers. */
struct screen {
    const float *near[3];
    vfloat period[3], inside, outside;
    vindex_float lane_numbers;
};

static struct screen screen_of(const struct pairs_small_system *system)
{
    struct screen screen = {.inside = simd_all(system->inside),
                            .outside = simd_all(system->outside)};
    for (int k = 0; k < 3; k++) {
        screen.near[k] = system->points.near[k];
        screen.period[k] = simd_all((float)system->period[k]);
    }
    for (int k = 0; k < LANES_FLOAT; k++)
        screen.lane_numbers[k] = k;
    return screen;
}

/* Along a periodic axis the nearer of two images. */
SIMD_INLINE vfloat screened_r2(const struct screen *screen, const vfloat own[3], int64_t p,
                               int32_t dimensions, bool periodic)
{
    vfloat r2 = {0};
    for (int32_t k = 0; k < dimensions; k++) {
        vfloat d = simd_load(screen->near[k] + p) - own[k];
        if (periodic) {
            d = (vfloat)((vint32)d & INT32_MAX);
            d = simd_least(d, screen->period[k] - d);
        }
        r2 = k == 0 ? d * d : simd_fma(d, d, r2);
    }
    return r2;
}

/* Which of the lanes in doubt are pairs. */
static uint32_t judge(const struct pairs_small_system *system, int64_t i, int64_t p, uint32_t doubt)
{
    uint32_t pairs = 0;
    for (; doubt; doubt &= doubt - 1) {
        const int lane = __builtin_ctz(doubt);
        const bool is_pair = system->dtype == KITH_F32 ? is_pair_float(system, i, p + lane)
                                                       : is_pair_double(system, i, p + lane);
        pairs |= (is_pair ? 1U : 0U) << lane;
    }
    return pairs;
}

/* A target is no partner of its own, and in a half list none comes before it: of the vector that it
 * is in, some lanes are left out, and the vectors before may be. */
SIMD_INLINE int64_t find_row(const struct pairs_small_system *system, const struct screen *screen,
                             int64_t i, int32_t *found, int32_t dimensions, bool periodic)
{
    const int64_t own_vector = system->two_sets ? -1 : i / LANES_FLOAT * LANES_FLOAT;
    const uint32_t own_lane = 1U << (i % LANES_FLOAT);
    const uint32_t admitted = system->half ? ~(2 * own_lane - 1) : ~own_lane;
    vfloat own[3] = {{0}};
    for (int32_t k = 0; k < dimensions; k++)
        own[k] = simd_all(system->targets.near[k][i]);
    int64_t count = 0;
    for (int64_t p = system->half ? own_vector : 0; p < system->points.count; p += LANES_FLOAT) {
        const vfloat r2 = screened_r2(screen, own, p, dimensions, periodic);
        uint32_t pairs = lanes_below_float(r2, screen->inside);
        const uint32_t near = lanes_below_float(r2, screen->outside);
        if (near != pairs)
            pairs |= judge(system, i, p, near & ~pairs);
        pairs &= p == own_vector ? admitted : ~0U;
        if (found)
            lanes_store_chosen_float(found + count, (int32_t)p + screen->lane_numbers, pairs);
        count += __builtin_popcount(pairs);
    }
    return count;
}

SIMD_INLINE int64_t find_rows(const struct pairs_small_system *system, int64_t begin, int64_t end,
                              int32_t *found, int64_t *counts, int32_t dimensions, bool periodic)
{
    const struct screen screen = screen_of(system);
    int64_t all = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t count = found
                                  ? find_row(system, &screen, i, found + all, dimensions, periodic)
                                  : find_row(system, &screen, i, NULL, dimensions, periodic);
        counts[i - begin] = count;
        all += count;
    }
    return all;
}

static int64_t find(const struct pairs_small_system *system, int64_t begin, int64_t end,
                    int32_t *found, int64_t *counts)
{
    if (system->dimensions == 3)
        return system->periodic ? find_rows(system, begin, end, found, counts, 3, true)
                                : find_rows(system, begin, end, found, counts, 3, false);
    return system->periodic ? find_rows(system, begin, end, found, counts, 2, true)
                            : find_rows(system, begin, end, found, counts, 2, false);
}

const struct pairs_small_kernels KITH_ISA_SYMBOL(pairs_small) = {
    .wrap = {wrap_double, wrap_float},
    .center = {center_double, center_float},
    .find = find,
    .write = {write_double, write_float},
};
