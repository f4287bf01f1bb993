/* Symmetric all-pairs forces on the GPU: chooses a variant, walks the ring in chunks. */

#include "core/status.h"
#include "cuda/cuda.h"
#include "forces/direct_cuda.h"
#include "forces/ring_launch_cuda.cuh"

kith_status forces_ring_cuda(kith_context *context, const struct forces_problem *problem)
{
    const bool potential = problem->potential;
    if (problem->dtype == KITH_F64)
        return potential ? ring_forces<ring_variant<double, 8, 4, 2, true>>(context, problem)
                         : ring_forces<ring_variant<double, 8, 4, 2, false>>(context, problem);
    return potential ? ring_forces<ring_variant<float, 8, 8, 2, true>>(context, problem)
                     : ring_forces<ring_variant<float, 8, 8, 2, false>>(context, problem);
}
