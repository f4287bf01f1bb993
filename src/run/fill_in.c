#include "run/fill_in.h"

#include <stdio.h>
#include <string.h>

static bool gives_accuracy(const kith_accuracy *accuracy)
{
    return accuracy->error > 0 || accuracy->theta > 0 || accuracy->order > 0;
}

static void fill_in_ewald(const kith_ewald *past, kith_ewald *ewald)
{
    if (ewald->alpha == 0)
        ewald->alpha = past->alpha;
    if (ewald->absolute_error == 0)
        ewald->absolute_error = past->absolute_error;
    if (ewald->grid[0] == 0)
        memcpy(ewald->grid, past->grid, sizeof past->grid);
    if (ewald->boundary == KITH_BOUNDARY_TIN_FOIL)
        ewald->boundary = past->boundary;
}

void run_fill_in(const struct run_parameters *past, const kith_run_options *options,
                 struct run_parameters *parameters)
{
    const kith_simulation_options *simulation = &options->simulation;
    if (simulation->dt == 0)
        parameters->dt = past->dt;
    if (!simulation->integrator)
        snprintf(parameters->integrator, sizeof parameters->integrator, "%s", past->integrator);
    if (!simulation->coordinates)
        memcpy(parameters->coordinates, past->coordinates, sizeof past->coordinates);
    if (!simulation->kernel)
        memcpy(parameters->kernel, past->kernel, sizeof past->kernel);
    if (simulation->corrector == 0)
        parameters->corrector = past->corrector;
    if (!simulation->forces.solver && simulation->forces.method == KITH_FORCES_AUTO)
        memcpy(parameters->solver, past->solver, sizeof past->solver);
    if (!gives_accuracy(&simulation->forces.accuracy))
        parameters->accuracy = past->accuracy;
    if (simulation->forces.cutoff == 0) {
        parameters->cutoff = past->cutoff;
        parameters->shift = past->shift;
        parameters->tail = past->tail;
    }
    if (kith_array_is_none(simulation->forces.exclusions))
        parameters->exclusions = past->exclusions;
    fill_in_ewald(&past->ewald, &parameters->ewald);
    if (simulation->substeps == 0)
        parameters->substeps = past->substeps;
    if (simulation->thermostat.kind == KITH_THERMOSTAT_NONE)
        memcpy(parameters->thermostat, past->thermostat, sizeof past->thermostat);
    if (simulation->forces.gravitational_constant == 0)
        parameters->gravitational_constant = past->gravitational_constant;
    if (!simulation->forces.law)
        memcpy(parameters->law, past->law, sizeof past->law);
    if (simulation->forces.softening == 0 && !simulation->softening_of_bodies) {
        parameters->softening = past->softening;
        parameters->softening_of_bodies = past->softening_of_bodies;
    }
    if (simulation->on_collision == KITH_ON_COLLISION_PASS) {
        parameters->on_collision = past->on_collision;
        parameters->restitution = past->restitution;
    }
    if (simulation->eta == 0)
        parameters->eta = past->eta;
    if (simulation->encounter == 0)
        parameters->encounter = past->encounter;
    if (simulation->escape == 0)
        parameters->escape = past->escape;
    if (simulation->precision == KITH_F64)
        parameters->precision = past->precision;
    if (options->pressure_every == 0)
        parameters->pressure_every = past->pressure_every;
    if (!options->wrap)
        parameters->wrap = past->wrap;
    if (options->until == 0)
        parameters->until = past->until;
    if (!options->is_ensemble) {
        parameters->is_ensemble = past->is_ensemble;
        parameters->systems = past->systems;
    }
}
