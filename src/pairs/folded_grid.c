#include "pairs/folded_grid.h"

#include <math.h>

#include "core/status.h"
#include "pairs/cells.h"

/* Systems of this few points are one cell along open axes: to inspect all of them is as fast. */
enum { most_points_of_cell = 64 };

static const double most_image_bits = 31, least_edge = 1e-200;

/* Cells along each axis, as many as 1 / edge allows; extents: how many there are, 0 if unknown. */
static void choose_counts(const struct pairs_problem *problem, const struct pairs_system *system,
                          double edge, double extents[3], struct pairs_folded_grid *grid)
{
    for (int k = 0; k < 3; k++) {
        const double height = system->lattice.height[k];
        const bool periodic = system->lattice.periodic[k];
        const bool is_one_cell = system->point_count <= most_points_of_cell ||
                                 k >= problem->dimensions || !(edge < (double)INFINITY);
        const double cells =
            periodic ? fmin(PAIRS_FARTHEST_CELL, fmax(1, floor(height / edge))) : 1;
        extents[k] = periodic || is_one_cell ? cells : 0;
        grid->count[k] = (int32_t)cells;
        grid->per_basis[k] = periodic ? cells : is_one_cell ? 0 : 1 / edge;
        grid->reach[k] = periodic      ? (int32_t)fmin(0x1p30, ceil(edge / (height / cells)))
                         : is_one_cell ? 0
                                       : 1;
    }
}

/* Bits that hold every T_k that the reach leads to, with an offset of half of what they can hold.
 */
static kith_status choose_image_bits(struct pairs_folded_grid *grid)
{
    double all = 0;
    for (int k = 0; k < 3; k++) {
        grid->image_bits[k] = 0;
        if (grid->lattice.periodic[k]) {
            const double most = ceil((double)grid->reach[k] / grid->count[k]);
            grid->image_bits[k] = (int32_t)ceil(log2(2 * most + 1));
            all += grid->image_bits[k];
        }
    }
    if (all > most_image_bits)
        return kith_fail(KITH_UNSUPPORTED,
                         "the cutoff reaches over more than 2^%d images of the cell; give a "
                         "smaller cutoff or a larger cell",
                         (int)most_image_bits - 3);
    return KITH_OK;
}

/* Folds if the cells are more than the points need. Odd strides, so that a row of cells along any
 * axis goes through all places before it meets itself. */
static void choose_places(const double extents[3], struct pairs_folded_grid *grid)
{
    double all = 1, known = 1;
    int unknown = 0;
    for (int k = 0; k < 3; k++) {
        all *= extents[k];
        known *= extents[k] > 0 ? extents[k] : 1;
        unknown += extents[k] == 0;
    }
    const double enough = pairs_places_worth(grid->point_count);
    grid->folded = unknown > 0 || all > enough;
    uint32_t places = 1;
    while (grid->folded && places < 1U << 30 && (double)places < (double)grid->point_count)
        places *= 2;
    grid->places = grid->folded ? places : (uint32_t)all;
    const double each = unknown > 0 ? pow(fmax(1, places / known), 1.0 / unknown) : 1;
    double stride = 1;
    for (int k = 0; k < 2; k++) {
        stride *= extents[k] > 0 ? extents[k] : each;
        grid->stride[k] = (int64_t)fmin(stride, 0x1p30);
        if (grid->folded)
            grid->stride[k] |= 1;
    }
}

kith_status pairs_folded_grid_choose(const struct pairs_problem *problem,
                                     const struct pairs_system *system, double search,
                                     uint32_t *places, struct pairs_folded_grid *grid)
{
    double extents[3];
    const double edge = fmax(least_edge, pairs_safe_distance(&system->lattice, problem->dtype,
                                                             search, PAIRS_FARTHEST_CELL * search));
    *grid = (struct pairs_folded_grid){
        .lattice = system->lattice,
        .first_point = system->first_point,
        .point_count = system->point_count,
        .first_target = system->first_target,
        .target_count = system->target_count,
        .first_place = *places,
    };
    choose_counts(problem, system, edge, extents, grid);
    KITH_TRY(choose_image_bits(grid));
    choose_places(extents, grid);
    grid->chunk_cells = grid->folded ? 1 : pairs_cells_of_chunk(grid);
    *places += grid->places;
    return KITH_OK;
}
