#ifndef FORCES_VERLET_LAW_CUDA_H
#define FORCES_VERLET_LAW_CUDA_H

#include "forces/cutoff.h"
#include "forces/verlet_cuda_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The weights of a law of the table by row; NULL: ones, or none. */
const void *verlet_weights_cuda(const struct forces_problem *problem, const struct cutoff_law *law);

/* What a formula has of either particle, by row: weights (k = 0), which are masses, and charges;
 * NULL: ones, or none. */
const void *verlet_column_cuda(const struct forces_problem *problem, const struct cutoff_law *law,
                               int k);

/* The unit of forces: a power of two, far enough below the forces that no digit of a sum is lost
 * that the precision has, and far enough above their range. *found is false if the law's forces
 * have no scale. Waits for the device. Of slices collective. Errors: KITH_OUT_OF_MEMORY, of slices
 * those of ranks_agree. */
kith_status verlet_choose_unit_cuda(kith_context *context, const struct forces_problem *problem,
                                    const struct cutoff_law *law, struct verlet_cuda_step *step,
                                    bool *found);

#ifdef __cplusplus
}
#endif

#endif
