#ifndef TREE_SAMPLES_H
#define TREE_SAMPLES_H

/* The targets whose errors are found (tree/estimate.h). What is compiled at run time reads this. */

#include <stdint.h>

#include "core/both_sides.h"

enum { tree_samples = 48 };

/* Target of sample k of `samples`, at equal steps along the curve of the tree. */
KITH_BOTH_SIDES static inline int64_t tree_sample(int64_t k, int64_t samples, int64_t targets)
{
    return (2 * k + 1) * targets / (2 * samples);
}

#endif
