/* What the kernels of the interaction matrix on a GPU share; nvcc and NVRTC read this. */
#ifndef MATRIX_MATRIX_CUDA_CUH
#define MATRIX_MATRIX_CUDA_CUH

#include "matrix/problem.h"

#if defined(__CUDACC__) && !defined(INFINITY) /* NVRTC knows no headers */
#define INFINITY __int_as_float(0x7f800000)
#endif

/* Filling: a thread computes 16 bytes of each row, and this many rows, one after the other; this
 * many blocks per multiprocessor.
 *
 * Measured on an H200, float, power:1, N = 65 536, compared with 4567 GB/s of memset: 4238 with 64
 * rows and two blocks (of 102 registers a thread), 4164 with four, 4478 with 16 rows and four, 4549
 * when they are not to stay in the cache (store_cuda.cuh): what is written at one time shall lie
 * together. */
enum { matrix_fill_threads = 256, matrix_rows_a_block = 16, matrix_fill_blocks = 4 };

/* Reducing: rows in registers of a thread, columns in shared memory of a block. Measured on an
 * H200, float, a Gaussian, 10⁶ rows: 2.61e12 pairs/s with 4 rows per thread, 2.82e12 with 8; the
 * latter need more rows, and gain nothing where the law itself needs many registers. */
enum { matrix_reduce_threads = 128, matrix_tile = 128 };

/* The rows that a thread reduces, and those of a block. */
enum {
    matrix_reduce_rows = 4,
    matrix_reduce_block_rows = matrix_reduce_threads * matrix_reduce_rows
};

enum { matrix_side_of_tile = 32 }; /* of what is computed once and written twice */

/* Histograms. */
enum { matrix_histogram_threads = 256, matrix_most_shared_bins = 4096 };

/* Rows first … first + rows of the matrix. */
struct matrix_target {
    void *values; /* of element (first, 0) */
    long long first, rows;
    long long row_stride, column_stride;
    int is_aligned; /* each row's address is a multiple of 16 bytes */
};

/* What blocks leave that share rows: parts × rows. */
struct matrix_parts {
    double *sum; /* or the minimum value */
    long long *at;
    long long columns; /* of a part; a multiple of matrix_tile */
    int sign;
};

struct matrix_bins {
    struct matrix_histogram range;
    unsigned long long *counts;
    long long columns; /* of a block; a multiple of matrix_histogram_threads */
};

#endif
