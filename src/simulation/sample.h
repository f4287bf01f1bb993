#ifndef SIMULATION_SAMPLE_H
#define SIMULATION_SAMPLE_H

#include "simulation/state.h"

/* Some systems at one time as doubles on the host, in the simulation's units, whatever its
 * precision: body i of the s-th of them is element i·layout.step + s of each column. */
struct sample {
    int32_t dimensions;
    int64_t count; /* bodies of a system */
    struct system_range range;
    struct system_layout layout;
    double *memory;
    double *position[3], *velocity[3], *acceleration[3], *mass, *potential;
    void *backend_memory; /* for the double precision evaluation */
};

/* Room for so many systems, which goes with sample_free, also after a failure. */
kith_status sample_allocate(struct kith_simulation *simulation, int64_t systems,
                            struct sample *sample);
void sample_free(struct kith_simulation *simulation, struct sample *sample);

/* Fills the sample with systems, no more than there is room for. */
kith_status sample_take(struct kith_simulation *simulation, struct system_range range,
                        struct sample *sample);

#endif
