#ifndef MATRIX_GRID_H
#define MATRIX_GRID_H

/* How many blocks kernels are started with; for host code. */

#include <stdbool.h>

#include "kith/array.h"
#include "matrix/matrix_cuda.cuh"

struct matrix_grid {
    unsigned x, y;
};

enum { matrix_most_blocks_y = 65535 };

static inline unsigned matrix_limited(int64_t blocks)
{
    return (unsigned)(blocks < matrix_most_blocks_y ? blocks : (int64_t)matrix_most_blocks_y);
}

/* Strips of columns (a vector more where rows begin between two), and groups of rows; or tiles. */
static inline struct matrix_grid matrix_fill_grid(const struct matrix_problem *problem,
                                                  const struct matrix_target *to, kith_dtype dtype,
                                                  bool symmetric)
{
    const int64_t run = 16 / kith_dtype_bytes(dtype);
    const int64_t strip = run * matrix_fill_threads, side = matrix_side_of_tile;
    const int64_t tiles = (problem->rows.count + side - 1) / side;
    const struct matrix_grid of_tiles = {(unsigned)tiles, matrix_limited(tiles)};
    const struct matrix_grid grid = {
        (unsigned)((problem->columns.count + (to->is_aligned ? 0 : run - 1) + strip - 1) / strip),
        matrix_limited((to->rows + matrix_rows_a_block - 1) / matrix_rows_a_block)};
    return symmetric ? of_tiles : grid;
}

#endif
