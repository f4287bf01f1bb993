#ifndef FORCES_PACK_H
#define FORCES_PACK_H

#include "cells/geometry.h"
#include "forces/layout.h"

/* A problem in the host's memory, made from strided arrays of any magnitude there: copied to
 * contiguous, padded columns, in units in which the largest numbers are moderate. The columns are
 * in the context's workspace. */
struct forces_packed {
    struct forces_problem problem;
    struct pairs_lattice lattice;       /* of it, with a cutoff */
    int length_exponent, mass_exponent; /* of the units: powers of two */
    kith_context *context;
    void *memory, *own; /* of the columns, and as much on the context's device */
    int64_t bytes;
};

/* Packs the arguments, in the precision dtype.
 *
 *   packed  [out] valid until the context's next workspace
 *
 * Errors: KITH_INVALID_ARGUMENT (an invalid number), KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status forces_pack(kith_context *context, struct forces_arguments *arguments, kith_dtype dtype,
                        struct forces_packed *packed);

/* Of packed arguments, before anything else is done with the problem: *there is the same one with
 * columns on the device, where they are sent; and once it is solved, its outputs, which come from
 * there. On the CPU these are the same columns. */
kith_status forces_pack_send(const struct forces_packed *packed,
                             const struct forces_arguments *arguments,
                             struct forces_problem *there);
kith_status forces_pack_receive(const struct forces_packed *packed);

/* Writes the solved problem's outputs, in the arguments' units and times G, to their arrays.
 *
 * Errors: KITH_CANCELLED. */
kith_status forces_unpack(const struct forces_packed *packed,
                          const struct forces_arguments *arguments);

#endif
