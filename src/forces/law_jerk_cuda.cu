/* Acceleration, jerk and the rate of the value by any law on the GPU: one-sided sums
 * (law_jerk_cuda_body.h), whose parts a second kernel adds. */

#include "device/cuda.h"
#include "forces/deliver_cuda.cuh"
#include "forces/law_choice.h"
#include "forces/law_jerk_kernel_cuda.cuh"
#include "forces/law_motion.h"
#include "forces/law_sums_cuda.h"

/* Blocks for each multiprocessor that are requested. */
enum { wanted_blocks = 16, finish_threads = 256 };

template <typename real>
using jerk_kernel = void(const struct law_sums_problem, real *, long long, long long);

static jerk_kernel<float> *find(enum law_kind kind, float)
{
#define ENTRY(kind) law_jerk_kernel_float<law_##kind>,
    static jerk_kernel<float> *const kernels[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return kernels[kind];
}

static jerk_kernel<double> *find(enum law_kind kind, double)
{
#define ENTRY(kind) law_jerk_kernel_double<law_##kind>,
    static jerk_kernel<double> *const kernels[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return kernels[kind];
}

/* A thread adds one value of one target, part after part. */
template <typename real>
static __global__ void finish(const struct forces_problem problem, const struct law_sums_plan plan)
{
    const int64_t i = (int64_t)blockIdx.x * finish_threads + threadIdx.x;
    const int value = blockIdx.y;
    if (i >= problem.target_count)
        return;
    const real *partial = (const real *)plan.partial + value * plan.room + i;
    double sum = 0;
#pragma unroll 8
    for (int64_t part = 0; part < plan.parts; part++)
        sum += (double)partial[part * law_jerk_values * plan.room];
    const bool is_divided = problem.target_mass && value < 6;
    const double mass = is_divided ? (double)((const real *)problem.target_mass)[i] : 1;
    deliver<real>(problem, i, value < 3 ? value : value + 1, sum / mass);
}

template <typename real>
static kith_status compute(kith_context *context, const struct forces_problem *problem,
                           const struct law_view *view, const struct law_sums_problem *sums)
{
    struct law_sums_plan plan =
        law_sums_divide(context, problem, law_motion_block, law_motion_block, wanted_blocks);
    KITH_TRY(cuda_scratch(context, plan.parts * law_jerk_values * plan.room * (int64_t)sizeof(real),
                          &plan.partial));
    if (view->formula) {
        KITH_TRY(law_jerk_start_custom(context, problem, sums, &plan));
    } else {
        find(view->form.kind, (real)0)<<<dim3((unsigned)plan.blocks, (unsigned)plan.parts),
                                         law_motion_block, 0, cuda_stream(context)>>>(
            *sums, (real *)plan.partial, plan.room, plan.part_sources);
        KITH_TRY(cuda_check_launch("starting the kernel of the jerk by a law"));
    }
    const int64_t blocks = (problem->target_count + finish_threads - 1) / finish_threads;
    finish<real>
        <<<dim3((unsigned)blocks, law_jerk_values), finish_threads, 0, cuda_stream(context)>>>(
            *problem, plan);
    return cuda_check_launch("starting the kernel that adds the jerk by a law");
}

kith_status forces_law_jerk_cuda(kith_context *context, const struct forces_problem *problem)
{
    struct law_view view;
    struct law_sums_problem sums;
    KITH_TRY(forces_check_jerk(problem->law));
    forces_law_look(problem, &view, &sums);
    KITH_TRY(problem->dtype == KITH_F64 ? compute<double>(context, problem, &view, &sums)
                                        : compute<float>(context, problem, &view, &sums));
    if (!problem->potential)
        return KITH_OK;
    const struct forces_problem alone = forces_values_alone(problem);
    return forces_law_cuda(context, &alone);
}
