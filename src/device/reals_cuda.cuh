#ifndef DEVICE_REALS_CUDA_CUH
#define DEVICE_REALS_CUDA_CUH

/* Four numbers of a precision, read and written as one vector. */

#include <cuda_runtime.h>

template <typename real> struct alignas(16) real4_of {
    real x, y, z, w;
};

#endif
