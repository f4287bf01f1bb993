/* Forces by any law in ensembles of small systems on the GPU. */

#include "device/cuda.h"
#include "forces/law_choice.h"
#include "forces/law_motion.h"
#include "forces/law_sums_cuda.h"
#include "forces/law_systems_kernel_cuda.cuh"
#include "forces/systems.h"

using systems_kernel = void(const struct law_sums_problem);

template <bool all> static systems_kernel *find(enum law_kind kind, kith_dtype dtype)
{
#define ENTRY(kind) law_systems_kernel_float<law_##kind, all>,
    static systems_kernel *const in_float[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
#define ENTRY(kind) law_systems_kernel_double<law_##kind, all>,
    static systems_kernel *const in_double[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return (dtype == KITH_F64 ? in_double : in_float)[kind];
}

kith_status forces_law_systems_cuda(kith_context *context, const struct forces_problem *problem)
{
    struct law_view view;
    struct law_sums_problem sums;
    if (problem->jerk[0])
        KITH_TRY(forces_check_jerk(problem->law));
    forces_law_look(problem, &view, &sums);
    const int64_t blocks = (problem->system_count + systems_block - 1) / systems_block;
    if (view.formula)
        return law_systems_start_custom(context, problem, &sums, blocks);
    systems_kernel *const kernel = problem->jerk[0] || problem->potential
                                       ? find<true>(view.form.kind, problem->dtype)
                                       : find<false>(view.form.kind, problem->dtype);
    kernel<<<(unsigned)blocks, dim3(systems_block, systems_bodies), 0, cuda_stream(context)>>>(
        sums);
    return cuda_check_launch("starting the kernel of forces by a law in many systems");
}
