#include "simulation/slice.h"

#include <stdlib.h>

#include "cells/lattice.h"
#include "forces/cutoff.h"
#include "forces/solver.h"
#include "forces/verlet_slabs.h"
#include "law/law.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "simulation/images.h"
#include "simulation/integrator.h"
#include "simulation/watch.h"
#include "simulation/whfast_slice.h"

static bool is_divided(const kith_solver *solver)
{
    return solver == &forces_solver_direct || solver == &forces_solver_tree ||
           solver == &forces_solver_fmm || solver == &forces_solver_cutoff;
}

/* Whether ranks with a GPU each have slabs of a cell that is periodic along all axes
 * (forces/verlet_share_cuda.h), of twice the cutoff at least, the most that the cutoff and the skin
 * make together. */
static bool have_slabs(const kith_context *context, const kith_simulation_options *options,
                       const kith_bodies *bodies, int64_t all)
{
    const struct ranks *ranks = context->ranks;
    const kith_forces_options *forces = &options->forces;
    const kith_cell cell = simulation_choose_cell(forces, bodies);
    struct pairs_lattice lattice;
    if (!ranks || ranks->size < 2 || ranks->size > verlet_most_devices ||
        all < cutoff_least_shared || !(forces->cutoff > 0) || (forces->law && !forces->law->info) ||
        bodies->epsilon || options->softening_of_bodies ||
        pairs_lattice_make(&cell, bodies->dimensions, 1, &lattice) != KITH_OK)
        return false;
    for (int32_t k = 0; k < bodies->dimensions; k++)
        if (!cell.periodic[k] || lattice.height[k] < 2 * ranks->size * forces->cutoff)
            return false;
    return true;
}

/* Whether a rank can take the steps of its bodies: those of one length, or, on CPUs and where they
 * stay in their rows, those of ias15, whose lengths are from maxima over all bodies, and of whfast.
 */
static bool has_steps_of_slices(const kith_context *context, const struct integrator_method *method,
                                const kith_solver *solver)
{
    if (method == &ias15_method || method == &whfast_method)
        return context->device.kind == KITH_CPU && !solver->has_cutoff;
    return method->step && !method->prepare;
}

/* Whether there are enough bodies for the ranks, and what GPUs do suits slices. */
static bool are_worth_dividing(const kith_context *context, const kith_simulation_options *options,
                               const struct integrator_method *method, const kith_solver *solver,
                               const kith_bodies *bodies, int64_t all)
{
    if (context->device.kind == KITH_CPU)
        return forces_can_be_sliced(context, options->precision, all);
    if (options->thermostat.kind == KITH_THERMOSTAT_BUSSI ||
        !kith_array_is_none(options->forces.exclusions))
        return false;
    if (forces_solver_is_tree(solver))
        return !options->forces.law && !options->softening_of_bodies &&
               forces_can_be_sliced(context, options->precision, all);
    return solver == &forces_solver_cutoff && method == &leapfrog_method &&
           have_slabs(context, options, bodies, all);
}

bool simulation_can_be_sliced(kith_context *context, const kith_simulation_options *options,
                              const kith_bodies *bodies, int64_t all)
{
    const struct integrator_method *method = NULL;
    const kith_solver *solver = NULL;
    if (watch_is_wanted(options) || options->substeps > 0 ||
        integrator_find(options->integrator, &method) != KITH_OK ||
        forces_choose_solver(&options->forces, &solver) != KITH_OK || !is_divided(solver) ||
        !has_steps_of_slices(context, method, solver))
        return false;
    return are_worth_dividing(context, options, method, solver, bodies, all) &&
           (method != &whfast_method || whfast_can_be_sliced(context, bodies, all));
}

kith_status slice_agree(const struct kith_simulation *simulation, kith_status status)
{
    return simulation->slice ? ranks_agree(simulation->context, status) : status;
}

void slice_free(struct kith_simulation *simulation)
{
    struct simulation_slice *slice = simulation->slice;
    if (!slice)
        return;
    forces_wide_free(simulation->context, &slice->wide);
    whfast_slice_free(slice);
    free(slice);
    simulation->slice = NULL;
}
