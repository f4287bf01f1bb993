#ifndef FORCES_COLUMNS_KERNEL_H
#define FORCES_COLUMNS_KERNEL_H

#include <stdbool.h>

#include "core/isa.h"
#include "kith/array.h"

/* What is done to the rows of an array of reals on the host, and the columns it is packed to. */
struct forces_rows {
    void *array; /* element 0, 0 */
    int64_t row_stride, column_stride;
    int32_t columns; /* at most 3 */
    bool is_dense;   /* row_stride is columns, column_stride 1 */
    void *column[3];
    int exponent;
    double factor; /* times 2^exponent: what numbers are multiplied by */
    double least;
    double largest; /* of measure: the largest magnitude, */
    bool good;      /* if all numbers are finite and at least least */
};

/* Of the rows begin … end − 1. */
typedef void forces_rows_kernel(struct forces_rows *rows, int64_t begin, int64_t end);

/* The kernels of an instruction set, by the dtype of the array and of the columns, which is the
 * array's or double. */
struct forces_rows_kernels {
    forces_rows_kernel *measure[2], *pack[2][2], *unpack[2][2];
};

#define FORCES_DECLARE_ROWS(isa) extern const struct forces_rows_kernels forces_rows_##isa;
KITH_EACH_ISA(FORCES_DECLARE_ROWS)
#undef FORCES_DECLARE_ROWS

#endif
