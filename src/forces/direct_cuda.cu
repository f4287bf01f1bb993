/* All-pairs forces on the GPU: chooses between the kernels. */

#include "core/status.h"
#include "cuda/cuda.h"
#include "forces/direct.h"
#include "forces/direct_cuda.h"

/* With fewer bodies the symmetric kernel, its tiles too few to fill the device and its sums to be
 * added by a second kernel, is the slower one (H200: 17 against 20 µs at 4096, 47 against 43 at
 * 8192). */
enum { least_symmetric = 6144 };

static bool is_symmetric(const struct forces_problem *problem)
{
    return problem->self && !problem->jerk[0] && !problem->target_half_softening2 &&
           problem->target_count >= least_symmetric;
}

kith_status forces_direct_cuda(kith_context *context, const struct forces_problem *problem)
{
    if (problem->system_count > 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "forces of %lld systems at once are not computed on the GPU yet; make a "
                         "context with device cpu",
                         (long long)problem->system_count);
    if (problem->target_count == 0)
        return KITH_OK;
    return is_symmetric(problem) ? forces_ring_cuda(context, problem)
                                 : forces_one_sided_cuda(context, problem);
}
