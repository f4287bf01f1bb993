#ifndef FORCES_PACK_H
#define FORCES_PACK_H

#include "forces/layout.h"

/* A problem for a backend, made from strided arrays of any magnitude on the host: copied to
 * contiguous, padded columns, in units in which the largest numbers are moderate. The columns are
 * in the context's workspace. */
struct forces_packed {
    struct forces_problem problem;      /* with the columns that the host reads and writes */
    struct forces_problem own;          /* with those in the backend's memory */
    struct forces_layout layout;        /* of both */
    void *memory, *own_memory;          /* where they begin; the same on the CPU */
    int length_exponent, mass_exponent; /* of the units: powers of two */
    kith_context *context;
};

/* Packs the arguments, to be solved in the precision dtype.
 *
 *   packed  [out] valid until the context's next workspace
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status forces_pack(kith_context *context, const struct forces_arguments *arguments,
                        kith_dtype dtype, struct forces_packed *packed);

/* Writes the solved problem's outputs, in the arguments' units and times G, to their arrays. */
void forces_unpack(const struct forces_packed *packed, const struct forces_arguments *arguments);

#endif
