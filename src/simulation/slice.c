#include "simulation/slice.h"

#include <stdlib.h>

#include "forces/solver.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "simulation/integrator.h"
#include "simulation/watch.h"

static bool is_divided(const kith_solver *solver)
{
    return solver == &forces_solver_direct || solver == &forces_solver_tree ||
           solver == &forces_solver_fmm || solver == &forces_solver_cutoff;
}

/* Bodies with mass. */
static unsigned long long count_massive(const kith_bodies *bodies)
{
    unsigned long long count = 0;
    for (int64_t i = 0; i < bodies->count; i++)
        count += !bodies->mass || bodies->mass[i] != 0;
    return count;
}

kith_status simulation_can_be_sliced(kith_context *context, const kith_simulation_options *options,
                                     const kith_bodies *bodies, int64_t all, bool *can)
{
    const struct integrator_method *method = NULL;
    const kith_solver *solver = NULL;
    *can = false;
    if (!forces_can_be_sliced(context, all) || watch_is_wanted(options) || options->substeps > 0 ||
        options->thermostat.kind == KITH_THERMOSTAT_BUSSI ||
        !kith_array_is_none(options->forces.exclusions) ||
        integrator_find(options->integrator, &method) != KITH_OK || !method->step ||
        method->prepare || forces_choose_solver(&options->forces, &solver) != KITH_OK ||
        !is_divided(solver))
        return KITH_OK;
    unsigned long long massive = count_massive(bodies);
    KITH_TRY(ranks_agree(context, KITH_OK));
    ranks_add(context, &massive, 1);
    *can = 2 * massive > (unsigned long long)all;
    return KITH_OK;
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
    forces_wide_free(&slice->wide);
    free(slice);
    simulation->slice = NULL;
}
