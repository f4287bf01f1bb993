#ifndef FORCES_LAW_SUMS_CUDA_H
#define FORCES_LAW_SUMS_CUDA_H

#include "forces/law_sums.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a problem is spread over the device, and where the sums of the parts go. */
struct law_sums_plan {
    int64_t blocks, parts;
    int64_t part_sources;
    int64_t room; /* of a value of all targets */
    void *partial;
    int32_t block; /* threads */
};

/* Divides the sources into parts, so that there are about this many blocks for each multiprocessor;
 * a block of threads takes this many targets, and sources in tiles of a block's size. */
struct law_sums_plan law_sums_divide(kith_context *context, const struct forces_problem *problem,
                                     int32_t block, int64_t targets_of_block,
                                     int64_t wanted_blocks);

/* Each pair once, for a problem without rates and with one softening: whether it is the method
 * requested or the faster one, and the forces. */
bool forces_ring_law_suits(const kith_context *context, const struct forces_problem *problem,
                           const struct law_view *view);
kith_status forces_ring_law_cuda(kith_context *context, const struct forces_problem *problem,
                                 const struct law_view *view, const struct law_sums_problem *sums);

/* Starts the kernel of a formula, compiled if need be. */
kith_status law_sums_start_custom(kith_context *context, const struct forces_problem *problem,
                                  const struct law_sums_problem *sums,
                                  const struct law_sums_plan *plan);

/* The same for acceleration and jerk, and for this many blocks of systems. */
kith_status law_jerk_start_custom(kith_context *context, const struct forces_problem *problem,
                                  const struct law_sums_problem *sums,
                                  const struct law_sums_plan *plan);
kith_status law_systems_start_custom(kith_context *context, const struct forces_problem *problem,
                                     const struct law_sums_problem *sums, int64_t blocks);

#ifdef __cplusplus
}
#endif

#endif
