#ifndef SIMULATION_SLICE_H
#define SIMULATION_SLICE_H

/* Simulations of which each rank of a job has a slice: arrays of the bodies from ranks_first(N) on,
 * instead of all N. What a step does to each body is done by the rank that has it. Within a cutoff
 * particles then move to the rank in whose box they are, and their arrays are filled in when they
 * are read (simulation/domain.h). For other sums see forces/slice.h.
 *
 * Bits: those of one process. */

#include "forces/slice.h"
#include "simulation/state.h"

struct whfast_leaders;

struct simulation_slice {
    int64_t all, first; /* N, and the number of this rank's first body */
    struct forces_wide wide;
    struct whfast_leaders *leaders; /* of whfast, or NULL */
};

/* Collective: whether such a simulation supports the options: an integrator with steps of one
 * length, in positions and velocities, or on CPUs and without a cutoff ias15, by a solver that
 * divides its work; on CPUs whfast, of bodies with mass and after them many more without; on GPUs
 * leapfrog within a cutoff, in a cell that is periodic along all axes, of 524 288 bodies or more,
 * without Bussi's thermostat and excluded pairs, and gravity by trees of more bodies than fit into
 * the memory of one. Not with collisions or substeps, or for few bodies.
 *
 *   bodies  those of this rank
 *   all     N */
bool simulation_can_be_sliced(kith_context *context, const kith_simulation_options *options,
                              const kith_bodies *bodies, int64_t all);

/* Collective: kith_simulation_create, of this rank's bodies. kith_simulation_get_bodies,
 * kith_simulation_save and kith_simulation_restore are then collective, and of these bodies. */
kith_status simulation_create_slice(kith_context *context, const kith_simulation_options *options,
                                    const kith_bodies *bodies, int64_t all,
                                    kith_simulation **simulation);

/* N, of one system. */
static inline int64_t simulation_bodies(const struct kith_simulation *simulation)
{
    return simulation->slice ? simulation->slice->all : simulation->count;
}

/* Of a slice collective: ranks_agree. Else the status. */
kith_status slice_agree(const struct kith_simulation *simulation, kith_status status);

void slice_free(struct kith_simulation *simulation);

#endif
