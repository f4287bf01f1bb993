#ifndef SORT_MORTON_H
#define SORT_MORTON_H

/* Morton keys: the bits of the coordinates of a grid of 2^L cells per side, interleaved, highest
 * first (Morton 1966). The first d·l bits of a key name the cell of level l that the point is in,
 * and points sorted by key have the points of every cell next to each other.
 *
 * L is 21 in 3D, 31 in 2D: 63 and 62 bits. The grid's side is a power of two times a unit of the
 * coordinates, so that all devices get the same keys: x − low is rounded once, and scaled exactly.
 */

#include <math.h>
#include <stdint.h>

#include "core/both_sides.h"

enum { morton_levels_3d = 21, morton_levels_2d = 31 };

KITH_BOTH_SIDES static inline int32_t morton_levels(int32_t dimensions)
{
    return dimensions == 3 ? morton_levels_3d : morton_levels_2d;
}

KITH_BOTH_SIDES static inline int32_t morton_bits(int32_t dimensions)
{
    return dimensions * morton_levels(dimensions);
}

/* The grid: coordinates less low, times scale, are in [0, 2^L). */
struct morton_grid {
    double low[3];
    double scale; /* a power of two, or 0 where all points are at the same position */
};

/* The grid around points between low and high (low ≤ high, finite). */
KITH_BOTH_SIDES static inline struct morton_grid
morton_grid_around(int32_t dimensions, const double low[3], const double high[3])
{
    struct morton_grid grid = {{0, 0, 0}, 0};
    double extent = 0;
    for (int32_t c = 0; c < dimensions; c++) {
        grid.low[c] = low[c];
        extent = fmax(extent, high[c] - low[c]);
    }
    if (extent > 0) {
        const int exponent = morton_levels(dimensions) - 1 - ilogb(extent);
        grid.scale = ldexp(1.0, exponent < 1000 ? exponent : 1000);
    }
    return grid;
}

/* Puts two zeros before each of the lowest 21 bits. */
KITH_BOTH_SIDES static inline uint64_t morton_spread_by_3(uint64_t x)
{
    x = (x | x << 32) & 0x001f00000000ffff;
    x = (x | x << 16) & 0x001f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

/* Puts a zero before each of the lowest 31 bits. */
KITH_BOTH_SIDES static inline uint64_t morton_spread_by_2(uint64_t x)
{
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
}

/* Along one axis: which cell of the finest level. */
KITH_BOTH_SIDES static inline uint64_t morton_slot(const struct morton_grid *grid, int32_t c,
                                                   double x)
{
    return (uint64_t)((x - grid->low[c]) * grid->scale);
}

KITH_BOTH_SIDES static inline uint64_t morton_key_3d(const struct morton_grid *grid, double x,
                                                     double y, double z)
{
    return morton_spread_by_3(morton_slot(grid, 0, x)) << 2 |
           morton_spread_by_3(morton_slot(grid, 1, y)) << 1 |
           morton_spread_by_3(morton_slot(grid, 2, z));
}

KITH_BOTH_SIDES static inline uint64_t morton_key_2d(const struct morton_grid *grid, double x,
                                                     double y)
{
    return morton_spread_by_2(morton_slot(grid, 0, x)) << 1 |
           morton_spread_by_2(morton_slot(grid, 1, y));
}

/* The deepest level at which two keys are in one cell. */
KITH_BOTH_SIDES static inline int32_t morton_common_level(int32_t dimensions, uint64_t a,
                                                          uint64_t b)
{
    int32_t level = morton_levels(dimensions);
    for (uint64_t different = a ^ b; different; different >>= dimensions)
        level--;
    return level;
}

/* Which child (0 … 2^d − 1) of a cell of a level a key is in; level < L. */
KITH_BOTH_SIDES static inline int32_t morton_child(int32_t dimensions, int32_t level, uint64_t key)
{
    const int32_t shift = dimensions * (morton_levels(dimensions) - 1 - level);
    return (int32_t)(key >> shift & ((UINT64_C(1) << dimensions) - 1));
}

#endif
