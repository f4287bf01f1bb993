#ifndef TREE_OCTREE_SPLIT_H
#define TREE_OCTREE_SPLIT_H

/* How a cell is split, on every device. */

#include "tree/octree.h"

/* A cell is a leaf if its points and those around it make at most this many times leaf² pairs.
 * Sparse cells next to dense ones are split further, because everything near to any of their points
 * is near to all of them. */
enum { octree_most_pairs = 32 };

KITH_BOTH_SIDES static inline bool octree_is_leaf(int32_t dimensions,
                                                  const struct octree_cell *cell, int32_t leaf)
{
    const int64_t pairs = (int64_t)cell->count * cell->around;
    const bool is_small = cell->count <= leaf && pairs <= octree_most_pairs * (int64_t)leaf * leaf;
    return is_small || cell->count == 1 || cell->level == morton_levels(dimensions);
}

/* The first point from begin on that is in this child of a cell, or in one after it; end without.
 */
KITH_BOTH_SIDES static inline int32_t octree_first_of(int32_t dimensions, const uint64_t *keys,
                                                      const struct octree_cell *cell, int32_t child,
                                                      int32_t begin)
{
    int32_t low = begin, high = cell->first + cell->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (morton_child(dimensions, cell->level, keys[middle]) < child)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The children of a cell begin at first[0], …, and end at first[n]; n is returned, 0 for a leaf. */
static inline int32_t octree_find_children(int32_t dimensions, const uint64_t *keys,
                                           const struct octree_cell *cell, int32_t leaf,
                                           int32_t first[9])
{
    const int32_t end = cell->first + cell->count;
    int32_t children = 0;
    if (octree_is_leaf(dimensions, cell, leaf))
        return 0;
    for (int32_t begin = cell->first; begin < end;) {
        const int32_t child = morton_child(dimensions, cell->level, keys[begin]);
        first[children++] = begin;
        begin = octree_first_of(dimensions, keys, cell, child + 1, begin + 1);
    }
    first[children] = end;
    return children;
}

/* Around a cell are the points of its parent, or as many as would be there if the parent's
 * surroundings were evenly filled. */
KITH_BOTH_SIDES static inline void
octree_find_around(int32_t dimensions, const struct octree_cell *parent, struct octree_cell *cell)
{
    const int32_t further = parent->around >> dimensions;
    cell->around = further > parent->count ? further : parent->count;
}

/* The cell of the points first … end − 1, a child of cell `parent` of `cells`, or −1. */
KITH_BOTH_SIDES static inline struct octree_cell
octree_make_cell(int32_t dimensions, const uint64_t *keys, const struct octree_cell *cells,
                 int32_t parent, int32_t first, int32_t end)
{
    struct octree_cell cell;
    cell.first = first;
    cell.count = cell.around = end - first;
    cell.parent = parent;
    cell.child = cell.children = 0;
    cell.level = morton_common_level(dimensions, keys[first], keys[end - 1]);
    if (parent >= 0)
        octree_find_around(dimensions, &cells[parent], &cell);
    return cell;
}

#endif
