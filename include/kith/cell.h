#ifndef KITH_CELL_H
#define KITH_CELL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A cell that repeats itself along its periodic vectors. Rows are the cell vectors, of any shape,
 * handedness and length. In 2D only the first two rows and columns count. A vector that is not
 * periodic may be anything finite, zero too: along it space is open. */
typedef struct kith_cell {
    double vectors[3][3];
    bool periodic[3];
} kith_cell;

#ifdef __cplusplus
}
#endif

#endif
