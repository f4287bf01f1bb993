/* Forces by any law on the GPU: one-sided sums (law_sums_cuda_body.h), whose parts a second kernel
 * adds. */

#include "device/cuda.h"
#include "forces/deliver_cuda.cuh"
#include "forces/law_motion.h"
#include "forces/law_sums_cuda.h"
#include "forces/law_sums_kernel_cuda.cuh"

/* Blocks for each multiprocessor that are requested. */
enum { wanted_blocks = 32, finish_threads = 256 };

template <typename real>
using sums_kernel = void(const struct law_sums_problem, real *, long long, long long);

/* The kernels by kind. Where every body has its own softening, all is summed, requested or not. */
template <enum law_sums sums, bool per_body>
static sums_kernel<float> *find(enum law_kind kind, float)
{
#define ENTRY(kind) law_sums_kernel_float<law_##kind, sums, per_body>,
    static sums_kernel<float> *const kernels[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return kernels[kind];
}

template <enum law_sums sums, bool per_body>
static sums_kernel<double> *find(enum law_kind kind, double)
{
#define ENTRY(kind) law_sums_kernel_double<law_##kind, sums, per_body>,
    static sums_kernel<double> *const kernels[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return kernels[kind];
}

template <typename real>
static sums_kernel<real> *find_kernel(const struct law_sums_problem &sums, enum law_kind kind)
{
    if (sums.target_half_softening2)
        return find<law_sums_both, true>(kind, (real)0);
    switch (forces_law_sums(&sums)) {
    case law_sums_force:
        return find<law_sums_force, false>(kind, (real)0);
    case law_sums_value:
        return find<law_sums_value, false>(kind, (real)0);
    default:
        return find<law_sums_both, false>(kind, (real)0);
    }
}

/* A thread adds one value of one target, part after part. */
template <typename real>
static __global__ void finish(const struct forces_problem problem,
                              const struct law_sums_problem sums, const struct law_sums_plan plan)
{
    const int64_t i = (int64_t)blockIdx.x * finish_threads + threadIdx.x;
    const int value = blockIdx.y;
    if (i >= problem.target_count || !(value < 3 ? sums.acceleration[value] : sums.value))
        return;
    const real *partial = (const real *)plan.partial + value * plan.room + i;
    double sum = 0;
#pragma unroll 8
    for (int64_t part = 0; part < plan.parts; part++)
        sum += (double)partial[part * law_sums_values * plan.room];
    if (sums.weighting == law_product && sums.target_weight)
        sum *= (double)((const real *)sums.target_weight)[i];
    if (value < 3)
        deliver<real>(problem, i, value,
                      sum / (sums.target_mass ? (double)((const real *)sums.target_mass)[i] : 1.0));
    else
        deliver<real>(problem, i, value, -sum); /* deliver turns the sign of potentials */
}

template <typename real>
static kith_status compute(kith_context *context, const struct forces_problem *problem,
                           const struct law_view *view, const struct law_sums_problem *sums)
{
    struct law_sums_plan plan = law_sums_divide(
        context, problem, law_sums_block, LAW_SUMS_TARGETS(real) * law_sums_block, wanted_blocks);
    KITH_TRY(cuda_scratch(context, plan.parts * law_sums_values * plan.room * (int64_t)sizeof(real),
                          &plan.partial));
    if (view->formula) {
        KITH_TRY(law_sums_start_custom(context, problem, sums, &plan));
    } else {
        find_kernel<real>(*sums,
                          view->form.kind)<<<dim3((unsigned)plan.blocks, (unsigned)plan.parts),
                                             law_sums_block, 0, cuda_stream(context)>>>(
            *sums, (real *)plan.partial, plan.room, plan.part_sources);
        KITH_TRY(cuda_check_launch("starting the kernel of the forces by a law"));
    }
    const int64_t blocks = (problem->target_count + finish_threads - 1) / finish_threads;
    finish<real>
        <<<dim3((unsigned)blocks, law_sums_values), finish_threads, 0, cuda_stream(context)>>>(
            *problem, *sums, plan);
    return cuda_check_launch("starting the kernel that adds the forces by a law");
}

kith_status forces_law_cuda(kith_context *context, const struct forces_problem *problem)
{
    struct law_view view;
    struct law_sums_problem sums;
    if (problem->target_count == 0)
        return KITH_OK;
    if (problem->system_count > 0)
        return forces_law_systems_cuda(context, problem);
    if (forces_wants_rates(problem))
        return forces_law_jerk_cuda(context, problem);
    forces_law_look(problem, &view, &sums);
    if (forces_ring_law_suits(context, problem, &view))
        return forces_ring_law_cuda(context, problem, &view, &sums);
    return problem->dtype == KITH_F64 ? compute<double>(context, problem, &view, &sums)
                                      : compute<float>(context, problem, &view, &sums);
}
