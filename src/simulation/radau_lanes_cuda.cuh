#ifndef SIMULATION_RADAU_LANES_CUDA_CUH
#define SIMULATION_RADAU_LANES_CUDA_CUH

/* What the threads of a system agree on, a power of two of neighbors in a warp. Included by
 * radau_step.h.
 *
 * Systems of a warp have iterations and steps of their own: a thread waits for those of its system
 * alone. */

SIMD_INLINE unsigned radau_mask(const struct attempt *at)
{
    const unsigned lane = threadIdx.x % 32;
    return at->threads == 32 ? 0xffffffffu
                             : ((1u << at->threads) - 1) << (lane & ~((unsigned)at->threads - 1));
}

SIMD_INLINE double radau_of_thread(const struct attempt *at, double a, int32_t thread)
{
    return __shfl_sync(radau_mask(at), a, thread, at->threads);
}

/* The same in all threads, NaN too. */
SIMD_INLINE double largest_lane(const struct attempt *at, vdouble a)
{
    for (int32_t d = at->threads / 2; d > 0; d /= 2) {
        const double other = __shfl_xor_sync(radau_mask(at), a, d, at->threads);
        a = other > a ? other : a;
    }
    return radau_of_thread(at, a, 0);
}

SIMD_INLINE double least_lane(const struct attempt *at, vdouble a)
{
    for (int32_t d = at->threads / 2; d > 0; d /= 2) {
        const double other = __shfl_xor_sync(radau_mask(at), a, d, at->threads);
        a = other < a ? other : a;
    }
    return radau_of_thread(at, a, 0);
}

SIMD_INLINE void largest_of_ranks(const struct attempt *at, double *values, int32_t count)
{
    (void)at;
    (void)values;
    (void)count;
}

#endif
