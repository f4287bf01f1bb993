#ifndef MESH_SUM_CUDA_CUH
#define MESH_SUM_CUDA_CUH

/* Sums of the threads of a block in one order. */

template <typename real> __device__ inline real sum_of_lanes(real sum, int lanes)
{
    for (int half = lanes / 2; half > 0; half /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, half, lanes);
    return sum;
}

/* In thread 0; all threads call it. */
template <int threads> __device__ inline double sum_of_block(double sum)
{
    __shared__ double of_warp[threads / 32];
    sum = sum_of_lanes(sum, 32);
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
