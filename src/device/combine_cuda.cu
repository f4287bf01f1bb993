/* out = Σ factor·in, and to += lost + Σ factor·in (device/services.h): each product and each sum is
 * rounded by itself, in the CPU's order: the bits are the same there. Limited by memory: a word
 * read for each input and one written, and of sums to which is added two of each. */

#include "device/combine.h"
#include "device/overlap.cuh"

enum { threads_per_block = 256, blocks_per_multiprocessor = 8 };

template <typename real> struct combination {
    real factor[4];
    const real *in[4];
    real *out, *lost; /* lost: only of accumulate */
    int64_t count;
};

static __device__ float times(float a, float b)
{
    return __fmul_rn(a, b);
}

static __device__ double times(double a, double b)
{
    return __dmul_rn(a, b);
}

static __device__ float plus(float a, float b)
{
    return __fadd_rn(a, b);
}

static __device__ double plus(double a, double b)
{
    return __dadd_rn(a, b);
}

template <typename real, int terms>
static __device__ real sum_of_terms(const combination<real> &sum, int64_t i)
{
    real value = times(sum.factor[0], sum.in[0][i]);
#pragma unroll
    for (int k = 1; k < terms; k++)
        value = plus(value, times(sum.factor[k], sum.in[k][i]));
    return value;
}

template <typename real, int terms> static __global__ void combine(const combination<real> sum)
{
    wait_for_kernel_before();
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < sum.count; i += step)
        sum.out[i] = sum_of_terms<real, terms>(sum, i);
}

/* Kahan 1965, Commun. ACM 8, 40. */
template <typename real, int terms> static __global__ void accumulate(const combination<real> sum)
{
    wait_for_kernel_before();
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < sum.count; i += step) {
        const real before = sum.out[i];
        const real change = plus(sum_of_terms<real, terms>(sum, i), sum.lost[i]);
        const real after = plus(before, change);
        sum.lost[i] = plus(change, -plus(after, -before));
        sum.out[i] = after;
    }
}

static int blocks_for(kith_context *context, int64_t count)
{
    const int64_t needed = (count + threads_per_block - 1) / threads_per_block;
    const int64_t most = (int64_t)cuda_multiprocessors(context) * blocks_per_multiprocessor;
    return (int)(needed < most ? needed : most);
}

template <typename real>
static kith_status launch(kith_context *context, int64_t count, int32_t terms, const double *factor,
                          const void *const *in, void *out, void *lost)
{
    combination<real> sum = {};
    for (int32_t k = 0; k < 4; k++) {
        sum.factor[k] = k < terms ? (real)factor[k] : (real)0;
        sum.in[k] = (const real *)in[k < terms ? k : 0];
    }
    sum.out = (real *)out;
    sum.lost = (real *)lost;
    sum.count = count;

    void (*const kernel)(const combination<real>) =
        lost         ? (terms == 1 ? accumulate<real, 1> : accumulate<real, 4>)
        : terms == 2 ? combine<real, 2>
                     : combine<real, 4>;
    return launch_overlapped(context, "combining arrays", dim3(blocks_for(context, count)),
                             threads_per_block, kernel, sum);
}

extern "C" kith_status combine_cuda(kith_context *context, kith_dtype dtype, int64_t count,
                                    int32_t terms, const double *factor, const void *const *in,
                                    void *out)
{
    if (count == 0)
        return KITH_OK;
    return dtype == KITH_F64 ? launch<double>(context, count, terms, factor, in, out, nullptr)
                             : launch<float>(context, count, terms, factor, in, out, nullptr);
}

extern "C" kith_status accumulate_cuda(kith_context *context, kith_dtype dtype, int64_t count,
                                       int32_t terms, const double *factor, const void *const *in,
                                       void *to, void *lost)
{
    if (count == 0)
        return KITH_OK;
    return dtype == KITH_F64 ? launch<double>(context, count, terms, factor, in, to, lost)
                             : launch<float>(context, count, terms, factor, in, to, lost);
}
