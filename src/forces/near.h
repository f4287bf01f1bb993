#ifndef FORCES_NEAR_H
#define FORCES_NEAR_H

/* A short-ranged law in addition to one whose images are all summed (kith/law_sum.h), as for ions:
 * its pairs within the cutoff, as the solver cutoff sums them. */

#include "cells/geometry.h"
#include "forces/cutoff.h"
#include "forces/verlet.h"

struct near_state {
    struct pairs_lattice lattice;
    struct cutoff_law law;
    struct cutoff_memory memory;
    struct verlet *verlet[2]; /* of a run, by the dtype */
    void *on_device;          /* what its backend keeps */
};

/* The law in addition to the problem's; NULL: none. */
const kith_law *near_law(const struct forces_problem *problem);

/* Without a second law these functions do nothing. The outputs are overwritten, or added to if the
 * problem accumulates; the totals are overwritten. */
kith_status near_prepare(const struct forces_problem *problem, struct near_state *state);
kith_status near_evaluate(kith_context *context, const struct forces_problem *problem,
                          struct near_state *state);
void near_free(kith_context *context, struct near_state *state);

#endif
