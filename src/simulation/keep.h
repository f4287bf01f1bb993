#ifndef SIMULATION_KEEP_H
#define SIMULATION_KEEP_H

#include "simulation/state.h"

/* The state from which a step starts, kept so that a long step can be cancelled in its middle, or
 * followed by a step to a frame that must not change what comes after. */

/* What belongs to it besides the arrays. */
struct simulation_moment {
    int64_t evaluations, steps, start_steps, body_steps;
    struct radau_clock clock;
    double start_time;
};

/* Keeps the state; what was kept before is overwritten. Errors: KITH_OUT_OF_MEMORY,
 * KITH_CANCELLED. */
kith_status simulation_keep(struct kith_simulation *simulation, struct simulation_moment *moment);

/* Brings back the state that was kept, although the call is cancelled. */
kith_status simulation_bring_back(struct kith_simulation *simulation,
                                  const struct simulation_moment *moment);

/* From the end of a step back to a time within it, by steps of ias15, so that the state there is as
 * accurate as at the end; *moment is what to bring back afterwards. After a failure the state is as
 * before. */
kith_status simulation_go_back(struct kith_simulation *simulation, double time,
                               struct simulation_moment *moment);

#endif
