#ifndef COLLISIONS_LATTICE_CUDA_CUH
#define COLLISIONS_LATTICE_CUDA_CUH

/* Beads on the device: the box of their sites, found and used there so that nothing waits for it,
 * and keys of sites. */

#include <cuda_runtime.h>
#include <stdint.h>

#include "collisions/problem.h"

/* What the kernels of one count share, in the device's memory. */
struct counting {
    long long low[3], high[3];
    unsigned long long collisions;
    unsigned int gave_up; /* a kernel met what it is not made for: the table's kernel counts */
};

enum { lattice_block = 256, lattice_blocks_per_multiprocessor = 8 };

/* One bead, of the type that the array has. */
struct site {
    int64_t x[3];
};

template <typename coordinate>
__device__ __forceinline__ struct site load_site(const struct collisions_problem &problem,
                                                 int64_t i)
{
    const coordinate *row = (const coordinate *)problem.beads + i * problem.row_stride;
    struct site site;
    site.x[0] = row[0];
    site.x[1] = row[problem.column_stride];
    site.x[2] = problem.dimensions == 3 ? row[2 * problem.column_stride] : 0;
    return site;
}

__device__ __forceinline__ bool is_same(const struct site &a, const struct site &b)
{
    return a.x[0] == b.x[0] && a.x[1] == b.x[1] && a.x[2] == b.x[2];
}

/* As collisions_box of box.h, without its margins. */
struct device_box {
    int64_t low[3];
    int bits[3], shift[3], total_bits; /* more than 64: there are no keys */
};

__device__ __forceinline__ struct device_box box_of(const struct counting *counting)
{
    struct device_box box;
    box.total_bits = 0;
    for (int c = 0; c < 3; c++) {
        const uint64_t range = (uint64_t)counting->high[c] - (uint64_t)counting->low[c];
        box.low[c] = counting->low[c];
        box.shift[c] = box.total_bits < 64 ? box.total_bits : 0;
        box.bits[c] = 64 - __clzll((long long)range);
        box.total_bits += box.bits[c];
    }
    return box;
}

__device__ __forceinline__ uint64_t key_of(const struct device_box &box, const struct site &site)
{
    uint64_t key = 0;
    for (int c = 0; c < 3; c++)
        key |= ((uint64_t)site.x[c] - (uint64_t)box.low[c]) << box.shift[c];
    return key;
}

/* The same bits for the same key, others for another one, all of them mixed; see box.h. */
__device__ __forceinline__ uint64_t mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccd;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53;
    return key ^ key >> 33;
}

/* For sites anywhere: another one may have the same. */
__device__ __forceinline__ uint64_t hash_of(const struct site &site)
{
    return mix((uint64_t)site.x[0] + 0x9e3779b97f4a7c15 * (uint64_t)site.x[1] +
               0xc2b2ae3d27d4eb4f * (uint64_t)site.x[2]);
}

static __global__ void begin_counting(struct counting *counting)
{
    if (threadIdx.x < 3) {
        counting->low[threadIdx.x] = INT64_MAX;
        counting->high[threadIdx.x] = INT64_MIN;
    }
    counting->collisions = 0;
    counting->gave_up = 0;
}

template <typename number> __device__ __forceinline__ number lowest_of_warp(number x)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        const number other = __shfl_xor_sync(0xffffffff, x, distance);
        x = other < x ? other : x;
    }
    return x;
}

template <typename coordinate>
__global__ void __launch_bounds__(lattice_block)
    find_extent(const struct collisions_problem problem, struct counting *counting)
{
    coordinate low[3], high[3]; /* of −x */
    for (int c = 0; c < 3; c++)
        low[c] = high[c] = (coordinate)(sizeof(coordinate) == 4 ? INT32_MAX : INT64_MAX);
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < problem.count; i += step) {
        const struct site site = load_site<coordinate>(problem, i);
        for (int c = 0; c < 3; c++) { /* ~x = −x − 1, which always fits */
            low[c] = min(low[c], (coordinate)site.x[c]);
            high[c] = min(high[c], (coordinate)~site.x[c]);
        }
    }
    __shared__ coordinate of_warps[lattice_block / 32][6];
    for (int c = 0; c < 3; c++) {
        low[c] = lowest_of_warp(low[c]);
        high[c] = lowest_of_warp(high[c]);
        of_warps[threadIdx.x / 32][c] = low[c];
        of_warps[threadIdx.x / 32][3 + c] = high[c];
    }
    __syncthreads();
    if (threadIdx.x < 6) {
        coordinate lowest = of_warps[0][threadIdx.x];
        for (int w = 1; w < lattice_block / 32; w++)
            lowest = min(lowest, of_warps[w][threadIdx.x]);
        if (threadIdx.x < 3)
            atomicMin(&counting->low[threadIdx.x], (long long)lowest);
        else
            atomicMax(&counting->high[threadIdx.x - 3], ~(long long)lowest);
    }
}

/* Adds the sum over the block, shifted right, to the count. Every thread of the block must call. */
__device__ __forceinline__ void add_of_block(unsigned long long mine, struct counting *counting,
                                             int shift = 0)
{
    __shared__ unsigned long long of_warps[32];
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(0xffffffff, mine, distance);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; w++)
            mine += of_warps[w];
        if (mine > 0)
            atomicAdd(&counting->collisions, mine >> shift);
    }
}

/* As many blocks as the device holds at once, or fewer. */
static inline unsigned lattice_blocks(int multiprocessors, int64_t count, int64_t per_block)
{
    const int64_t needed = (count + per_block - 1) / per_block;
    const int64_t most = (int64_t)multiprocessors * lattice_blocks_per_multiprocessor;
    return (unsigned)(needed < most ? (needed > 0 ? needed : 1) : most);
}

/* Starts a count: *counting afterwards has the extent of the beads. */
static inline void start_counting(cudaStream_t stream, int multiprocessors,
                                  const struct collisions_problem &problem,
                                  struct counting *counting)
{
    begin_counting<<<1, 32, 0, stream>>>(counting);
    const unsigned blocks = lattice_blocks(multiprocessors, problem.count, lattice_block * 4);
    if (problem.dtype == KITH_I32)
        find_extent<int32_t><<<blocks, lattice_block, 0, stream>>>(problem, counting);
    else
        find_extent<int64_t><<<blocks, lattice_block, 0, stream>>>(problem, counting);
}

#endif
