/* One-sided all-pairs forces on the GPU: how many targets per warp takes, and who shares sources.
 */

#include <math.h>

#include "device/cuda.h"
#include "forces/direct_cuda.h"
#include "forces/one_sided_cuda.cuh"

/* Targets of a warp. More save loads of sources, fewer spread a small problem over more warps. */
struct one_sided_policy {
    int targets_float[3], targets_double[3]; /* by outputs: as registers and shared memory allow */
    int few_targets;                         /* the same for small problems */
    int small_targets_per_multiprocessor;    /* a problem is small with fewer targets than this */
    int warps_per_multiprocessor;            /* enough to keep a multiprocessor busy */
};

/* Measured on an H200, float, microseconds at N = 1024, 4096, 65 536: 8 targets and 24 warps 5.0,
 * 17.0, 2416; 15 warps (all blocks resident) 4.4, 15.2, 2417; 6 targets 4.3, 17.2, 2498; 4
 * targets 4.6, 15.5, 2431. */
constexpr struct one_sided_policy policy = {{8, 6, 3}, {4, 3, 2}, 2, 8, 15};

/* When blocks share the sources of their targets. */
struct sharing_policy {
    int many_sources;                           /* no problem with this many is small */
    int least_for_warp, least_for_warp_of_many; /* sources in each part */
    double busy_enough;  /* of the device: no more parts are requested then */
    double worth_a_part; /* to gain of the device */
};

constexpr struct sharing_policy sharing = {16384, 1024, 256, 0.94, 0.04};

/* How many warps of a block share their targets: a power of two, enough to fill the device. */
static int choose_source_warps(kith_context *context, const struct forces_problem *problem,
                               int targets)
{
    const int64_t wanted = (int64_t)cuda_multiprocessors(context) * policy.warps_per_multiprocessor;
    const int64_t groups = (problem->target_count + targets - 1) / targets;
    int source_warps = problem->way.threads / warp;
    if (source_warps > 0)
        return source_warps < block_warps ? source_warps : block_warps;
    source_warps = 1;
    while (source_warps < block_warps && groups * source_warps < wanted &&
           source_warps * 2 * 64 <= problem->source_count)
        source_warps *= 2;
    return source_warps;
}

/* How many blocks share the sources of their targets: as few as fill the device, for many sources.
 */
static int choose_parts(kith_context *context, const struct forces_problem *problem,
                        int source_warps, int64_t blocks)
{
    const int64_t slots = (int64_t)cuda_multiprocessors(context) * blocks_per_multiprocessor;
    const int64_t least = problem->source_count < sharing.many_sources
                              ? sharing.least_for_warp
                              : sharing.least_for_warp_of_many;
    const int64_t room = problem->source_count / (source_warps * least);
    const int64_t most = room < slots ? room : slots;
    double best = 0;
    int parts = 1;
    for (int p = 1; p <= most && best < sharing.busy_enough; p++) {
        const double filled = (double)(blocks * p) / (double)slots;
        const double share = filled / ceil(filled);
        parts = share > best + sharing.worth_a_part ? p : parts;
        best = share > best + sharing.worth_a_part ? share : best;
    }
    return parts;
}

template <typename real>
static kith_status launch_add_parts(kith_context *context, const struct forces_problem *problem,
                                    const struct partial_sums<real> &of_parts, int parts,
                                    int values)
{
    const int64_t blocks = (problem->target_count + block_warps * warp - 1) / (block_warps * warp);
    return launch_overlapped(context, "starting the kernel that adds one-sided forces",
                             dim3((unsigned)blocks, (unsigned)values), block_warps * warp,
                             add_parts_kernel<real>, *problem, of_parts, parts);
}

template <typename real, enum forces_outputs outputs, bool per_body, int targets>
static kith_status launch(kith_context *context, const struct forces_problem *problem)
{
    const int source_warps = choose_source_warps(context, problem, targets);
    const int64_t block_targets = (int64_t)targets * (block_warps / source_warps);
    const int64_t blocks = (problem->target_count + block_targets - 1) / block_targets;
    const int parts = choose_parts(context, problem, source_warps, blocks);
    struct partial_sums<real> of_parts = {
        NULL, problem->target_count
    };
    if (parts > 1)
        KITH_TRY(cuda_scratch(context,
                              parts * most_values * problem->target_count * (int64_t)sizeof(real),
                              (void **)&of_parts.sum));
    KITH_TRY(launch_overlapped(context, "starting the kernel of one-sided forces",
                               dim3((unsigned)blocks, (unsigned)parts), block_warps * warp,
                               one_sided_kernel<real, outputs, per_body, targets>, *problem,
                               source_warps, of_parts));
    return parts > 1 ? launch_add_parts(context, problem, of_parts, parts, pair_values(outputs))
                     : KITH_OK;
}

/* Targets per thread, as requested. */
template <typename real>
static kith_status launch_for_bodies(kith_context *context, const struct forces_problem *problem)
{
    const int bodies = problem->way.bodies;
    return bodies == 1   ? launch<real, forces_acceleration, false, 1>(context, problem)
           : bodies == 2 ? launch<real, forces_acceleration, false, 2>(context, problem)
           : bodies == 4 ? launch<real, forces_acceleration, false, 4>(context, problem)
                         : launch<real, forces_acceleration, false, 8>(context, problem);
}

template <typename real, enum forces_outputs outputs, bool per_body>
static kith_status launch_for_size(kith_context *context, const struct forces_problem *problem)
{
    constexpr int targets = sizeof(real) == sizeof(float) ? policy.targets_float[outputs]
                                                          : policy.targets_double[outputs];
    const int64_t small =
        (int64_t)cuda_multiprocessors(context) * policy.small_targets_per_multiprocessor;
    const bool is_small =
        problem->target_count <= policy.few_targets ||
        (problem->target_count < small && problem->source_count < sharing.many_sources);
    return is_small ? launch<real, outputs, per_body, policy.few_targets>(context, problem)
                    : launch<real, outputs, per_body, targets>(context, problem);
}

template <typename real, enum forces_outputs outputs>
static kith_status launch_for_softening(kith_context *context, const struct forces_problem *problem)
{
    return problem->target_half_softening2
               ? launch_for_size<real, outputs, true>(context, problem)
               : launch_for_size<real, outputs, false>(context, problem);
}

template <typename real>
static kith_status launch_for_outputs(kith_context *context, const struct forces_problem *problem)
{
    if (problem->jerk[0])
        return launch_for_softening<real, forces_jerk>(context, problem);
    if (problem->potential)
        return launch_for_softening<real, forces_potential>(context, problem);
    if (problem->way.bodies > 0 && !problem->target_half_softening2)
        return launch_for_bodies<real>(context, problem);
    return launch_for_softening<real, forces_acceleration>(context, problem);
}

kith_status forces_one_sided_cuda(kith_context *context, const struct forces_problem *problem)
{
    return problem->dtype == KITH_F64 ? launch_for_outputs<double>(context, problem)
                                      : launch_for_outputs<float>(context, problem);
}
