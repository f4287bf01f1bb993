#ifndef PAIRS_WARP_SORT_CUDA_CUH
#define PAIRS_WARP_SORT_CUDA_CUH

/* Batcher's bitonic sort of 32·K keys in the registers of a warp (Batcher 1968). Key number
 * K·lane + k is register k of its lane: short distances need no shuffle. */

#include <stdint.h>

template <typename key_type>
static __device__ __forceinline__ key_type lesser(key_type a, key_type b, bool lesser)
{
    return (a < b) == lesser ? a : b;
}

/* Compares keys `distance` apart within blocks of `size`, which go up and down in turn. */
template <int K, int size, int distance, typename key_type>
static __device__ __forceinline__ void exchange(key_type (&key)[K])
{
    const uint32_t lane = threadIdx.x % 32;
    if constexpr (distance >= K) {
        const bool up = size == 32 * K || (lane * K & size) == 0;
        const bool first = (lane & distance / K) == 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const key_type other = __shfl_xor_sync(0xffffffff, key[k], distance / K);
            key[k] = lesser(key[k], other, first == up);
        }
    } else {
#pragma unroll
        for (int k = 0; k < K; k++)
            if ((k & distance) == 0) {
                const bool up =
                    size < K ? (k & size) == 0 : size == 32 * K || (lane * K & size) == 0;
                const key_type a = key[k], b = key[k | distance];
                key[k] = lesser(a, b, up);
                key[k | distance] = lesser(a, b, !up);
            }
    }
    if constexpr (distance > 1)
        exchange<K, size, distance / 2>(key);
}

template <int K, int size, typename key_type>
static __device__ __forceinline__ void bitonic_sort(key_type (&key)[K])
{
    if constexpr (size > 2)
        bitonic_sort<K, size / 2>(key);
    exchange<K, size, size / 2>(key);
}

/* Sorts count ≤ 32·K keys in shared memory with room for 32·K. */
template <int K, typename key_type>
static __device__ __forceinline__ void sort_keys(key_type *keys, uint32_t count)
{
    const uint32_t lane = threadIdx.x % 32;
    key_type key[K];
#pragma unroll
    for (uint32_t k = 0; k < K; k++)
        key[k] = lane * K + k < count ? keys[lane * K + k] : (key_type) ~(key_type)0;
    __syncwarp();
    bitonic_sort<K, 32 * K>(key);
#pragma unroll
    for (uint32_t k = 0; k < K; k++)
        keys[lane * K + k] = key[k];
    __syncwarp();
}

/* The same for any count up to 512, with room for the next power of two, 32 at least. */
template <typename key_type>
static __device__ __forceinline__ void sort_row(key_type *keys, uint32_t count)
{
    if (count <= 32)
        sort_keys<1>(keys, count);
    else if (count <= 64)
        sort_keys<2>(keys, count);
    else if (count <= 128)
        sort_keys<4>(keys, count);
    else if (count <= 256)
        sort_keys<8>(keys, count);
    else
        sort_keys<16>(keys, count);
}

#endif
