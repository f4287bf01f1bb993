#ifndef KITH_LAW_SUM_H
#define KITH_LAW_SUM_H

#include "kith/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds a short-ranged law to a long-ranged one, such as lennard-jones to coulomb for ions.
 *
 *     V(i, j) = law + near within the cutoff, law alone beyond it and at all other images
 *
 * The solvers ewald and pme support such laws. The cutoff, shift and tail of their options are
 * those of the added law; the cutoff of the real-space part of law is then chosen. Without a cutoff
 * pme sums all images of lennard-jones (kith/forces.h). All other functions refuse such a law.
 *
 *   law   [in, out] coulomb, or another law of the form charges (or 1) over the distance
 *   near  any law that the solver cutoff supports; law takes ownership and frees it. Not NULL
 *
 * Errors: KITH_INVALID_ARGUMENT (law has any other form or already has an added law, or near is law
 *         itself; near then still belongs to the caller). */
KITH_API kith_status kith_law_add(kith_law *law, kith_law *near);

/* The added law, or NULL; valid as long as law. */
KITH_API const kith_law *kith_law_added(const kith_law *law);

#ifdef __cplusplus
}
#endif

#endif
