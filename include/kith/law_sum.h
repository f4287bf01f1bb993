#ifndef KITH_LAW_SUM_H
#define KITH_LAW_SUM_H

#include "kith/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds a short-ranged law to a long-ranged one, as lennard-jones to coulomb, of ions.
 *
 *     V(i, j) of pairs within the cutoff is the sum of both; beyond it and at all images law's
 * alone
 *
 * The solvers ewald and pme sum such laws, with the cutoff, shift and tail of their options for the
 * law that is added; the cutoff of law's own pairs is then chosen. All other functions refuse it.
 *
 *   law   [in, out] coulomb or another law of charges, or none, over the distance
 *   near  any law that the solver cutoff takes; law owns it from here on, and frees it. NULL is
 *         refused
 *
 * Errors: KITH_INVALID_ARGUMENT (another law, one with one added already, or law itself: then near
 *         stays the caller's). */
KITH_API kith_status kith_law_add(kith_law *law, kith_law *near);

/* The law that was added, or NULL; it lives as long as law. */
KITH_API const kith_law *kith_law_added(const kith_law *law);

#ifdef __cplusplus
}
#endif

#endif
