/* The columns of the bodies that attract, on a GPU: massive.h. */

#include "simulation/massive_cuda.h"

#include "device/overlap.cuh"

enum { threads = 256 };

template <typename real>
static __global__ void pick(int64_t count, const int64_t *body, const real *from, real *to)
{
    wait_for_kernel_before();
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k < count)
        to[k] = from[body[k]];
}

kith_status massive_pick_cuda(kith_context *context, kith_dtype dtype, int64_t count,
                              const int64_t *body, const void *from, void *to)
{
    const dim3 blocks((unsigned)((count + threads - 1) / threads));
    const char *what = "starting the kernel that picks bodies with mass";
    if (dtype == KITH_F64)
        return launch_overlapped(context, what, blocks, threads, pick<double>, count, body,
                                 (const double *)from, (double *)to);
    return launch_overlapped(context, what, blocks, threads, pick<float>, count, body,
                             (const float *)from, (float *)to);
}
