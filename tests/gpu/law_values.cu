/* The values of pairs by the laws of the table, on a GPU. */

#include "law_values.h"

#include "device/cuda.h"
#include "law/law_values_kernel_cuda.cuh"

typedef void values_kernel(const struct law_values_problem);

static const int block = 128;

#define DEFINE(real)                                                                               \
    template <enum law_kind kind>                                                                  \
    static __global__ void of_##real(const struct law_values_problem problem)                      \
    {                                                                                              \
        if (problem.weighting == law_product)                                                      \
            values_##real(law_form{kind, law_product}, &problem);                                  \
        else if (problem.weighting == law_sum)                                                     \
            values_##real(law_form{kind, law_sum}, &problem);                                      \
        else                                                                                       \
            values_##real(law_form{kind, law_unweighted}, &problem);                               \
    }
DEFINE(float)
DEFINE(double)

kith_status law_values_cuda(kith_context *context, const struct law_view *view, kith_dtype dtype,
                            const struct law_values_problem *problem)
{
#define ENTRY(kind) of_float<law_##kind>,
    static values_kernel *const in_float[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
#define ENTRY(kind) of_double<law_##kind>,
    static values_kernel *const in_double[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    const long long blocks = (problem->count + block - 1) / block;
    values_kernel *kernel = (dtype == KITH_F32 ? in_float : in_double)[view->form.kind];
    kernel<<<(unsigned)blocks, block, 0, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("the values of pairs");
}
