#ifndef SIMULATION_DIAGNOSTICS_H
#define SIMULATION_DIAGNOSTICS_H

#include "simulation/sample.h"

/* Systems that are sampled at a time: about a million bodies, 120 MB, with a GPU
 * also 90 MB on the host. */
int64_t diagnosed_at_once(const struct kith_simulation *simulation, int64_t systems);

/* The diagnostics of each system of a complete sample. */
void diagnose_sample(const struct kith_simulation *simulation, const struct sample *sample,
                     kith_diagnostics *each);

#endif
