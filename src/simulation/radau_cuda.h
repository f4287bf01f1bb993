#ifndef SIMULATION_RADAU_CUDA_H
#define SIMULATION_RADAU_CUDA_H

#include "kith/context.h"
#include "simulation/radau.h"

#ifdef __cplusplus
extern "C" {
#endif

/* radau of simulation/backend.h on a GPU.
 *
 * Bits: those of each system alone, the same on every run; they differ from a CPU's by rounding. */
kith_status radau_cuda(kith_context *context, const struct radau_systems *problem,
                       struct radau_system *system);

#ifdef __cplusplus
}
#endif

#endif
