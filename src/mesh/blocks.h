#ifndef MESH_BLOCKS_H
#define MESH_BLOCKS_H

/* Blocks of points of a periodic grid, along one of its axes. The last block may have fewer points
 * than the others. Splines of order p begin at a point and reach the p − 1 points after it, at most
 * 7; a grid has at least p points. */

#include <stdbool.h>
#include <stdint.h>

#include "core/both_sides.h"

enum { blocks_edge = 8, blocks_most_back = 2 };

KITH_BOTH_SIDES static inline int32_t blocks_along(int32_t grid)
{
    return (grid + blocks_edge - 1) / blocks_edge;
}

/* Which blocks have points at which splines begin that reach a block: itself, the one before it,
 * and before the beginning of the grid, where the last block may be short, the second one before.
 *
 *   back    how many blocks before, at most blocks_most_back
 *   from    [out] that block, or -1
 *   before  [out] how many points its first point is before the block's
 *
 * false if no splines reach the block from there. */
KITH_BOTH_SIDES static inline bool blocks_find_back(int32_t grid, int32_t order, int32_t block,
                                                    int32_t back, int32_t *from, int32_t *before)
{
    const bool is_wrapped = block < back;
    *from = is_wrapped ? block - back + blocks_along(grid) : block - back;
    *before = blocks_edge * (block - *from) + (is_wrapped ? grid : 0);
    const int32_t left = grid - blocks_edge * *from,
                  length = left < blocks_edge ? left : blocks_edge;
    return *from >= 0 && *before - (length - 1) < order;
}

#endif
