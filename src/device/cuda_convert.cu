/* convert_to_double of device/services.h. */

#include <stdio.h>

#include "device/cuda_state.h"
#include "device/overlap.cuh"

enum { threads_per_block = 256, blocks_per_multiprocessor = 8 };

template <typename real>
static __global__ void convert(int64_t count, const real *__restrict__ from,
                               double *__restrict__ to)
{
    wait_for_kernel_before();
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = from[i];
}

template <typename real>
static kith_status launch(kith_context *context, int64_t count, const void *from, double *to)
{
    const int64_t needed = (count + threads_per_block - 1) / threads_per_block;
    const int64_t most = (int64_t)cuda_multiprocessors(context) * blocks_per_multiprocessor;
    return launch_overlapped(context, "converting arrays to double",
                             dim3((unsigned)(needed < most ? needed : most)), threads_per_block,
                             convert<real>, count, (const real *)from, to);
}

extern "C" kith_status cuda_convert_to_double(kith_context *context, kith_dtype dtype,
                                              int64_t count, const void *from, double *to)
{
    if (count == 0)
        return KITH_OK;
    return dtype == KITH_F64 ? launch<double>(context, count, from, to)
                             : launch<float>(context, count, from, to);
}

extern "C" kith_status cuda_check_architecture(int device, bool *overlaps)
{
    struct cudaFuncAttributes attributes = {};
    char what[64];
    snprintf(what, sizeof what, "loading kith's code on cuda:%d", device);
    KITH_TRY(cuda_check(cudaFuncGetAttributes(&attributes, convert<float>), what));
    *overlaps = attributes.ptxVersion >= 90;
    return KITH_OK;
}
