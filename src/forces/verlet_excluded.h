#ifndef FORCES_VERLET_EXCLUDED_H
#define FORCES_VERLET_EXCLUDED_H

/* Pairs that a Verlet list leaves out. Within a cutoff of at most half the shortest vector of the
 * cell there is one image of a pair at most, the nearest: so they are left out at every image, and
 * no list depends on which of them that is. */

#include "forces/problem.h"

/* Partners of row k are partners[begin[k]] … partners[begin[k + 1] − 1], each pair from both. */
struct verlet_excluded {
    int64_t *begin; /* NULL without exclusions */
    int32_t *partners;
    int32_t *slot; /* of a row, in the list as it is; NULL: partners are slots (domain.h) */
};

/* Whether one image of each pair at most is within the cutoff. */
bool verlet_excluded_suits(const struct forces_problem *problem);

/* Errors: KITH_INVALID_ARGUMENT (a row that is not there), KITH_OUT_OF_MEMORY. */
kith_status verlet_excluded_take(const struct forces_problem *problem,
                                 struct verlet_excluded *excluded);
void verlet_excluded_free(struct verlet_excluded *excluded);

/* Lanes of a cluster whose particles do not interact with a row: bit k is lane k. */
static inline unsigned verlet_excluded_lanes(const struct verlet_excluded *excluded, int64_t row,
                                             int64_t cluster, int lanes)
{
    unsigned left_out = 0;
    for (int64_t k = excluded->begin[row]; k < excluded->begin[row + 1]; k++) {
        const int32_t partner = excluded->partners[k];
        const int32_t slot = excluded->slot ? excluded->slot[partner] : partner;
        if (slot / lanes == cluster)
            left_out |= 1U << (slot % lanes);
    }
    return left_out;
}

#endif
