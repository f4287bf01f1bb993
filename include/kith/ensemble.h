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

/* The maximum number of bodies of a system in an ensemble. */
enum { kith_most_bodies_of_system = 64 };

/* Joins systems into an ensemble, in order.
 *
 *   systems  M ≥ 0
 *   each     M pointers to bodies with the same count, dimensions and time
 *   all      [out] owned by the caller; free with kith_bodies_free; NULL on failure. Has every
 *            column that any system has; in systems without it velocities are 0, masses and charges
 *            1, ids the row in the system, and names empty. It has no cell; the units are those of
 *            system 0.
 *
 * Errors: KITH_INVALID_ARGUMENT (count, dimensions, time, G or units differ from those of the first
 *         system, or only some systems have softening lengths: the message names the system),
 *         KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_ensemble_join(int64_t systems, const kith_bodies *const *each,
                                        kith_bodies **all);

/* The bodies of one system, 0 ≤ system < systems: a view of the rows of all, with nothing to free.
 * all->count is a multiple of systems. A system that does not exist has no bodies. */
KITH_API kith_bodies kith_ensemble_system(const kith_bodies *all, int64_t systems, int64_t system);

/* As kith_bodies_check, with a message that names the system and its body; also fails if the number
 * of rows is not a multiple of systems. */
KITH_API kith_status kith_ensemble_check(const kith_bodies *all, int64_t systems);

#ifdef __cplusplus
}
#endif

#endif
