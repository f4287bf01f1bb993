#ifndef DEVICE_OVERLAP_CUH
#define DEVICE_OVERLAP_CUH

/* Kernels that begin while the one before on the stream still runs, where the device can
 * (programmatic dependent launch, compute capability 9.0 on): their blocks are in place when it
 * ends. It saves 1 to 2 µs a kernel. */

#include "device/architecture_90.cuh"
#include "device/cuda.h"

/* In a kernel started by launch_overlapped, before its first access to memory. By then all that was
 * on the stream before is finished and to be seen; the next kernel may take its place and wait. A
 * kernel may access memory earlier where the one before was not started by launch_overlapped, so
 * that what is written before that one is finished (tensor_far_cuda.cu). */
__device__ inline void wait_for_kernel_before()
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
}

/* In a kernel whose results the next one on the stream, started by launch_overlapped, does not
 * read: its blocks begin as soon as there is room for them. It waits, by wait_for_kernel_before,
 * before it ends. */
__device__ inline void let_next_kernel_begin()
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* kernel<<<grid, threads, shared>>>(arguments…) on a stream of the context's device; what is for
 * the message, "starting the kernel of …". The kernel calls wait_for_kernel_before. */
template <typename... parameters, typename... arguments>
kith_status launch_overlapped_on(kith_context *context, cudaStream_t stream, const char *what,
                                 dim3 grid, int threads, size_t shared,
                                 void (*kernel)(parameters...), const arguments &...values)
{
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &overlap;
    config.numAttrs = cuda_overlaps(context) ? 1 : 0;
    return cuda_check(cudaLaunchKernelEx(&config, kernel, values...), what);
}

/* The same on the context's stream. */
template <typename... parameters, typename... arguments>
kith_status launch_overlapped(kith_context *context, const char *what, dim3 grid, int threads,
                              size_t shared, void (*kernel)(parameters...),
                              const arguments &...values)
{
    return launch_overlapped_on(context, cuda_stream(context), what, grid, threads, shared, kernel,
                                values...);
}

template <typename... parameters, typename... arguments>
kith_status launch_overlapped(kith_context *context, const char *what, dim3 grid, int threads,
                              void (*kernel)(parameters...), const arguments &...values)
{
    return launch_overlapped(context, what, grid, threads, (size_t)0, kernel, values...);
}

#endif
