#ifndef DEVICE_WARP_CUH
#define DEVICE_WARP_CUH

/* Sums and extremes of the 32 lanes of a warp, by all of them. Each lane gets the result, but for
 * warp_sum_to.
 *
 * Bits: numbers meet in halves, those of the farthest lanes first. */

#include <type_traits>

#include "device/architecture_80.cuh"

constexpr unsigned whole_warp = 0xffffffffu;

/* Whether the hardware has an instruction for these. */
#if __CUDA_ARCH__ >= 800
template <typename number>
constexpr bool warp_reduces = std::is_same_v<number, int> || std::is_same_v<number, unsigned>;
#else
template <typename number> constexpr bool warp_reduces = false;
#endif

/* Of each group of `lanes` lanes, a power of two, which all lanes of the warp name. */
template <typename number> __device__ __forceinline__ number warp_sum(number x, int lanes)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(whole_warp, x, distance);
    return x;
}

template <typename number> __device__ __forceinline__ number warp_sum(number x)
{
    if constexpr (warp_reduces<number>)
        return __reduce_add_sync(whole_warp, x);
    else
        return warp_sum(x, 32);
}

template <typename number> __device__ __forceinline__ number warp_least(number x)
{
    if constexpr (warp_reduces<number>) {
        return __reduce_min_sync(whole_warp, x);
    } else {
        for (int distance = 16; distance > 0; distance /= 2)
            x = min(x, __shfl_xor_sync(whole_warp, x, distance));
        return x;
    }
}

template <typename number> __device__ __forceinline__ number warp_largest(number x)
{
    if constexpr (warp_reduces<number>) {
        return __reduce_max_sync(whole_warp, x);
    } else {
        for (int distance = 16; distance > 0; distance /= 2)
            x = max(x, __shfl_xor_sync(whole_warp, x, distance));
        return x;
    }
}

/* The sum of the lanes up to this one. */
template <typename number> __device__ __forceinline__ number warp_sum_to(number x)
{
    const unsigned lane = threadIdx.x % 32;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const number other = __shfl_up_sync(whole_warp, x, distance);
        x += lane >= distance ? other : (number)0;
    }
    return x;
}

#endif
