#ifndef COLLISIONS_BATCH_CPU_H
#define COLLISIONS_BATCH_CPU_H

#include "lattice/problem.h"

/* The batch of lattice/backend.h, for a context on the CPU: a thread a range of conformations.
 */
kith_status collisions_batch_cpu(kith_context *context,
                                 const struct collisions_batch_problem *problem, bool on_host);

/* Contacts of one chain, of any length. Errors: KITH_OUT_OF_MEMORY. */
kith_status collisions_contacts_cpu(kith_context *context, const struct collisions_problem *problem,
                                    const unsigned char *hydrophobic, int64_t *count);

#endif
