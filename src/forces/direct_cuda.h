#ifndef FORCES_DIRECT_CUDA_H
#define FORCES_DIRECT_CUDA_H

#include "forces/problem.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of forces_direct_cuda. Pointers are to device memory, columns aligned to 16 bytes;
 * work is enqueued on the context's stream, without waiting. */

/* Every target by itself: serves every problem of one system, in one launch without scratch,
 * or in two where blocks share many sources of few targets. */
kith_status forces_one_sided_cuda(kith_context *context, const struct forces_problem *problem);

/* Each pair once: for self, without jerk and with a common softening. Takes about 256 MB of scratch
 * at most, or 12 bytes (24 in double) a body if that is more, besides the totals: see
 * ring_launch_cuda.cuh. */
kith_status forces_ring_cuda(kith_context *context, const struct forces_problem *problem);

/* The same of many bodies in float, on one device: nothing happens where the
 * number on the device is 0 (NULL: 1). And the scratch memory that it takes. */
kith_status forces_ring_if_needed_cuda(kith_context *context, const struct forces_problem *problem,
                                       const int *needed);
int64_t forces_ring_scratch_bytes_cuda(kith_context *context, const struct forces_problem *problem);

/* Each pair of far tiles once, on tensor cores (tensor_cuda.cuh): for self, in float with a common
 * softening and without jerk. Takes about 300 bytes of scratch a body, 370 with potentials.
 * Errors: KITH_UNSUPPORTED (a GPU before compute capability 8.0). */
kith_status forces_tensor_cuda(kith_context *context, const struct forces_problem *problem);

/* The faster of the two: on tensor cores unless more than 2/5 of the pairs of tiles are near,
 * which the device decides, or a mass is negative. */
kith_status forces_tensor_or_ring_cuda(kith_context *context, const struct forces_problem *problem);

/* Whether that serves the problem, on this device. */
bool forces_tensor_suits_cuda(const struct forces_problem *problem);

/* As one learns it: p threads a tile of p × p pairs, or p², for one softening and no jerk. p is
 * problem->way.block. Errors: KITH_UNSUPPORTED. */
kith_status forces_tile_p_cuda(kith_context *context, const struct forces_problem *problem);
kith_status forces_tile_p2_cuda(kith_context *context, const struct forces_problem *problem);

/* Many systems of few bodies each, for system_count > 0, which systems_check has let pass. */
kith_status forces_systems_cuda(kith_context *context, const struct forces_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
