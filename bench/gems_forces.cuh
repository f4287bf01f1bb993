#ifndef BENCH_GEMS_FORCES_CUH
#define BENCH_GEMS_FORCES_CUH

/* The baseline: all-pairs forces as in GPU Gems 3, chapter 31 (Nyland, Harris and Prins 2007). A
 * thread has one target; a block brings a tile of as many sources as it has threads to shared
 * memory, meets them all, and goes on to the next. */

template <typename real> struct gems_body {
    real x, y, z, mass;
};

__device__ inline float gems_rsqrt(float a)
{
    return rsqrtf(a);
}

__device__ inline double gems_rsqrt(double a)
{
    return rsqrt(a);
}

template <typename real>
__device__ inline void gems_interact(const gems_body<real> &target, const gems_body<real> &source,
                                     real softening2, real (&acceleration)[3])
{
    const real dx = source.x - target.x, dy = source.y - target.y, dz = source.z - target.z;
    const real s = gems_rsqrt(dx * dx + dy * dy + dz * dz + softening2);
    const real m_over_s3 = source.mass * s * s * s;
    acceleration[0] += m_over_s3 * dx;
    acceleration[1] += m_over_s3 * dy;
    acceleration[2] += m_over_s3 * dz;
}

/* count is a multiple of the block's threads. */
template <typename real>
__global__ void gems_forces(const gems_body<real> *bodies, int count, real softening2,
                            gems_body<real> *result)
{
    extern __shared__ char shared[];
    gems_body<real> *tile = (gems_body<real> *)shared;
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const gems_body<real> target = bodies[i];
    real acceleration[3] = {};
    for (int begin = 0; begin < count; begin += (int)blockDim.x) {
        tile[threadIdx.x] = bodies[begin + threadIdx.x];
        __syncthreads();
#pragma unroll 32
        for (int j = 0; j < (int)blockDim.x; j++)
            gems_interact(target, tile[j], softening2, acceleration);
        __syncthreads();
    }
    result[i] = {acceleration[0], acceleration[1], acceleration[2], 0};
}

#endif
