#ifndef SIMULATION_WHFAST_SLICE_H
#define SIMULATION_WHFAST_SLICE_H

#include "simulation/state.h"

/* Steps of whfast of a slice (simulation/slice.h), of bodies of which most have no mass. Every rank
 * has the star and the planets that lead, takes their steps too, with the same bits, and those of
 * its own bodies; it needs nothing of other ranks for that.
 *
 * In a checkpoint, and of one process, the kept state of planet i + 1 is in row i, and that of the
 * center of mass in the last one. Ranks after the first have that of each of their bodies in its
 * own row, and that of the center of mass after the planets that lead. */
struct whfast_leaders {
    int64_t leading;
    struct whfast_arrays arrays; /* of ranks after the first */
    double *memory, *mass;
};

/* The last body with mass, or −1. */
int64_t whfast_last_with_mass(const kith_bodies *bodies);

/* How many planets lead, of a system whose last body with mass has this number: all of them if
 * nothing is gained. */
int64_t whfast_leading(int64_t last_with_mass, int64_t planets);

/* Collective: whether most bodies have no mass, and come after all that have, which rank 0 has;
 * bodies are those of this rank. */
bool whfast_can_be_sliced(kith_context *context, const kith_bodies *bodies, int64_t all);

/* Collective: those that lead, with the masses, positions and velocities that rank 0 has.
 * Errors: those of ranks_agree, KITH_OUT_OF_MEMORY. */
kith_status whfast_slice_begin(struct kith_simulation *simulation);
void whfast_slice_free(struct simulation_slice *slice);

/* Collective: rows of an array as they are in the simulation to those of a checkpoint, or back;
 * then those that lead get theirs. Errors: those of ranks_agree. */
kith_status whfast_slice_save(struct kith_simulation *simulation, int32_t array, double *rows);
kith_status whfast_slice_restore(struct kith_simulation *simulation, int32_t array, double *rows);

#endif
