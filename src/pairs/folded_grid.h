#ifndef PAIRS_FOLDED_GRID_H
#define PAIRS_FOLDED_GRID_H

/* Cells over a system of unknown extent, in a table of bounded size.
 *
 * Cell (x, y, z) has the place x + y·stride[0] + z·stride[1] in the system's part of the table. If
 * the cells are few enough, each has a place of its own. Else it is a hashed cell list: places are
 * taken modulo a power of two, so that a place may hold points of several cells, far apart from
 * each other; a search for the points of a row of cells then compares y and z. So empty space costs
 * no memory, and open axes need no bounds. */

#include "core/status.h"
#include "pairs/problem.h"

struct pairs_folded_grid {
    struct pairs_lattice lattice;
    int64_t first_point, point_count;
    int64_t first_target, target_count;
    double origin[3];    /* along open axes: a component of the basis amid the points */
    double per_basis[3]; /* cells along a basis vector; 0: all is one cell */
    int32_t count[3];    /* cells along a periodic axis; along any if not hashed */
    int32_t first[3];    /* along open axes: the cell, as the origin has it, that is number 0 */
    int32_t reach[3];    /* pairs' cells differ by at most this */
    int32_t image_bits[3];
    bool folded;
    uint32_t first_place, places;
    int64_t stride[2];
    int32_t chunk_cells; /* cells along x whose targets are inspected together; 1 if hashed */
    double limit;        /* nearest points: of r² in this round */
    bool last;           /* nothing is farther away */
};

/* Coordinates of cells along open axes are counted from the origin, and end here. */
#define PAIRS_FARTHEST_CELL 1073741824.0

/* The cell of a wrapped point along axis k. */
KITH_BOTH_SIDES static inline int32_t pairs_folded_cell(const struct pairs_folded_grid *grid,
                                                        const double x[3], int k)
{
    double fraction = pairs_fraction(&grid->lattice, x, k);
    if (!grid->lattice.periodic[k])
        fraction = pairs_add_double(fraction, -grid->origin[k]);
    const double cell = floor(pairs_multiply_double(fraction, grid->per_basis[k]));
    if (grid->lattice.periodic[k])
        return cell > 0 ? (cell < grid->count[k] ? (int32_t)cell : grid->count[k] - 1) : 0;
    return (int32_t)fmin(fmax(cell, -PAIRS_FARTHEST_CELL), PAIRS_FARTHEST_CELL) - grid->first[k];
}

/* Its place in the system's part of the table. */
KITH_BOTH_SIDES static inline uint32_t pairs_folded_place(const struct pairs_folded_grid *grid,
                                                          int64_t x, int64_t y, int64_t z)
{
    const uint64_t place = (uint64_t)(x + y * grid->stride[0] + z * grid->stride[1]);
    return (uint32_t)(grid->folded ? place & (grid->places - 1U) : place);
}

/* The number of a translation T among those that the grid's reach allows, ascending in T_x, T_y,
 * T_z, and back. */
KITH_BOTH_SIDES static inline uint32_t pairs_image_code(const struct pairs_folded_grid *grid,
                                                        const int32_t image[3])
{
    uint32_t code = 0;
    for (int k = 0; k < 3; k++)
        code = code << grid->image_bits[k] |
               (uint32_t)(image[k] + (int32_t)(1U << grid->image_bits[k] >> 1));
    return code;
}

KITH_BOTH_SIDES static inline void pairs_image_of(const struct pairs_folded_grid *grid,
                                                  uint32_t code, int32_t image[3])
{
    for (int k = 2; k >= 0; k--) {
        const uint32_t bits = (uint32_t)grid->image_bits[k];
        image[k] = (int32_t)(code & ((1U << bits) - 1U)) - (int32_t)(1U << bits >> 1);
        code >>= bits;
    }
}

/* The number of places for a system's points. */
KITH_BOTH_SIDES static inline double pairs_places_worth(int64_t points)
{
    return 2.0 * (double)points + 27;
}

/* Cells along x whose targets are inspected together, in a grid that is not hashed: this many
 * targets as make good use of what there is to do once for them. */
KITH_BOTH_SIDES static inline int32_t pairs_cells_of_chunk(const struct pairs_folded_grid *grid)
{
    const double wanted = 16;
    const double cells = floor(wanted * grid->places / fmax(1.0, (double)grid->point_count));
    return (int32_t)fmax(1.0, fmin(cells, fmin(32.0, (double)grid->count[0])));
}

#ifdef __cplusplus
extern "C" {
#endif

/* Chooses the grid of a system for points within search of each other (in the problem's unit) and
 * gives it its part of the table, from *places on, which becomes the part's end.
 *
 * Errors: KITH_UNSUPPORTED (search reaches over too many of the cell's images). */
kith_status pairs_folded_grid_choose(const struct pairs_problem *problem,
                                     const struct pairs_system *system, double search,
                                     uint32_t *places, struct pairs_folded_grid *grid);

#ifdef __cplusplus
}
#endif

#endif
