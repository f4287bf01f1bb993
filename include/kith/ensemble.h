#ifndef KITH_ENSEMBLE_H
#define KITH_ENSEMBLE_H

#include "kith/bodies.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An ensemble is M systems of N bodies each, independent of each other. Its bodies are one
 * kith_bodies with M·N rows, system after system: columns are [M][N] or [M][N][D]. Systems and the
 * bodies of a system are counted from 0. kith/simulation.h advances ensembles. */

/* Bodies that a system of an ensemble can have. */
enum { kith_most_bodies_of_system = 64 };

/* Puts systems together, in order.
 *
 *   systems  M ≥ 0
 *   each     M pointers to bodies with the same count, dimensions and time
 *   all      [out] owned by the caller; free with kith_bodies_free; NULL on failure. Has each
 *            column that some system has; where a system does not have it, velocities are 0, masses
 * and charges 1, ids the rows in the system, names empty. The cell is left out, the units are
 * system 0's.
 *
 * Errors: KITH_INVALID_ARGUMENT (another count, dimension, time, G or unit than the first's, or
 *         softening lengths in some systems only: the message names the system),
 *         KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_ensemble_join(int64_t systems, const kith_bodies *const *each,
                                        kith_bodies **all);

/* The bodies of one system, 0 ≤ system < systems: a view of the rows of all, with nothing to free.
 * all->count is a multiple of systems. A system that is not there has no bodies. */
KITH_API kith_bodies kith_ensemble_system(const kith_bodies *all, int64_t systems, int64_t system);

/* As kith_bodies_check, with a message that names the system and its body; also if the rows are no
 * multiple of systems. */
KITH_API kith_status kith_ensemble_check(const kith_bodies *all, int64_t systems);

#ifdef __cplusplus
}
#endif

#endif
