#ifndef DEVICE_TENSOR_CORES_CUDA_H
#define DEVICE_TENSOR_CORES_CUDA_H

#include "device/cuda.h"

/* Whether the current device has the matrix products that kernels of kith use: of halves and of
 * bytes, from compute capability 8.0 on. */
static inline bool cuda_has_tensor_cores(void)
{
    int device = 0, major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           major >= 8;
}

#endif
