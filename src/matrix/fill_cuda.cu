/* Starts the kernels that fill matrices by laws of the table: matrix_cuda_body.h. */

#include "matrix/cuda.h"
#include "matrix/grid.h"
#include "matrix/store_cuda.cuh"

#define KERNEL_BODY "matrix/matrix_cuda_body.h"
#include "law/for_each_real_cuda.h"

typedef void fill_kernel(const struct matrix_problem, const struct matrix_target);

kith_status matrix_fill_cuda(kith_context *context, const struct matrix_task *task,
                             const struct matrix_target *to, bool symmetric)
{
#define ENTRY(kind)                                                                                \
    {matrix_fill_float<law_##kind>, matrix_fill_double<law_##kind>,                                \
     matrix_symmetric_float<law_##kind>, matrix_symmetric_double<law_##kind>},
    static fill_kernel *const kernels[][4] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    fill_kernel *kernel = kernels[task->kind][2 * symmetric + (task->dtype == KITH_F64)];
    const struct matrix_grid grid = matrix_fill_grid(&task->problem, to, task->dtype, symmetric);
    kernel<<<dim3(grid.x, grid.y), matrix_fill_threads, 0, cuda_stream(context)>>>(task->problem,
                                                                                   *to);
    return cuda_check_launch("filling the matrix");
}
