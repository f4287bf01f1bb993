#ifndef SIMULATION_RECORDING_H
#define SIMULATION_RECORDING_H

#include <stdint.h>

#include "kith/status.h"
#include "law/law_kinds.h"

struct kith_law;
struct kith_simulation;

/* A step that the backend has recorded, and its parameters; zeros at first. */
struct simulation_recording {
    void *made;    /* NULL: none yet */
    int64_t alike; /* steps that were done of the same, one by one */
    int64_t evaluations;
    double h, gravitational_constant, softening2;
    const struct kith_law *law;
    struct law_form form;
    struct law_numbers numbers;
};

/* Steps of h by replaying one, or *done = 0: they are to be done one by one. Where the
 * kernels of a step take less time than the host needs to start them, steps take a third of it. */
kith_status simulation_replay(struct kith_simulation *simulation, double h, int64_t steps,
                              int64_t *done);
void simulation_forget_recording(struct kith_simulation *simulation);

#endif
