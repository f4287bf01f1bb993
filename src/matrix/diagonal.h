#ifndef MATRIX_DIAGONAL_H
#define MATRIX_DIAGONAL_H

#include "core/both_sides.h"
#include "matrix/problem.h"

/* V[i][i] in what row i has found, where it is a number of the caller's: it has no weights, which
 * the kernels take out of their sums. It comes last, so that the bits are the same for every number
 * of threads. */

KITH_BOTH_SIDES static inline int matrix_counts_number(const struct matrix_problem *problem)
{
    return problem->replaces_diagonal && !problem->leaves_diagonal_out;
}

/* The minimum of sign · V: of equal values the smallest j is kept, as in a loop over j. */
KITH_BOTH_SIDES static inline void matrix_count_number(const struct matrix_problem *problem,
                                                       int sign, long long i, double *least,
                                                       long long *at)
{
    const double value = sign * problem->diagonal_value;
    if (value < *least || (value == *least && i < *at)) {
        *least = value;
        *at = i;
    }
}

#endif
