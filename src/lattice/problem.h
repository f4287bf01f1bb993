#ifndef COLLISIONS_PROBLEM_H
#define COLLISIONS_PROBLEM_H

#include "core/both_sides.h"
#include "kith/collisions.h"

/* Checked beads whose collisions are counted, in the memory of the backend (the host's, unless
 * stated otherwise). */
struct collisions_problem {
    kith_dtype dtype; /* KITH_I32 or KITH_I64 */
    int32_t dimensions;
    int64_t count;
    const void *beads;
    int64_t row_stride, column_stride; /* elements */
};

KITH_BOTH_SIDES static inline int64_t
collisions_coordinate(const struct collisions_problem *problem, int64_t i, int64_t c)
{
    const int64_t at = i * problem->row_stride + c * problem->column_stride;
    return problem->dtype == KITH_I32 ? ((const int32_t *)problem->beads)[at]
                                      : ((const int64_t *)problem->beads)[at];
}

KITH_BOTH_SIDES static inline bool collisions_same_site(const struct collisions_problem *problem,
                                                        int64_t i, int64_t j)
{
    for (int64_t c = 0; c < problem->dimensions; c++)
        if (collisions_coordinate(problem, i, c) != collisions_coordinate(problem, j, c))
            return false;
    return true;
}

/* k (k − 1) / 2, without an intermediate result that is larger. */
KITH_BOTH_SIDES static inline int64_t collisions_of(int64_t k)
{
    return k % 2 == 0 ? k / 2 * (k - 1) : (k - 1) / 2 * k;
}

/* Rows one after another, columns too. */
static inline bool collisions_is_dense(const struct collisions_problem *problem)
{
    return problem->column_stride == 1 && problem->row_stride == problem->dimensions;
}

/* Many conformations, dense and row-major: number b has the beads offsets[b] … offsets[b + 1] − 1,
 * or length × b … without offsets. */
struct collisions_batch_problem {
    kith_dtype dtype;
    int32_t dimensions;
    int64_t conformations, length;
    const void *beads;
    const int64_t *offsets;
    const unsigned char
        *hydrophobic;               /* length flags, on the host: contacts of these only; or NULL */
    int64_t *collisions, *contacts; /* one or both */
};

enum { collisions_most_of_batch = 65535 };

#endif
