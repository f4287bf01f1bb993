#ifndef FORCES_TREE_WEIGHTS_H
#define FORCES_TREE_WEIGHTS_H

#include "forces/tree_sums.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of weights in a unit, from call to call; zeroed at first. */
struct forces_tree_weights {
    void *column;
    int64_t bytes;
};

/* Replaces the weights of a law by those in a unit that is a power of two: the largest of all is
 * then at least 1 and less than 2, so that at the floor of s² pairs are finite (core/floors.h).
 * Masses of gravity have a unit already: *unit is then 1. Columns are in the host's memory. Over
 * ranks collective, and the unit is that of all.
 *
 *   memory  of problem->weight, which must exist as long; free its column with free()
 *   unit    [out] by which the sums are to be multiplied
 *
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status forces_scale_tree_weights(kith_context *context, const struct forces_tree_sums *sums,
                                      struct tree_problem *problem,
                                      struct forces_tree_weights *memory, double *unit);

#ifdef __cplusplus
}
#endif

#endif
