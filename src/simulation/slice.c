#include "simulation/slice.h"

#include <stdlib.h>
#include <string.h>

#include "forces/solver.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "simulation/integrator.h"
#include "simulation/watch.h"

/* The memory of fewer does not matter; every rank has some. */
enum { fewest_bodies = 1024, fewest_of_rank = 64 };

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
    if (!context->ranks || context->ranks->size < 2 || context->device.kind != KITH_CPU ||
        all < fewest_bodies || all / fewest_of_rank < context->ranks->size ||
        watch_is_wanted(options) || options->substeps > 0 ||
        options->thermostat.kind == KITH_THERMOSTAT_BUSSI ||
        !kith_array_is_none(options->forces.exclusions) ||
        integrator_find(options->integrator, &method) != KITH_OK ||
        method->composition.stage_count == 0 ||
        forces_choose_solver(&options->forces, &solver) != KITH_OK || !is_divided(solver))
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

bool slice_is_enough(const struct kith_simulation *simulation, const struct forces_problem *own)
{
    const kith_solver *solver = simulation->solver;
    return (solver == &forces_solver_tree || solver == &forces_solver_fmm) && own->self;
}

/* The problem's columns of one number a body, the output last. */
static void list_scalars(struct forces_problem *problem, const void **list[slice_scalars])
{
    const void **const columns[slice_scalars] = {
        &problem->source_mass,
        &problem->target_mass,
        &problem->target_weight,
        &problem->target_charge,
        &problem->source_charge,
        &problem->target_half_softening2,
        &problem->source_half_softening2,
        (const void **)&problem->potential,
    };
    memcpy(list, columns, sizeof columns);
}

/* The first of the columns that are the same memory as column k. */
static int same_as(const void *const own[slice_scalars], int k)
{
    int first = 0;
    while (own[first] != own[k])
        first++;
    return first;
}

static void allocate(const struct simulation_slice *slice, int64_t components, void **memory,
                     bool *is_new, kith_status *status)
{
    if (*memory)
        return;
    *is_new = true;
    if (*status == KITH_OK)
        *status = kith_allocate_unset(kith_padded(slice->all), components * (int64_t)sizeof(double),
                                      "columns of all bodies", memory);
}

static kith_status allocate_columns(const struct kith_simulation *simulation,
                                    const struct forces_problem *own,
                                    const void *const scalars[slice_scalars])
{
    struct simulation_slice *slice = simulation->slice;
    kith_status status = KITH_OK;
    bool is_new = false;
    if (own->source_position[0])
        allocate(slice, own->dimensions, &slice->position, &is_new, &status);
    if (own->acceleration[0])
        allocate(slice, own->dimensions, &slice->acceleration, &is_new, &status);
    for (int k = 0; k < slice_scalars; k++)
        if (scalars[k] && same_as(scalars, k) == k)
            allocate(slice, 1, &slice->scalar[k], &is_new, &status);
    return is_new ? ranks_agree(simulation->context, status) : KITH_OK;
}

/* This rank's part of a column, and those of the others. */
static void gather_column(const struct kith_simulation *simulation, const void *own, int64_t real,
                          char *column)
{
    const struct simulation_slice *slice = simulation->slice;
    if (simulation->count > 0)
        memcpy(column + slice->first * real, own, (size_t)(simulation->count * real));
    memset(column + slice->all * real, 0, (size_t)((kith_padded(slice->all) - slice->all) * real));
    ranks_gather(simulation->context, column, real, slice->all, 1);
}

kith_status slice_widen(struct kith_simulation *simulation, const struct forces_problem *own,
                        struct forces_problem *all)
{
    const struct simulation_slice *slice = simulation->slice;
    const int64_t real = kith_dtype_bytes(own->dtype), bytes = kith_padded(slice->all) * real;
    const void **scalar[slice_scalars], *was[slice_scalars];
    *all = *own;
    list_scalars(all, scalar);
    for (int k = 0; k < slice_scalars; k++)
        was[k] = *scalar[k];
    KITH_TRY(allocate_columns(simulation, own, was));
    for (int c = 0; c < own->dimensions && own->source_position[0]; c++) {
        char *column = (char *)slice->position + c * bytes;
        gather_column(simulation, own->source_position[c], real, column);
        all->source_position[c] = all->target_position[c] = column;
    }
    for (int c = 0; c < own->dimensions && own->acceleration[0]; c++)
        all->acceleration[c] = (char *)slice->acceleration + c * bytes;
    for (int k = 0; k < slice_scalars; k++) {
        if (!was[k])
            continue;
        *scalar[k] = slice->scalar[same_as(was, k)];
        if (same_as(was, k) == k && k < slice_scalars - 1)
            gather_column(simulation, was[k], real, slice->scalar[k]);
    }
    return KITH_OK;
}

static void keep(const struct kith_simulation *simulation, const void *all, int64_t real, void *own)
{
    if (own && simulation->count > 0)
        memcpy(own, (const char *)all + simulation->slice->first * real,
               (size_t)(simulation->count * real));
}

void slice_keep_own(const struct kith_simulation *simulation, const struct forces_problem *all,
                    const struct forces_problem *own)
{
    const int64_t real = kith_dtype_bytes(own->dtype);
    for (int c = 0; c < own->dimensions; c++)
        keep(simulation, all->acceleration[c], real, own->acceleration[c]);
    keep(simulation, all->potential, real, own->potential);
}

void slice_free(struct kith_simulation *simulation)
{
    struct simulation_slice *slice = simulation->slice;
    if (!slice)
        return;
    for (int k = 0; k < slice_scalars; k++)
        free(slice->scalar[k]);
    free(slice->position);
    free(slice->acceleration);
    free(slice);
    simulation->slice = NULL;
}
