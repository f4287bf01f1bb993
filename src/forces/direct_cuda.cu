/* All-pairs forces on the GPU: chooses between the kernels. */

#include "core/status.h"
#include "cuda/cuda.h"
#include "forces/direct.h"
#include "forces/direct_cuda.h"

kith_status forces_direct_cuda(kith_context *context, const struct forces_problem *problem)
{
    if (problem->system_count > 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "forces of %lld systems at once are not computed on the GPU yet; make a "
                         "context with device cpu",
                         (long long)problem->system_count);
    if (problem->target_count == 0)
        return KITH_OK;
    return forces_one_sided_cuda(context, problem);
}
