#ifndef MESH_NUMBERS_CUDA_CUH
#define MESH_NUMBERS_CUDA_CUH

#include <stdint.h>

/* Kernels with a thread per number. */
enum { threads = 256 };

static inline unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static __device__ inline int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

#endif
