/* All-pairs forces on the GPU: chooses between the kernels. */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/direct.h"
#include "forces/direct_cuda.h"
#include "forces/law_sums.h"
#include "forces/method.h"
#include "forces/systems.h"

/* With fewer bodies, unless kith tune has found another number, the symmetric kernel, its tiles too
 * few to fill the device and its sums to be added by a second kernel, is the slower one. On an H200
 * the blocks of the one-sided kernel are all resident up to 8448 bodies in float; at 8704 it takes
 * 65 µs, the symmetric one 57. In double 72 against 78 µs at 6144, 85 against 96 at 7000, 122
 * against 98 at 8192. */
enum { least_symmetric_float = 8449, least_symmetric_double = 7168 };

/* From this many bodies on, sorting them takes no more than a hundredth of the time. */
enum { least_tensor = 262144 };

static bool is_for_tensor_cores(const struct forces_problem *problem)
{
    return problem->target_count >= least_tensor && forces_tensor_suits_cuda(problem);
}

static bool is_symmetric(const kith_context *context, const struct forces_problem *problem)
{
    const int64_t least = forces_least_symmetric(context, problem->dtype, least_symmetric_float,
                                                 least_symmetric_double);
    return problem->self && !problem->jerk[0] && !problem->target_half_softening2 &&
           problem->target_count >= least;
}

kith_status forces_direct_cuda(kith_context *context, const struct forces_problem *problem)
{
    if (problem->target_count == 0)
        return KITH_OK;
    KITH_TRY(systems_check(problem));
    if (problem->law)
        return forces_law_cuda(context, problem);
    if (problem->system_count > 0)
        return forces_systems_cuda(context, problem);
    switch (problem->way.method) {
    case KITH_FORCES_TILE_P:
        return forces_tile_p_cuda(context, problem);
    case KITH_FORCES_TILE_P2:
        return forces_tile_p2_cuda(context, problem);
    case KITH_FORCES_SPLIT:
        return forces_one_sided_cuda(context, problem);
    case KITH_FORCES_TENSOR:
        return forces_tensor_cuda(context, problem);
    case KITH_FORCES_SYMMETRIC:
        return forces_ring_cuda(context, problem);
    default:
        if (!is_symmetric(context, problem))
            return forces_one_sided_cuda(context, problem);
        return is_for_tensor_cores(problem) ? forces_tensor_or_ring_cuda(context, problem)
                                            : forces_ring_cuda(context, problem);
    }
}
