#include "simulation/images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "forces/solver.h"
#include "simulation/state.h"

/* The rows of an array of pairs, one after another, in memory that goes with free. */
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
    struct simulation_images *images = &simulation->images;
    if (!simulation->solver->is_periodic)
        return KITH_OK;
    if (options->skin > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "skin is %g, and solver is %s, which keeps no list of pairs; leave the "
                         "skin out",
                         options->skin, simulation->solver->name);
    images->given = options->forces.ewald;
    images->given.exclusions = kith_array_none();
    images->order = options->forces.accuracy.order;
    return copy_exclusions(options->forces.ewald.exclusions, &images->given.exclusions);
}

void simulation_load_images(struct kith_simulation *simulation)
{
    const struct simulation_images *images = &simulation->images;
    const double g = fabs(simulation->law.g);
    struct forces_problem *problem = &simulation->problem;
    problem->space = simulation->space;
    problem->space.cell = &simulation->cell;
    problem->space.ewald = images->is_chosen ? &images->chosen : &images->given;
    problem->space.absolute_error = images->given.absolute_error / (g != 0 ? g : 1);
    problem->accuracy.order = images->is_chosen ? images->chosen_order : images->order;
    if (images->is_chosen)
        problem->space.cutoff = images->cutoff;
}

static kith_status evaluate(struct kith_simulation *simulation, kith_solver_report *report)
{
    struct forces_problem problem = simulation->problem;
    for (int32_t k = 0; k < problem.dimensions; k++)
        problem.target_position[k] = problem.source_position[k] = simulation->vector[POSITION][k];
    problem.report = report;
    return forces_evaluate(simulation->context, simulation->solver, &problem,
                           &simulation->prepared);
}

kith_status simulation_choose_images(struct kith_simulation *simulation)
{
    struct simulation_images *images = &simulation->images;
    kith_solver_report report = {0};
    if (!simulation->solver->is_periodic || !simulation->cell.periodic[2])
        return KITH_OK;
    images->is_chosen = false;
    simulation_load_images(simulation);
    KITH_TRY(evaluate(simulation, &report));
    images->chosen = images->given;
    images->chosen.alpha = report.alpha;
    memcpy(images->chosen.grid, report.grid, sizeof report.grid);
    images->cutoff = report.cutoff;
    images->chosen_order = report.order;
    images->is_chosen = true;
    simulation_load_images(simulation);
    return KITH_OK;
}

void simulation_free_images(struct kith_simulation *simulation)
{
    free(simulation->images.given.exclusions.data);
}
