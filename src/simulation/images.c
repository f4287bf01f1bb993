#include "simulation/images.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "forces/excluded.h"
#include "forces/near.h"
#include "forces/solver.h"
#include "forces/space.h"
#include "law/law.h"
#include "simulation/state.h"

/* The rows of an array of pairs, one after another, in memory that is freed with free(). */
static kith_status copy_exclusions(kith_array from, kith_array *to)
{
    int64_t(*rows)[2] = NULL;
    if (kith_array_is_none(from) || from.shape[0] == 0)
        return KITH_OK;
    KITH_TRY(kith_allocate(from.shape[0], sizeof *rows, "excluded pairs", &rows));
    for (int64_t k = 0; k < from.shape[0]; k++)
        for (int c = 0; c < 2; c++)
            rows[k][c] = ((const int64_t *)from.data)[k * from.strides[0] + c * from.strides[1]];
    *to = kith_array_matrix(rows, KITH_I64, from.shape[0], 2);
    return KITH_OK;
}

kith_status simulation_take_images(const kith_simulation_options *options,
                                   struct kith_simulation *simulation)
{
    const kith_law *law = simulation->law.law;
    KITH_TRY(excluded_check(options->forces.ewald.exclusions, simulation->solver,
                            options->forces.cutoff));
    if (!simulation->solver->is_periodic && !(options->forces.cutoff > 0))
        return KITH_OK;
    if (simulation->solver->is_periodic && options->skin > 0 && !(law && law->near))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "skin is %g, and solver is %s, which keeps no list of pairs; leave the "
                         "skin out",
                         options->skin, simulation->solver->name);
    simulation->ewald = options->forces.ewald;
    simulation->ewald.exclusions = kith_array_none();
    return copy_exclusions(options->forces.ewald.exclusions, &simulation->ewald.exclusions);
}

kith_status simulation_load_images(struct kith_simulation *simulation)
{
    const double g = fabs(simulation->law.g);
    struct forces_problem *problem = &simulation->problem, near;
    problem->space = simulation->space;
    problem->space.cell = &simulation->cell;
    problem->space.ewald = &simulation->ewald;
    problem->space.absolute_error = simulation->ewald.absolute_error / (g != 0 ? g : 1);
    if (!near_law(problem))
        return KITH_OK;
    KITH_TRY(near_problem(problem, &simulation->lattice, &near));
    return forces_tail_energy(&near, &simulation->tail_energy);
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
    free(simulation->ewald.exclusions.data);
}
