#ifndef FORCES_TREE_WEIGHTS_CUDA_CUH
#define FORCES_TREE_WEIGHTS_CUDA_CUH

#include "tree/memory_cuda.h"
#include "tree/tree.h"

/* Replaces the weights of a problem, not NULL, by those in a unit that is a power of two: the
 * largest is then at least 1 and less than 2, so that at the floor of s² pairs are finite
 * (core/floors.h). Nothing waits.
 *
 *   memory  of the new column and of *unit, in the device's memory */
kith_status forces_scale_tree_weights_cuda(kith_context *context, struct tree_problem *problem,
                                           struct tree_memory *memory, const double **unit);

#endif
