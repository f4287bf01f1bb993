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

static __global__ void place(int64_t count, const int64_t *body, const double *from, double *to)
{
    wait_for_kernel_before();
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k < count)
        to[body[k]] = from[k];
}

static dim3 blocks_for(int64_t count)
{
    return dim3((unsigned)((count + threads - 1) / threads));
}

kith_status massive_pick_cuda(kith_context *context, kith_dtype dtype, int64_t count,
                              const int64_t *body, const void *from, void *to)
{
    const dim3 blocks = blocks_for(count);
    const char *what = "starting the kernel that picks bodies with mass";
    if (dtype == KITH_F64)
        return launch_overlapped(context, what, blocks, threads, pick<double>, count, body,
                                 (const double *)from, (double *)to);
    return launch_overlapped(context, what, blocks, threads, pick<float>, count, body,
                             (const float *)from, (float *)to);
}

kith_status massive_place_cuda(kith_context *context, int64_t all, int64_t count,
                               const int64_t *body, const double *from, double *to)
{
    KITH_TRY(cuda_check(cudaMemsetAsync(to, 0, (size_t)all * sizeof *to, cuda_stream(context)),
                        "clearing results of bodies without mass"));
    return launch_overlapped(context, "starting the kernel that places results of bodies with mass",
                             blocks_for(count), threads, place, count, body, from, to);
}
