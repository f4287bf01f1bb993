#ifndef MATRIX_STORE_CUDA_CUH
#define MATRIX_STORE_CUDA_CUH

#include "matrix/matrix_cuda.cuh"

/* Stores 16 bytes that are not read soon. */
static __device__ __forceinline__ void matrix_store_float(float *to, const float *value)
{
    __stcs((float4 *)to, make_float4(value[0], value[1], value[2], value[3]));
}

static __device__ __forceinline__ void matrix_store_double(double *to, const double *value)
{
    __stcs((double2 *)to, make_double2(value[0], value[1]));
}

#endif
