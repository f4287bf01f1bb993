#ifndef FORCES_PACK_H
#define FORCES_PACK_H

#include "forces/arguments.h"
#include "forces/problem.h"

/* A problem for a backend, made from strided arrays of any magnitude: copied to contiguous, padded
 * columns, in units in which the largest numbers are moderate. */
struct forces_packed {
    struct forces_problem problem;
    int length_exponent, mass_exponent; /* of the units: powers of two */
    void *memory[3];
};

/* Packs the arguments, to be solved in the precision dtype.
 *
 *   packed  [out] goes with forces_packed_free, after a failure too
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status forces_pack(const struct forces_arguments *arguments, kith_dtype dtype,
                        struct forces_packed *packed);

/* Writes the solved problem's outputs, in the arguments' units and times G, to their arrays. */
void forces_unpack(const struct forces_packed *packed, const struct forces_arguments *arguments);

void forces_packed_free(struct forces_packed *packed);

#endif
