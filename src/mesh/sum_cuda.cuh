#ifndef MESH_SUM_CUDA_CUH
#define MESH_SUM_CUDA_CUH

/* Sums of the threads of a block in one order. */

#include "device/warp.cuh"

/* In thread 0; all threads call it. */
template <int threads> __device__ inline double sum_of_block(double sum)
{
    __shared__ double of_warp[threads / 32];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    double all = 0;
    for (int warp = 0; warp < threads / 32 && threadIdx.x == 0; warp++)
        all += of_warp[warp];
    __syncthreads();
    return all;
}

#endif
