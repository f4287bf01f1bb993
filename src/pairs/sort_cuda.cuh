#ifndef PAIRS_SORT_CUDA_CUH
#define PAIRS_SORT_CUDA_CUH

/* What both ways to sort points by cells begin and end with. */

#include "cuda/overlap.cuh"
#include "pairs/search_cuda.cuh"

/* Wraps a point; gives it, and the place of its cell. */
template <typename real>
static __device__ __forceinline__ uint32_t wrap_point(const struct pairs_search<real> &search,
                                                      const struct pairs_side<real> &side,
                                                      uint32_t row)
{
    const struct pairs_folded_grid &grid = search.grids[system_of(search, row, side.is_target)];
    double x[3];
    int32_t away[3];
    bool good = read_position(search, side, row, x);
    good = pairs_wrap(&grid.lattice, x, away) && good;
    /* The first bad row is the one with the largest complement. */
    if (!good)
        atomicMax(side.is_target ? &search.counters->worst_target : &search.counters->worst_point,
                  ~(unsigned long long)row);
    pairs_point<real> point;
    point.x = (real)x[0];
    point.y = (real)x[1];
    point.z = (real)x[2];
    point.row = row;
    const int3 cell = cell_of(grid, point);
    side.wrapped[row] = point;
    if (side.cells_away)
        side.cells_away[row] = make_int3(away[0], away[1], away[2]);
    return grid.first_place + pairs_folded_place(&grid, cell.x, cell.y, cell.z);
}

/* Origins for the systems' open axes. */
template <typename real>
kith_status pairs_find_origins(kith_context *context, const struct pairs_search<real> &search);

/* Makes the chunks of sorted targets. */
template <typename real>
kith_status pairs_make_chunks(kith_context *context, const struct pairs_search<real> &search);

#endif
