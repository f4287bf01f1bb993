#include "tree/near_law_cuda.h"

#include "device/cuda.h"
#include "law/compiled_cuda.h"
#include "law/law.h"
#include "tree/near_law_kernel_cuda.cuh"

static const char kernel_file[] = "tree/near_law_kernel_cuda.cuh";

using near_kernel = void(const struct tree_near_law_cuda);
using samples_kernel = void(const struct tree_samples_law_cuda);

static near_kernel *find_near(enum law_kind kind, kith_dtype dtype)
{
#define ENTRY(kind) tree_near_float<law_##kind>,
    static near_kernel *const in_float[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
#define ENTRY(kind) tree_near_double<law_##kind>,
    static near_kernel *const in_double[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return (dtype == KITH_F64 ? in_double : in_float)[kind];
}

static samples_kernel *find_samples(enum law_kind kind, kith_dtype dtype)
{
#define ENTRY(kind) tree_samples_float<law_##kind>,
    static samples_kernel *const in_float[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
#define ENTRY(kind) tree_samples_double<law_##kind>,
    static samples_kernel *const in_double[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return (dtype == KITH_F64 ? in_double : in_float)[kind];
}

kith_status tree_meet_near_law_cuda(kith_context *context, const kith_law *law, kith_dtype dtype,
                                    struct tree_near_law_cuda *task, int64_t parts)
{
    const uint32_t blocks = (uint32_t)((parts + near_warps - 1) / near_warps);
    const struct law_view *view = &law->view;
    void *function = NULL;
    task->numbers = view->numbers;
    if (view->form.kind != law_custom) {
        find_near(view->form.kind,
                  dtype)<<<dim3(blocks, near_chunks), near_threads, 0, cuda_stream(context)>>>(
            *task);
        return cuda_check_launch("meeting near points of a tree");
    }
    KITH_TRY(law_compile_cuda(
        context, law, kernel_file,
        dtype == KITH_F64 ? "tree_near_custom_double" : "tree_near_custom_float", &function));
    void *arguments[] = {task};
    const struct law_launch launch = {{blocks, near_chunks, 1}, {near_threads, 1, 1}, 0};
    return law_launch_cuda(context, function, &launch, arguments, "meeting near points of a tree");
}

kith_status tree_sum_samples_law_cuda(kith_context *context, const kith_law *law, kith_dtype dtype,
                                      struct tree_samples_law_cuda *task, int32_t parts)
{
    const uint32_t blocks = (uint32_t)parts, groups = tree_samples / tree_samples_of_block;
    const struct law_view *view = &law->view;
    void *function = NULL;
    task->numbers = view->numbers;
    if (view->form.kind != law_custom) {
        find_samples(view->form.kind,
                     dtype)<<<dim3(blocks, groups), near_threads, 0, cuda_stream(context)>>>(*task);
        return cuda_check_launch("estimating the error of a tree");
    }
    KITH_TRY(law_compile_cuda(
        context, law, kernel_file,
        dtype == KITH_F64 ? "tree_samples_custom_double" : "tree_samples_custom_float", &function));
    void *arguments[] = {task};
    const struct law_launch launch = {{blocks, groups, 1}, {near_threads, 1, 1}, 0};
    return law_launch_cuda(context, function, &launch, arguments, "estimating the error of a tree");
}
