#ifndef PAIRS_SORT_CUDA_CUH
#define PAIRS_SORT_CUDA_CUH

/* The first and last steps that both methods of sorting points by cells share. */

#include "device/overlap.cuh"
#include "pairs/search_cuda.cuh"

/* A point as it is given, wrapped; false if it is bad. */
template <typename real>
static __device__ __forceinline__ bool
wrap(const struct pairs_cuda_search<real> &search, const struct pairs_folded_grid &grid,
     const struct pairs_side<real> &side, uint32_t row, pairs_point<real> *point, int32_t away[3])
{
    double x[3];
    bool good = read_position(search, side, row, x);
    good = pairs_wrap(&grid.lattice, x, away) && good;
    point->x = (real)x[0];
    point->y = (real)x[1];
    point->z = (real)x[2];
    point->row = row;
    return good;
}

/* Wraps a point; gives it, and the place of its cell. */
template <typename real>
static __device__ __forceinline__ uint32_t place_point(const struct pairs_cuda_search<real> &search,
                                                       const struct pairs_side<real> &side,
                                                       uint32_t row)
{
    const struct pairs_folded_grid &grid = search.grids[system_of(search, row, side.is_target)];
    pairs_point<real> point;
    int32_t away[3];
    /* The first bad row is the one with the largest complement. */
    if (!wrap(search, grid, side, row, &point, away))
        atomicMax(side.is_target ? &search.counters->worst_target : &search.counters->worst_point,
                  ~(unsigned long long)row);
    const int3 cell = cell_of(grid, point);
    side.wrapped[row] = point;
    if (side.cells_away)
        side.cells_away[row] = make_int3(away[0], away[1], away[2]);
    return grid.first_place + pairs_folded_place(&grid, cell.x, cell.y, cell.z);
}

/* Origins for the systems' open axes; and if it may and the cells turn out to be few, a place for
 * each. */
template <typename real>
kith_status pairs_measure_open_axes(kith_context *context,
                                    const struct pairs_cuda_search<real> &search);

/* Makes the chunks of sorted targets, each of one cell; or only if the one grid is hashed. */
template <typename real>
kith_status pairs_make_chunks(kith_context *context, const struct pairs_cuda_search<real> &search,
                              bool if_folded);

#endif
