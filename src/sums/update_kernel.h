#ifndef SUMS_UPDATE_KERNEL_H
#define SUMS_UPDATE_KERNEL_H

/* The arguments of the kernels that update columns, on both devices. They are compiled at run time,
 * so this file includes nothing but numbers. */

#include "law/law_numbers.h"

enum { update_most_columns = 16, update_most_outputs = 32, update_cuda_threads = 256 };

/* A column, of the kernel's precision. */
struct update_column {
    void *data;
    long long stride;
};

struct update_rows {
    struct law_numbers numbers;
    struct update_column from[update_most_columns]; /* those that formulas use */
    struct update_column to[update_most_outputs];
    long long count;
};

/* Updates the rows begin … end − 1. */
typedef void update_kernel(const struct update_rows *rows, long long begin, long long end);

#define UPDATE_KERNEL_FILE   "sums/update_kernel_body.h"
#define UPDATE_KERNEL_SYMBOL "update_columns"
#define UPDATE_CUDA_FILE     "sums/update_kernel_cuda.cuh"

#endif
