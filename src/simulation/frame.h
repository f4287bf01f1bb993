#ifndef SIMULATION_FRAME_H
#define SIMULATION_FRAME_H

#include "simulation/sample.h"

/* The state of a simulation and its diagnostics at one time, in transit to the host while the
 * simulation goes on. */
struct frame {
    struct kith_simulation *simulation; /* NULL before frame_allocate */
    struct sample sample;
    bool at_once; /* too large to be copied: all is done by frame_begin */
    double time;
};

/* Memory for the frames of a simulation, one after the other. Free with frame_free, also after a
 * failure, before the simulation; a frame that was never allocated may be freed. */
kith_status frame_allocate(struct kith_simulation *simulation, struct frame *frame);
void frame_free(struct frame *frame);

/* Takes the simulation as it is now; it may be advanced before frame_finish, which waits until the
 * frame is here and fills in bodies, with velocities and the time, and the diagnostics of each
 * system. Both are given the same memory. */
kith_status frame_begin(struct frame *frame, kith_bodies *bodies, kith_diagnostics *diagnostics);
kith_status frame_finish(struct frame *frame, kith_bodies *bodies, kith_diagnostics *diagnostics);

#endif
