#ifndef TREE_OCTREE_CELL_H
#define TREE_OCTREE_CELL_H

/* A cell of tree/octree.h. What is compiled at run time reads this. */

#include <stdint.h>

struct octree_cell {
    int32_t first, count;    /* points, in the order of the tree */
    int32_t parent;          /* −1 for the root */
    int32_t child, children; /* the first, and how many: 0 for a leaf */
    int32_t around;          /* points in its surroundings, about */
    int32_t level;           /* of the Morton grid: the deepest that has the cell's points in one */
};

#endif
