/* The values of pairs by the laws of the table, on a GPU. */

#include "device/cuda.h"
#include "law/law_values_cuda.h"
#include "law/law_values_kernel_cuda.cuh"

typedef void values_kernel(const struct law_values_problem);

static const int block = 128;

kith_status law_values_cuda_built_in(kith_context *context, const struct law_view *view,
                                     kith_dtype dtype, const struct law_values_problem *problem)
{
#define ENTRY(kind) law_values_float<law_##kind>,
    static values_kernel *const in_float[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
#define ENTRY(kind) law_values_double<law_##kind>,
    static values_kernel *const in_double[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    const long long blocks = (problem->count + block - 1) / block;
    values_kernel *kernel = (dtype == KITH_F32 ? in_float : in_double)[view->form.kind];
    kernel<<<(unsigned)blocks, block, 0, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("the values of pairs");
}
