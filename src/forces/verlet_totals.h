#ifndef FORCES_VERLET_TOTALS_H
#define FORCES_VERLET_TOTALS_H

/* Energy and virial by a Verlet list, from sums of integers: they depend on the positions alone, as
 * the forces do.
 *
 * With d = x_j − x_i + t, and F the force on i, of each pair,
 *
 *     W = −Σ d ⊗ F = Σ_i x_i ⊗ F_i − Σ_t t ⊗ F_t
 *
 * where F_i is the whole force on particle i, and F_t that on the i of all pairs with translation
 * t. Positions and translations are integers of grids, forces of units: what cancels is exact. */

#include "device/threads.h"
#include "forces/verlet_places.h"

/* Adds wide sums: modulo 2^64 word by word. */
static inline void verlet_wide_add(struct verlet_wide *sum, struct verlet_wide more)
{
    sum->high += more.high;
    sum->low += more.low;
}

/* Collective: adds the sums of all ranks and, as a pair with a ghost is evaluated by two of them,
 * half of those of such pairs, which is exact. */
void verlet_wide_add_halves(kith_context *context, struct verlet_wide *sum,
                            struct verlet_wide with_ghosts);

/* The nearest double. */
double verlet_wide_value(struct verlet_wide sum);

/* Sums of translations, in this unit. */
struct verlet_totals {
    const struct verlet_wide (*across)[3];
    const struct verlet_wide (*across_with_ghosts)[3]; /* NULL: no domain */
    double unit;
};

/* Adds W to totals->virial, from the forces' sums of slots, by place (verlet_list.h), and those of
 * translations. Of a domain it is collective.
 *
 *   force_of  the sum of a slot's component, which is at this place
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
typedef uint64_t verlet_force_of(const void *user, int64_t place);
kith_status verlet_add_virial(kith_context *context, const struct verlet *verlet,
                              verlet_force_of *force_of, const void *user,
                              const struct verlet_totals *sums, kith_forces_totals *totals);

#endif
