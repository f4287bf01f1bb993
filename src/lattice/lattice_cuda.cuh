#ifndef COLLISIONS_LATTICE_CUDA_CUH
#define COLLISIONS_LATTICE_CUDA_CUH

/* Beads on the device: the box of their sites, found and used there so that nothing waits for it,
 * and keys of sites. */

#include <cuda_runtime.h>
#include <stdint.h>

#include "device/overlap.cuh"
#include "device/warp.cuh"
#include "lattice/problem.h"

/* What the kernels of one count share, in the device's memory. */
struct counting {
    long long low[3], high[3];
    unsigned long long collisions;
    unsigned int gave_up; /* a kernel does not support the case: the table's kernel counts */
    unsigned int missed;  /* a bead is outside of what the extent was guessed to be */
    unsigned int near;    /* of begin_block beads, if they were inspected: the next one is near */
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
    int bits[3], shift[3], total_bits; /* more than 64: too many for keys */
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

/* For sites anywhere: two sites may have the same. */
__device__ __forceinline__ uint64_t hash_of(const struct site &site)
{
    return mix((uint64_t)site.x[0] + 0x9e3779b97f4a7c15 * (uint64_t)site.x[1] +
               0xc2b2ae3d27d4eb4f * (uint64_t)site.x[2]);
}

/* Two beads: at most 2 from each other in each coordinate. */
__device__ __forceinline__ bool is_near(const struct site &a, const struct site &b)
{
    bool near = true;
    for (int c = 0; c < 3; c++)
        near &= (uint64_t)a.x[c] - (uint64_t)b.x[c] + 2 <= 4;
    return near;
}

enum { begin_block = 1024 };

/* Also zeroes count numbers, and inspects some beads if requested. One block. Again: only if
 * the extent was guessed wrongly. */
template <typename coordinate>
__global__ void __launch_bounds__(begin_block)
    begin_counting(const struct collisions_problem problem, struct counting *counting,
                   unsigned *zeros, int64_t count, bool looks, bool is_again)
{
    wait_for_kernel_before();
    if (is_again && !counting->missed)
        return;
    bool near = false;
    if (looks) {
        const int64_t i = threadIdx.x * ((problem.count - 1) / begin_block);
        near = is_near(load_site<coordinate>(problem, i), load_site<coordinate>(problem, i + 1));
    }
    for (int64_t k = threadIdx.x; k < count; k += begin_block)
        zeros[k] = 0;
    const int all_near = __syncthreads_count(near);
    if (threadIdx.x < 3) {
        counting->low[threadIdx.x] = INT64_MAX;
        counting->high[threadIdx.x] = INT64_MIN;
    }
    if (threadIdx.x == 0) {
        counting->collisions = 0;
        counting->gave_up = 0;
        counting->missed = is_again;
        if (!is_again)
            counting->near = (unsigned)all_near;
    }
}

template <typename coordinate>
__global__ void __launch_bounds__(lattice_block)
    find_extent(const struct collisions_problem problem, struct counting *counting, bool is_again)
{
    wait_for_kernel_before();
    if (is_again && !counting->missed)
        return;
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
        low[c] = warp_least(low[c]);
        high[c] = warp_least(high[c]);
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
    mine = warp_sum(mine);
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

/* At most as many blocks as are resident on the device. */
static inline unsigned lattice_blocks(int multiprocessors, int64_t count, int64_t per_block)
{
    const int64_t needed = (count + per_block - 1) / per_block;
    const int64_t most = (int64_t)multiprocessors * lattice_blocks_per_multiprocessor;
    return (unsigned)(needed < most ? (needed > 0 ? needed : 1) : most);
}

/* Starts a count: *counting afterwards has the extent of the beads, or of one in `sampled` of them.
 * Also zeroes count numbers. Again: only if the extent was guessed wrongly. */
static inline kith_status start_counting(kith_context *context,
                                         const struct collisions_problem &problem,
                                         struct counting *counting, int sampled = 1,
                                         unsigned *zeros = NULL, int64_t count = 0,
                                         bool is_again = false)
{
    const bool is_32 = problem.dtype == KITH_I32;
    struct collisions_problem sample = problem;
    sample.count = (problem.count + sampled - 1) / sampled;
    sample.row_stride *= sampled;
    KITH_TRY(launch_overlapped(context, "beginning a count", 1, begin_block,
                               is_32 ? begin_counting<int32_t> : begin_counting<int64_t>, problem,
                               counting, zeros, count, sampled > 1, is_again));
    const unsigned blocks =
        lattice_blocks(cuda_multiprocessors(context), sample.count, lattice_block * 4);
    return launch_overlapped(context, "finding the extent of the beads", blocks, lattice_block,
                             is_32 ? find_extent<int32_t> : find_extent<int64_t>, sample, counting,
                             is_again);
}

#endif
