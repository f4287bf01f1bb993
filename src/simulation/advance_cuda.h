#ifndef SIMULATION_ADVANCE_CUDA_H
#define SIMULATION_ADVANCE_CUDA_H

#include "kith/context.h"
#include "simulation/advance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* advance of simulation/backend.h on a GPU. One system of up to some thousand
 * bodies does all steps in one launch, in which no thread waits for the host: within a
 * warp, a block, or blocks on all multiprocessors that hand each other the positions. Systems of an
 * ensemble are a lane, a part of a warp, a warp or a block each. Larger systems do kicks and drifts
 * in one kernel between two evaluations of forces; Runge-Kutta and Hermite are done up to some
 * thousand bodies. Under laws other than gravity there are compositions of up to
 * systems_most_bodies bodies (advance_laws_cuda.h).
 *
 * Nothing is done (*done = 0) for a G that far from the scale of the lengths that G·Σ might leave
 * the precision's range, nor for compositions of very many stages. */
kith_status advance_cuda(kith_context *context, const struct advance_problem *problem,
                         int64_t *done);

/* How it does a problem with bodies: every composition, and what else is said. Complete problems,
 * with the forces' vectors filled in; steps and evaluations of forces are at least 1. */

/* A lane a system of 2 … advance_lane_bodies bodies: ensembles. */
enum { advance_lane_bodies = 8 };
kith_status advance_lanes_cuda(kith_context *context, const struct advance_problem *problem);

/* A part of a warp a system of up to 64 bodies: ensembles. Runge-Kutta and Hermite too. */
enum { advance_part_bodies = 64 };
kith_status advance_parts_cuda(kith_context *context, const struct advance_problem *problem);

/* How many warps that takes. */
int64_t advance_parts_warps(const struct advance_problem *problem);

/* A warp a system of up to 32 bodies; Runge-Kutta and Hermite too. */
enum { advance_warp_bodies = 32 };
kith_status advance_warps_cuda(kith_context *context, const struct advance_problem *problem);

/* A block a system of up to 128 bodies; Runge-Kutta and Hermite too. */
enum { advance_block_bodies = 128 };
kith_status advance_blocks_cuda(kith_context *context, const struct advance_problem *problem);

/* One system on all multiprocessors; Runge-Kutta and Hermite too. *done = 0 where it is too large
 * for their shared memory. */
kith_status advance_grid_cuda(kith_context *context, const struct advance_problem *problem,
                              int64_t *done);

#ifdef __cplusplus
}
#endif

#endif
