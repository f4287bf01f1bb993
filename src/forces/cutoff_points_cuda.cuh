#ifndef FORCES_CUTOFF_POINTS_CUDA_CUH
#define FORCES_CUTOFF_POINTS_CUDA_CUH

/* Points wrapped into the cell and sorted into buckets (cells/grid.h), for the list of their pairs
 * (cutoff_pairs_cuda.cu). */

#include "cells/cells.h"
#include "forces/cutoff_cuda.h"

namespace cutoff_points
{

enum { threads = 256 };

/* What the points are, found by all threads at once: numbers in the order of their bits. */
struct found {
    unsigned long long low[3], high[3], largest;
    long long bad_row; /* the first; INT64_MAX: none */
    int is_known_bad;  /* reported when results are delivered */
};

/* Points of one side: by row, and sorted. */
struct side {
    int64_t count;
    const void *const *position;
    void *wrapped[3], *sorted[3];
    uint32_t *order;
};

struct listing {
    kith_context *context;
    const struct forces_problem *problem;
    struct pairs_lattice lattice;
    struct cells_grid grid;
    struct side sources, targets;
    uint64_t *keys;
    void *sort_scratch;
    int32_t *begin;
    long long *counts, *offsets;
    struct found *found;
    long long total;
};

static inline unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static __device__ inline int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

static __device__ inline void cell_of(const struct cells_grid &grid,
                                      const struct pairs_lattice &lattice, const double x[3],
                                      int64_t cell[3])
{
    for (int k = 0; k < 3; k++)
        cell[k] = cells_coordinate(&grid, &lattice, x, k);
}

/* Wraps and sorts the points of both sides: wrapped, sorted, order, begin and the grid. Waits for
 * the device. Errors: KITH_INVALID_ARGUMENT (a bad position), KITH_CANCELLED. */
kith_status prepare(struct listing *listing);

} // namespace cutoff_points

#endif
