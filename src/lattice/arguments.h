#ifndef COLLISIONS_ARGUMENTS_H
#define COLLISIONS_ARGUMENTS_H

#include "lattice/problem.h"

/* KITH_UNSUPPORTED if the context's backend counts no collisions. */
kith_status collisions_check_backend(const kith_context *context);

/* The beads as a problem for the context. *on_host: they are in the host's memory.
 * Errors: KITH_INVALID_ARGUMENT, KITH_UNSUPPORTED. */
kith_status collisions_check_beads(const kith_context *context, kith_array beads,
                                   struct collisions_problem *problem, bool *on_host);

/* The same for functions that work on the host alone. */
kith_status collisions_check_host_beads(const kith_context *context, kith_array beads,
                                        struct collisions_problem *problem);

/* KITH_OK if an array is where this context and the beads are. */
kith_status collisions_check_place(const kith_context *context, const char *name, kith_array array,
                                   kith_device beads);

/* Flags of the H in a sequence of this many letters, to be freed; NULL for none.
 * Errors: KITH_INVALID_ARGUMENT, KITH_OUT_OF_MEMORY. */
kith_status collisions_parse_sequence(const char *sequence, int64_t count, unsigned char **flags);

/* The problem with dense rows: itself, or a copy, whose memory is to be freed.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status collisions_make_dense(struct collisions_problem *problem, void **copy);

#endif
