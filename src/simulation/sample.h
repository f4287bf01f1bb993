#ifndef SIMULATION_SAMPLE_H
#define SIMULATION_SAMPLE_H

#include "simulation/state.h"

/* Some systems at one time as doubles on the host, in the simulation's units, whatever its
 * precision: body i of the s-th of them is element i·layout.step + s of each column. */
struct sample {
    int32_t dimensions;
    int64_t count;                /* bodies of a system, */
    int64_t bodies;               /* and N: more, if they are those of a slice */
    const kith_context *of_slice; /* whose ranks add up their bodies in turn; else NULL */
    struct system_range range;
    struct system_layout layout;
    bool potential_is_energy; /* of a body; else per unit mass */
    bool has_totals; /* with a cutoff, or of periodic images: then there are no potentials */
    kith_forces_totals totals; /* complete after sample_begin; the volume in the caller's units */
    bool in_backends_host_memory;
    double *memory;
    double *position[3], *velocity[3], *acceleration[3], *mass, *potential;
    double *backend_memory; /* on the CPU the same */
};

/* Room for this many systems, which is freed with sample_free, also after a failure.
 *
 *   aside allocates host memory from the backend, so that the simulation can continue while a
 *   sample is copied */
kith_status sample_allocate(struct kith_simulation *simulation, int64_t systems, bool aside,
                            struct sample *sample);
void sample_free(struct kith_simulation *simulation, struct sample *sample);

/* Begins to fill the sample with systems, no more than there is room for, as they are now, and with
 * their accelerations and potentials in double precision. It is complete after sample_finish. */
kith_status sample_begin(struct kith_simulation *simulation, struct system_range range,
                         struct sample *sample);
kith_status sample_finish(struct kith_simulation *simulation);

#endif
