#ifndef KITH_CELL_H
#define KITH_CELL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A cell, repeated along its periodic vectors. Rows are the cell vectors, which may have any shape,
 * handedness and length. In 2D only the first two rows and columns are used. Space is open along a
 * vector that is not periodic; such a vector may be zero. */
typedef struct kith_cell {
    double vectors[3][3];
    bool periodic[3];
} kith_cell;

#ifdef __cplusplus
}
#endif

#endif
