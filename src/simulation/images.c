#include "simulation/images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "forces/excluded.h"
#include "forces/solver.h"
#include "law/law.h"
#include "ranks/bodies.h"
#include "simulation/slice.h"

/* Of a slice those with a row of its own. */
static kith_status take_exclusions(kith_array exclusions, struct kith_simulation *simulation)
{
    const struct simulation_slice *slice = simulation->slice;
    struct forces_space *space = &simulation->space;
    if (!slice)
        return excluded_copy(exclusions, &space->exclusions);
    int64_t first = 0, count = 0;
    ranks_rows(simulation->context, slice->all, &first, &count);
    KITH_TRY(excluded_check_pairs(exclusions, slice->all));
    space->has_exclusions = !kith_array_is_none(exclusions) && exclusions.shape[0] > 0;
    return slice_agree(simulation,
                       excluded_copy_own(exclusions, first, first + count, &space->exclusions));
}

kith_cell simulation_choose_cell(const kith_forces_options *options, const kith_bodies *bodies)
{
    kith_cell cell = {.periodic = {false}};
    if (options->cell)
        return *options->cell;
    for (int32_t k = 0; k < bodies->dimensions && bodies->has_cell; k++) {
        memcpy(cell.vectors[k], bodies->cell + 3 * k, sizeof cell.vectors[k]);
        cell.periodic[k] = bodies->periodic[k];
    }
    return cell;
}

kith_status simulation_take_images(const kith_simulation_options *options,
                                   struct kith_simulation *simulation)
{
    const kith_law *law = simulation->law.law;
    KITH_TRY(
        excluded_check(options->forces.exclusions, simulation->solver, options->forces.cutoff));
    if (!simulation->solver->is_periodic && !(options->forces.cutoff > 0))
        return KITH_OK;
    if (simulation->solver->is_periodic && options->skin > 0 && !(law && law->near))
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "skin is %g, but solver is %s, which has no neighbor list; leave the skin out",
            options->skin, simulation->solver->name);
    simulation->ewald = options->forces.ewald;
    return take_exclusions(options->forces.exclusions, simulation);
}

void simulation_load_images(struct kith_simulation *simulation)
{
    const double g = fabs(simulation->law.g);
    struct forces_problem *problem = &simulation->problem;
    problem->space = simulation->space;
    problem->space.cell = &simulation->cell;
    problem->space.ewald = &simulation->ewald;
    problem->space.absolute_error = simulation->ewald.absolute_error / (g != 0 ? g : 1);
}

kith_status simulation_choose_images(struct kith_simulation *simulation)
{
    struct forces_problem problem = simulation->problem;
    if (!simulation->solver->is_periodic || simulation->prepared)
        return KITH_OK;
    for (int32_t k = 0; k < problem.dimensions; k++)
        problem.target_position[k] = problem.source_position[k] = simulation->vector[POSITION][k];
    return forces_evaluate(simulation->context, simulation->solver, &problem,
                           &simulation->prepared);
}

void simulation_free_images(struct kith_simulation *simulation)
{
    free(simulation->space.exclusions.data);
}
