#ifndef SIMULATION_HERMITE_BLOCK_CUDA_H
#define SIMULATION_HERMITE_BLOCK_CUDA_H

#include "kith/context.h"
#include "simulation/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* blocks of simulation/backend.h on a GPU. Block steps are launched without waiting for their
 * sizes, which the kernels read on the device.
 *
 * Cost:  N·active pairs a block step, 31 instructions of double precision each, and about 15 µs.
 * Bits:  the same on every run and however a leg is divided; they differ from a CPU's by rounding.
 */
kith_status hermite_block_cuda(kith_context *context, const struct radau_leg *leg,
                               struct blocks_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
