#include "forces/verlet_frame_cuda.h"

#include <math.h>

/* Of the cutoff: a skin that kith chooses, and the least for which a list is worth it. */
static const double usual_skin = 0.2, least_skin = 0.02;

/* Of positions within the cell in float, by which partners are found. */
static const double rounding_of_points = 0x1p-24;

/* Doublings of the period: to 2^12 cutoffs, with a unit of 2^-20 of one, and in double precision to
 * 2^15, where rounding of points adds a 64th to the search distance. */
enum { most_doublings_float = 5, most_doublings_double = 8 };

/* Cells lie where particles are, along an axis of this many search distances or more. */
enum { shortest_axis = 4 };

static bool is_open(const struct verlet_cuda *verlet, int k)
{
    return verlet->step.open >> k & 1;
}

/* A list lasts as long as no particle has moved by half of the skin. */
static bool choose_skin(const struct forces_problem *problem, struct verlet_cuda *verlet)
{
    const double cutoff = problem->space.cutoff;
    double most = INFINITY;
    for (int k = 0; k < problem->dimensions; k++)
        if (!is_open(verlet, k))
            most = fmin(most, 0.4999 * problem->space.lattice->height[k] - cutoff);
    verlet->skin = fmin(
        problem->space.skin > 0 ? fmin(problem->space.skin, cutoff) : usual_skin * cutoff, most);
    return verlet->skin >= fmin(least_skin, usual_skin) * cutoff ||
           (problem->space.skin > 0 && verlet->skin == problem->space.skin);
}

/* The period of open axes before it is doubled. */
static double shortest_period(double cutoff)
{
    int exponent = 0;
    (void)frexp(cutoff, &exponent);
    return ldexp(64, exponent);
}

/* The lattice of the frame. */
static void set_lattice(struct verlet_cuda *verlet)
{
    const double period = ldexp(shortest_period(verlet->cutoff), verlet->doublings);
    struct pairs_lattice *lattice = &verlet->step.lattice;
    *lattice = verlet->lattice;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3 && is_open(verlet, k); c++) {
            lattice->basis[k][c] *= period;
            lattice->inverse[c][k] /= period;
        }
    for (int k = 0; k < 3; k++)
        if (is_open(verlet, k))
            lattice->height[k] *= period;
    verlet->building.lattice = *lattice;
}

static void set_edges(struct verlet_cuda *verlet)
{
    const double of_unit = verlet->dtype == KITH_F64 ? 0x1p-64 : 0x1p-32;
    struct verlet_cuda_step *step = &verlet->step;
    step->is_orthogonal = true;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
            verlet->building.edge[k][c] = step->edge[k][c] = step->lattice.basis[k][c] * of_unit;
            step->is_orthogonal &= k == c || step->lattice.basis[k][c] == 0;
        }
    verlet->building.is_orthogonal = step->is_orthogonal;
}

/* The search distance: with what rounding of places and distances may do, several times over. */
static double search_distance(const struct verlet_cuda *verlet, double margin)
{
    double edges = 0;
    for (int k = 0; k < verlet->step.dimensions; k++)
        for (int c = 0; c < 3; c++)
            edges += fabs(verlet->step.lattice.basis[k][c]);
    return (verlet->cutoff + verlet->skin) * (1 + margin) + 8 * rounding_of_points * edges;
}

/* The slab of one device. */
static void take_all_layers(struct verlet_cuda_building *building)
{
    const struct verlet_cuda_cells *cells = &building->cells;
    building->layer_axis = 0;
    while (building->layer_axis < 2 && cells->count[cells->axis[building->layer_axis]] == 1)
        building->layer_axis++;
    const int layers = cells->count[cells->axis[building->layer_axis]];
    building->slab = {layers, 0, layers, 0};
}

/* Along open axes the cells are those of the part of the period, by a power of two, that holds the
 * particles. */
static void choose_cells(const float farthest[3], double search, struct verlet_cuda *verlet)
{
    struct verlet_cuda_building *building = &verlet->building;
    struct pairs_lattice occupied = verlet->step.lattice;
    for (int k = 0; k < 3; k++) {
        building->shift[k] = 0;
        while (is_open(verlet, k) &&
               (double)farthest[k] <= verlet_frame_reach / 2 * occupied.height[k] &&
               occupied.height[k] >= 2 * shortest_axis * search) {
            occupied.height[k] /= 2;
            building->shift[k]++;
        }
    }
    building->search2 = search * search;
    verlet_choose_cells(&occupied, verlet->step.dimensions, verlet->count, search,
                        &building->cells);
    building->is_wide = verlet_cells_are_wide(&building->cells, verlet->step.dimensions);
    take_all_layers(building);
}

static void set_frame(const float farthest[3], struct verlet_cuda *verlet)
{
    const double margin = verlet->dtype == KITH_F64 ? 1e-12 : 1e-5;
    const double most_moved = 0.5 * verlet->skin * (1 - margin) - margin * verlet->cutoff;
    set_lattice(verlet);
    set_edges(verlet);
    verlet->step.most_moved2 = most_moved > 0 ? most_moved * most_moved : 0;
    choose_cells(farthest, search_distance(verlet, margin), verlet);
}

bool verlet_begin_frame_cuda(const struct forces_problem *problem, struct verlet_cuda *verlet)
{
    const float nowhere[3] = {0, 0, 0};
    verlet->lattice = *problem->space.lattice;
    verlet->cutoff = problem->space.cutoff;
    verlet->step.dimensions = verlet->building.dimensions = problem->dimensions;
    for (int k = 0; k < problem->dimensions; k++)
        verlet->step.open |= (int)!verlet->lattice.periodic[k] << k;
    verlet->building.open = verlet->step.open;
    if (!choose_skin(problem, verlet))
        return false;
    set_frame(nowhere, verlet);
    return true;
}

bool verlet_choose_frame_cuda(const float farthest[3], struct verlet_cuda *verlet)
{
    const double shortest = shortest_period(verlet->cutoff);
    const int most = verlet->dtype == KITH_F64 ? most_doublings_double : most_doublings_float;
    const double all = (double)fmaxf(farthest[0], fmaxf(farthest[1], farthest[2]));
    int doublings = 0;
    while (doublings <= most && !(all <= verlet_frame_reach * ldexp(shortest, doublings)))
        doublings++;
    if (doublings > most)
        return false;
    verlet->doublings = doublings;
    verlet->step.is_long_frame = doublings > 0;
    set_frame(farthest, verlet);
    return true;
}
