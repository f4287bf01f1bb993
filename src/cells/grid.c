#include "cells/choose.h"

struct cells_bounds cells_bounds_empty(void)
{
    return (struct cells_bounds){
        {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
}

void cells_grid_choose(const struct pairs_lattice *lattice, kith_dtype dtype, int32_t dimensions,
                       double cutoff, const struct cells_bounds *bounds, int64_t count,
                       struct cells_grid *grid)
{
    cells_grid_choose_fine(lattice, dtype, dimensions, cutoff, 1, bounds, count, grid);
}

void cells_grid_choose_fine(const struct pairs_lattice *lattice, kith_dtype dtype,
                            int32_t dimensions, double cutoff, int32_t divisions,
                            const struct cells_bounds *bounds, int64_t count,
                            struct cells_grid *grid)
{
    const double edge = pairs_safe_distance(lattice, dtype, cutoff, bounds->largest);
    cells_choose(lattice, dimensions, edge, divisions, divisions, bounds, cells_most_buckets(count),
                 grid);
}
