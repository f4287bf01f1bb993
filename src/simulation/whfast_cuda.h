#ifndef SIMULATION_WHFAST_CUDA_H
#define SIMULATION_WHFAST_CUDA_H

#include "simulation/whfast.h"

#ifdef __cplusplus
extern "C" {
#endif

/* whfast of simulation/backend.h on a GPU: the steps of one system or of an ensemble, of at most
 * kith_most_bodies_of_system bodies each; or of one of more, of which only the star and the first
 * whfast_most_leading planets may have mass.
 *
 * Bits: those of each system alone, the same on every run and for every division of steps into
 *       calls. They differ from a CPU's by rounding, which is that of other estimates of roots and
 *       of sums in another order. */
kith_status whfast_cuda(kith_context *context, const struct whfast_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
