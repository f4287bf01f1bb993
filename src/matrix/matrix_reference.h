#ifndef MATRIX_MATRIX_REFERENCE_H
#define MATRIX_MATRIX_REFERENCE_H

#include "matrix/arguments.h"
#include "matrix/problem.h"

/* The definitions of kith/matrix.h as loops, in double precision, of columns of doubles on the
 * host. */

/* V itself, with its diagonal. */
kith_status matrix_reference_fill(const struct matrix_arguments *arguments,
                                  const struct matrix_problem *problem, kith_array matrix);

/* found[i] = Σ_j V[i][j] b[j] (b NULL: of V[i][j] alone), or the minimum of sign · V[i][j], at[i].
 */
kith_status matrix_reference_reduce(const struct matrix_arguments *arguments,
                                    const struct matrix_problem *problem,
                                    const struct matrix_reduction *reduction, const double *b,
                                    double *found, int64_t *at);

kith_status matrix_reference_histogram(const struct matrix_arguments *arguments,
                                       const struct matrix_problem *problem,
                                       const struct matrix_histogram *range, int64_t *counts);

#endif
