#ifndef SIMULATION_KEEP_H
#define SIMULATION_KEEP_H

#include "simulation/state.h"

/* The state from which a step starts, kept so that a long step can be cancelled in its middle: on
 * the CPU, where the backend's memory is the host's. */

/* Keeps the state; what was kept before is overwritten. Errors: KITH_OUT_OF_MEMORY,
 * KITH_CANCELLED. */
kith_status simulation_keep(struct kith_simulation *simulation);

/* Brings back the state that was kept, although the call is cancelled. */
kith_status simulation_bring_back(struct kith_simulation *simulation);

#endif
