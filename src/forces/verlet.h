#ifndef FORCES_VERLET_H
#define FORCES_VERLET_H

/* Forces of many steps by a Verlet list (Verlet 1967) of particles and clusters of particles (Páll
 * & Hess 2013): pairs within the cutoff and a skin, which stays valid until a particle has moved by
 * half the skin. The forces of a pair are equal and opposite, and each is evaluated once.
 *
 * Bits: those of the forces depend on the positions alone, not on the list, the skin or the
 * threads. To that end
 *
 *     positions are rounded to a grid on which x_j − x_i + t is exact, whichever the images,
 *     forces and energies of pairs are rounded to units, and sums of these are exact.
 *
 * The units are 2^-42 to 2^-46 of the largest |F/d| of a pair times the cutoff, and of the largest
 * |V|, powers of 16: functions of the positions, too. An evaluation starts with the units of the
 * previous one, and is repeated if these are not right. */

#include "forces/cutoff.h"

struct verlet;

/* Whether the problem is one for a list: steps of a run, accelerations and, in double precision,
 * totals, by a law of distances that is the same for both particles, of particles as targets and
 * sources. Excluded pairs must have one image at most within the cutoff. */
bool verlet_suits(const struct forces_problem *problem, const struct cutoff_law *law);

/* Accelerations, and totals if the problem has them, without the tail. At the positions of the
 * previous call they take no pass over the list, and totals need no additional pass if they are
 * requested at regular intervals.
 *
 *   of_dtype  of float and of double: NULL at first and kept from call to call
 *   done      [out] false if forces or positions are too large for sums of units, or particles have
 * too many neighbors: nothing was computed then
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED, KITH_UNSUPPORTED (a formula, and no compiler).
 * Cost:   O(pairs), and of each list O(n log n + pairs); 4 bytes a pair of particle and cluster. */
kith_status verlet_forces_cpu(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, struct verlet *of_dtype[2], bool *done);

void verlet_free(struct verlet *verlet);
void verlet_free_both(struct verlet *of_dtype[2]);

#endif
