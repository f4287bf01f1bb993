#ifndef MATRIX_PROBLEM_H
#define MATRIX_PROBLEM_H

#include "law/law_kinds.h"

/* The input of a backend's matrix functions: columns of floats or doubles in its memory. Host code,
 * CUDA and NVRTC read this. */

/* Particles as columns, readable up to kith_padded(count). */
struct matrix_side {
    const void *x[3];        /* zeros in the axes that positions do not have */
    const void *more_axes;   /* the axes from the fourth on, stride elements apart */
    const void *weight;      /* the law's, ones where it has none; of a custom law the masses */
    const void *charge;      /* for custom laws */
    const void *coefficient; /* of columns, for sums: what V / (w_i w_j) is multiplied by */
    long long count, stride; /* stride: kith_padded(count) */
};

struct matrix_problem {
    struct law_numbers numbers;
    enum law_weighting weighting; /* law_sum, or law_product of ones without weights */
    int has_weights;              /* they are not all 1 */
    double softening2;
    int more_axes; /* beyond three */
    struct matrix_side rows, columns;
    int same;              /* the rows are the columns */
    int replaces_diagonal; /* by diagonal_value, where they are; sums and least values of rows then
                              leave j = i out, and matrix/diagonal.h counts it afterwards */
    int leaves_diagonal_out; /* of what is computed without keeping the matrix */
    double diagonal_value;
};

/* What becomes of the values of a row. */
enum matrix_operation { matrix_sum, matrix_least };

/* Values of sign · V: the maximum is the minimum of −V with its sign changed. */
struct matrix_reduction {
    enum matrix_operation operation;
    int sign;
};

struct matrix_histogram {
    double low, high;
    long long bins;
};

#endif
