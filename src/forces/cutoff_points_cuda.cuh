#ifndef FORCES_CUTOFF_POINTS_CUDA_CUH
#define FORCES_CUTOFF_POINTS_CUDA_CUH

/* Points wrapped into the cell and sorted into buckets (cells/grid.h), and the list of their pairs.
 */

#include "cells/cells.h"
#include "forces/cutoff_cuda.h"

namespace cutoff_points
{

enum { threads = 256 };

/* Targets whose pairs are in memory at a time: enough for all threads of a device. */
enum { targets_at_once = 1 << 20 };
static_assert(targets_at_once % (cutoff_cuda_block / cutoff_cuda_lanes) == 0,
              "blocks of targets are whole");

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
    long long *counts, *offsets; /* of targets_at_once + 1 */
    void *scan_scratch;
    struct found *found;
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

/* Prepares a problem's points, in memory that is kept from call to call, and fills in the positions
 * and the basis of *to. Waits for the device.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_INVALID_ARGUMENT (a position that is not finite or too many
 *         cells away, unless the problem's delivery tells), KITH_UNSUPPORTED (too many particles,
 *         or images), KITH_CANCELLED. */
kith_status begin_pairs(kith_context *context, const struct forces_problem *problem,
                        struct cutoff_cuda_memory *memory, struct listing *listing,
                        struct cutoff_cuda_problem *to);

/* Lists the pairs within the cutoff, at every image, but for the memory's excluded ones, of at most
 * targets_at_once targets from the k-th in the order of the cells on: count, order, begin, partner
 * and image of *to. Pairs of a target are in an order that depends on the positions alone. Waits
 * for the device. Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status list_pairs(struct listing *listing, struct cutoff_cuda_memory *memory, int64_t k,
                       struct cutoff_cuda_problem *to);

} // namespace cutoff_points

#endif
