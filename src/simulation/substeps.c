/* Multiple time steps: pairs within the cutoff are integrated with shorter steps than the sum over
 * waves of the solvers ewald and pme (r-RESPA: Tuckerman, Berne & Martyna 1992, J. Chem. Phys. 97,
 * 1990). With K the number of substeps and F = near + far, a step of h is
 *
 *     v += h/2 far/m
 *     K times: v += h/2K near/m, x += h/K v, v += h/2K near/m
 *     v += h/2 far/m
 *
 * symmetric in time and symplectic. */

#include "simulation/substeps.h"

#include <string.h>

#include "forces/solver.h"
#include "simulation/integrator.h"
#include "simulation/thermostat.h"

/* Both accelerations are part of the state. */
enum { NEAR = ACCELERATION, FAR = JERK };

static kith_status evaluate_part(struct kith_simulation *simulation, enum forces_part part,
                                 int32_t acceleration)
{
    simulation->problem.space.part = part;
    const kith_status status = simulation_evaluate(simulation, POSITION, acceleration);
    simulation->problem.space.part = forces_all;
    return status;
}

static kith_status add(struct kith_simulation *simulation, double h, int32_t rate, int32_t array)
{
    return simulation_accumulate(simulation, 1, &h, &rate, array);
}

/* A thermostat acts once, in the middle of the step. */
static kith_status drift(struct kith_simulation *simulation, double h, bool is_middle, double step)
{
    if (!is_middle || simulation->thermostat.kind == KITH_THERMOSTAT_NONE)
        return add(simulation, h, VELOCITY, POSITION);
    KITH_TRY(add(simulation, h / 2, VELOCITY, POSITION));
    KITH_TRY(thermostat_apply(simulation, step));
    return add(simulation, h / 2, VELOCITY, POSITION);
}

static kith_status substeps_step(struct kith_simulation *simulation, double h)
{
    const int32_t count = simulation->substeps;
    const double short_step = h / count;
    const bool has_thermostat = simulation->thermostat.kind != KITH_THERMOSTAT_NONE;
    KITH_TRY(add(simulation, h / 2, FAR, VELOCITY));
    for (int32_t k = 0; k < count; k++) {
        KITH_TRY(add(simulation, short_step / 2, NEAR, VELOCITY));
        KITH_TRY(drift(simulation, short_step, 2 * k + 1 == count, h));
        KITH_TRY(evaluate_part(simulation, forces_near, NEAR));
        KITH_TRY(add(simulation, short_step / 2, NEAR, VELOCITY));
        if (has_thermostat && 2 * (k + 1) == count)
            KITH_TRY(thermostat_apply(simulation, h));
    }
    KITH_TRY(evaluate_part(simulation, forces_far, FAR));
    return add(simulation, h / 2, FAR, VELOCITY);
}

static kith_status substeps_prepare(struct kith_simulation *simulation)
{
    KITH_TRY(evaluate_part(simulation, forces_near, NEAR));
    return evaluate_part(simulation, forces_far, FAR);
}

static const struct integrator_method substeps_method = {
    .step = substeps_step, .prepare = substeps_prepare, .arrays = FAR + 1, .kept = FAR + 1};

kith_status substeps_choose(const kith_simulation_options *options, const kith_solver *solver,
                            const kith_cell *cell, const struct integrator_method **method)
{
    const int32_t count = options->substeps;
    if (count < 0 || count > KITH_MOST_SUBSTEPS)
        return kith_fail(KITH_INVALID_ARGUMENT, "substeps is %d; give 1 to %d, or 0 for 1",
                         (int)count, KITH_MOST_SUBSTEPS);
    if (count <= 1)
        return KITH_OK;
    if (options->integrator && strcmp(options->integrator, "leapfrog") != 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "substeps is %d and integrator is %.40s; use leapfrog, or leave substeps "
                         "out",
                         (int)count, options->integrator);
    if (!solver->is_periodic)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "substeps is %d and solver is %s, which has no mesh; use pme or ewald, or "
                         "leave substeps out",
                         (int)count, solver->name);
    if (!cell->periodic[2])
        return kith_fail(KITH_UNSUPPORTED,
                         "substeps is %d in a slab, whose mesh is chosen again in each step; leave "
                         "substeps out",
                         (int)count);
    *method = &substeps_method;
    return KITH_OK;
}
