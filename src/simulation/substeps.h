#ifndef SIMULATION_SUBSTEPS_H
#define SIMULATION_SUBSTEPS_H

#include "core/status.h"
#include "kith/simulation.h"

struct integrator_method;

/* Puts the method of multiple time steps in the place of leapfrog, if the options have substeps.
 * Errors: KITH_INVALID_ARGUMENT (their number; another integrator; a solver without a mesh),
 *         KITH_UNSUPPORTED (a slab). */
kith_status substeps_choose(const kith_simulation_options *options, const kith_solver *solver,
                            const kith_cell *cell, const struct integrator_method **method);

#endif
