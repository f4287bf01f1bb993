/* A thread has one target; a block brings a tile of as many sources as it has threads to shared
 * memory, evaluates all of them, and continues with the next.
 *
 * The fastest of those tried on an H200 (nvcc 13.0), Tflop/s at N = 4096, 16 384, 65 536, 262 144:
 * as printed in the book 3.6, 14.5, 31.0, 32.2; with -ftz=true 4.4, 17.8, 35.4, 37.1; with s² of
 * three multiply-adds too, as here, 4.7, 18.9, 38.8, 40.3. The block's size as a constant of the
 * compiler's, and loops unrolled 1, 4, 8, 16 or 64 times, are slower or the same. */

#include "gems_forces.h"

#include "device/cuda.h"

template <typename real> struct alignas(16) gems_body {
    real x, y, z, mass;
};

/* rsqrtf as compiled with -ftz=true: otherwise it takes more instructions, for denormal arguments.
 */
static __device__ inline float reciprocal_root(float a)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

static __device__ inline double reciprocal_root(double a)
{
    return rsqrt(a);
}

/* source by value: the compiler then reads it from shared memory immediately. */
template <typename real>
static __device__ inline void interact(const gems_body<real> &target, gems_body<real> source,
                                       real softening2, real (&acceleration)[3])
{
    const real dx = source.x - target.x, dy = source.y - target.y, dz = source.z - target.z;
    const real s = reciprocal_root(fma(dx, dx, fma(dy, dy, fma(dz, dz, softening2))));
    const real m_over_s3 = source.mass * (s * s * s);
    acceleration[0] += m_over_s3 * dx;
    acceleration[1] += m_over_s3 * dy;
    acceleration[2] += m_over_s3 * dz;
}

template <typename real>
static __global__ void __launch_bounds__(gems_most_threads)
    gems_kernel(const gems_body<real> *__restrict__ bodies, int count, real softening2,
                gems_body<real> *__restrict__ result)
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
            interact(target, tile[j], softening2, acceleration);
        __syncthreads();
    }
    result[i] = {acceleration[0], acceleration[1], acceleration[2], 0};
}

template <typename real>
static kith_status launch(cudaStream_t stream, int64_t count, int32_t threads, double softening,
                          const void *bodies, void *result)
{
    const size_t tile_bytes = (size_t)threads * sizeof(gems_body<real>);
    gems_kernel<real><<<(unsigned)(count / threads), (unsigned)threads, tile_bytes, stream>>>(
        (const gems_body<real> *)bodies, (int)count, (real)(softening * softening),
        (gems_body<real> *)result);
    return cuda_check_launch("starting the GPU Gems kernel");
}

kith_status gems_forces(kith_context *context, kith_dtype dtype, int64_t count, int32_t threads,
                        double softening, const void *bodies, void *result)
{
    cudaStream_t stream = cuda_stream(context);
    return dtype == KITH_F64 ? launch<double>(stream, count, threads, softening, bodies, result)
                             : launch<float>(stream, count, threads, softening, bodies, result);
}
