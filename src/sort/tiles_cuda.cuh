#ifndef SORT_TILES_CUDA_CUH
#define SORT_TILES_CUDA_CUH

/* What kernels have in common in which a block meets partners of a tile of sorted points (curve.h).
 */

#include <stdint.h>

/* Among how many blocks the partners of a tile are divided, of which there are `most`: enough that
 * the device is busy to the end, although some tiles have more partners. */
inline int tile_shares(int64_t tiles, int64_t most)
{
    const int64_t blocks = 4096, wanted = (blocks + tiles - 1) / tiles;
    const int64_t shares = wanted < most ? wanted : most;
    return (int)(shares < 1 ? 1 : shares);
}

/* The place of a thread's tile in the block's list of those that are wanted, in the order of the
 * threads, and the list's length. For all threads of a block of `warps` warps, which then wait for
 * each other before they read the list. */
template <int warps>
__device__ inline int tile_place(bool wanted, int (&counts)[warps], int *length)
{
    const unsigned ballot = __ballot_sync(0xffffffff, wanted);
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    int before = 0, all = 0;
    __syncthreads();
    if (lane == 0)
        counts[w] = __popc(ballot);
    __syncthreads();
    for (int other = 0; other < warps; other++) {
        before += other < w ? counts[other] : 0;
        all += counts[other];
    }
    *length = all;
    return before + __popc(ballot & ((1u << lane) - 1));
}

#endif
