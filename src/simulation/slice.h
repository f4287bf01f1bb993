#ifndef SIMULATION_SLICE_H
#define SIMULATION_SLICE_H

/* Simulations of which each rank of a job has a slice: arrays of the bodies from ranks_first(N) on,
 * instead of all N. What a step does to each body is done by the rank that has it. Within a cutoff
 * particles then move to the rank in whose box they are, and their arrays are filled in when they
 * are read (simulation/domain.h). Trees take the slices, unless bodies have softenings. For other
 * sums the columns of all bodies come to all ranks, and the results of a rank's own bodies are
 * kept: 56 bytes a body for gravity in double precision.
 *
 * Bits: those of one process. */

#include "simulation/state.h"

enum { slice_scalars = 8 };

struct simulation_slice {
    int64_t all, first; /* N, and the number of this rank's first body */
    /* Columns of all bodies, which are NULL until they are needed. */
    void *position, *acceleration, *scalar[slice_scalars];
};

/* Collective: whether such a simulation supports the options: a composition of kicks and drifts on
 * the CPU, by a solver that divides its work. Not with collisions or substeps, with Bussi's
 * thermostat, for few bodies, or where half of them have no mass.
 *
 *   bodies  those of this rank
 *   all     N
 *
 * Errors: those of ranks_agree. */
kith_status simulation_can_be_sliced(kith_context *context, const kith_simulation_options *options,
                                     const kith_bodies *bodies, int64_t all, bool *can);

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

/* Whether a problem of this rank's bodies is solved as it is (forces/problem.h, is_slice). */
bool slice_is_enough(const struct kith_simulation *simulation, const struct forces_problem *own);

/* Collective: in a problem whose columns are of this rank's bodies, those of all in their place; of
 * outputs there is memory. Valid until the next call.
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status slice_widen(struct kith_simulation *simulation, const struct forces_problem *own,
                        struct forces_problem *all);

/* The outputs of this rank's bodies, from those of all. */
void slice_keep_own(const struct kith_simulation *simulation, const struct forces_problem *all,
                    const struct forces_problem *own);

void slice_free(struct kith_simulation *simulation);

#endif
