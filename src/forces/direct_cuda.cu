/* All-pairs forces on the GPU: chooses between the kernels. */

#include "core/status.h"
#include "cuda/cuda.h"
#include "forces/direct.h"
#include "forces/direct_cuda.h"

/* With fewer bodies the symmetric kernel, its tiles too few to fill the device and its sums to be
 * added by a second kernel, is the slower one (H200, float: 15 against 21 µs at 4096, 45 against 50
 * at 8192). */
enum { least_symmetric_float = 8449, least_symmetric_double = 7168 };

static bool is_symmetric(const struct forces_problem *problem)
{
    const int64_t least =
        problem->dtype == KITH_F64 ? least_symmetric_double : least_symmetric_float;
    return problem->self && !problem->jerk[0] && !problem->target_half_softening2 &&
           problem->target_count >= least;
}

kith_status forces_direct_cuda(kith_context *context, const struct forces_problem *problem)
{
    if (problem->target_count == 0)
        return KITH_OK;
    if (problem->system_count > 0)
        return forces_systems_cuda(context, problem);
    return is_symmetric(problem) ? forces_ring_cuda(context, problem)
                                 : forces_one_sided_cuda(context, problem);
}
