/* What a cutoff and a cell must be, and the lattice of them. */

#include "forces/space.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cells/lattice.h"
#include "forces/solver.h"
#include "law/law.h"

static kith_status check_without_cutoff(const kith_forces_options *options,
                                        const kith_solver *solver)
{
    for (int k = 0; options->cell && k < 3; k++)
        if (options->cell->periodic[k])
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "cutoff is 0 in a cell that is periodic along vector %c; give a "
                             "cutoff greater than 0, the solver ewald, or a cell that is not "
                             "periodic",
                             "abc"[k]);
    if (solver == &forces_solver_cutoff)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "cutoff is 0, but solver is cutoff; give a cutoff greater than 0");
    const char *name = options->shift    ? "shift"
                       : options->tail   ? "tail"
                       : options->totals ? "totals"
                                         : NULL;
    if (name)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is given, but cutoff is 0; give a cutoff greater than 0", name);
    return KITH_OK;
}

static kith_status check_exclusions(kith_array exclusions)
{
    if (kith_array_is_none(exclusions))
        return KITH_OK;
    if (exclusions.ndim != 2 || exclusions.shape[1] != 2 || exclusions.dtype != KITH_I64 ||
        exclusions.device.kind != KITH_CPU)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "exclusions are not n × 2 int64 numbers on the host; give those");
    return KITH_OK;
}

/* That the cell is periodic the solver checks, in suits: bodies bring it to a simulation. */
static kith_status check_periodic(const kith_forces_options *options, const kith_solver *solver)
{
    const char *name = solver->name;
    const kith_law *near = options->law ? options->law->near : NULL;
    const bool has_images = near && near->info && strcmp(near->info->name, "lennard-jones") == 0 &&
                            solver == &forces_solver_pme; /* of 1/r⁶ */
    if (near && options->cutoff == 0 && !has_images)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "cutoff is 0, but the law adds %.60s, which needs one; give a cutoff",
                         kith_law_text(near));
    if (near && options->cutoff == 0 && (options->shift || options->tail))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is given, but cutoff is 0; give a cutoff greater than 0",
                         options->shift ? "shift" : "tail");
    if (!near && (options->shift || options->tail))
        return kith_fail(KITH_UNSUPPORTED,
                         "%s is given, but the solver %s does not support it; leave it out",
                         options->shift ? "shift" : "tail", name);
    return check_exclusions(options->exclusions);
}

kith_status forces_check_space(const kith_forces_options *options, const kith_solver *solver)
{
    const double cutoff = options->cutoff;
    if (!isfinite(cutoff) || cutoff < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "cutoff is %g; give a finite length greater than 0, or 0 for all pairs",
                         cutoff);
    if ((unsigned)options->shift > KITH_SHIFT_FORCE)
        return kith_fail(KITH_INVALID_ARGUMENT, "shift is %d; give a kith_shift",
                         (int)options->shift);
    if (solver->is_periodic)
        return check_periodic(options, solver);
    if (options->law && options->law->near)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, but only pme and ewald support a sum of two laws; use one "
                         "of them, or one formula for both",
                         solver->name);
    if (cutoff == 0)
        return check_without_cutoff(options, solver);
    if (!solver->has_cutoff)
        return kith_fail(
            KITH_UNSUPPORTED,
            "cutoff is %g, but the solver %s does not support it; use the solver cutoff", cutoff,
            solver->name);
    if (options->tail && options->shift)
        return kith_fail(KITH_INVALID_ARGUMENT, "tail and shift are given; leave one of them out");
    return check_exclusions(options->exclusions);
}

static double volume_of(const struct pairs_lattice *lattice, int32_t dimensions)
{
    const double(*a)[3] = lattice->basis;
    for (int k = 0; k < dimensions; k++)
        if (!lattice->periodic[k])
            return 0;
    if (dimensions == 2)
        return fabs(a[0][0] * a[1][1] - a[0][1] * a[1][0]);
    return fabs(a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]));
}

kith_status forces_space_set(int32_t dimensions, double unit, struct pairs_lattice *lattice,
                             struct forces_space *space)
{
    KITH_TRY(pairs_lattice_make(space->cell, dimensions, unit, lattice));
    space->lattice = lattice;
    space->volume = volume_of(lattice, dimensions);
    return pairs_check_images(lattice, space->cutoff, unit);
}
