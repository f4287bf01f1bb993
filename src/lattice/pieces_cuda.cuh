#ifndef COLLISIONS_PIECES_CUDA_CUH
#define COLLISIONS_PIECES_CUDA_CUH

/* The pieces of a partition, counted one by one in shared memory: with a counter for every site
 * that a piece may have, if there are few, else in a table with open addressing. */

#include "device/architecture.cuh"
#include "device/overlap.cuh"
#include "lattice/blocks_cuda.cuh"

/* Threads of a block, and blocks of a multiprocessor, where it has registers for them. */
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
enum { piece_threads = 1024, piece_blocks = 2 };
#else
enum { piece_threads = 1024, piece_blocks = 1 };
#endif

__device__ __forceinline__ void fill_shared(void *memory, int bytes, unsigned value)
{
    for (int k = threadIdx.x; k < bytes / 16; k += piece_threads)
        ((uint4 *)memory)[k] = make_uint4(value, value, value, value);
}

/* A byte a site. False if there are more beads at one site than it can count. Every thread of the
 * block must call, and gets the number of its own. */
__device__ __forceinline__ bool count_in_bytes(const uint32_t *keys, unsigned count, int sites,
                                               unsigned *bytes, unsigned *collisions)
{
    bool is_full = false;
    fill_shared(bytes, sites, 0);
    __syncthreads();
#pragma unroll 4
    for (unsigned k = threadIdx.x; k < count; k += piece_threads) {
        const uint32_t key = keys[k];
        const unsigned shift = key % 4 * 8;
        const unsigned before = atomicAdd(&bytes[key / 4], 1u << shift) >> shift & 0xff;
        *collisions += before;
        is_full |= before == 0xff;
    }
    return !__syncthreads_or(is_full);
}

__device__ __forceinline__ unsigned home_of(uint32_t key)
{
    key *= 0x9e3779b1;
    return key ^ key >> 15;
}

/* Counters of 16 bits, two to a word, of a key less than there are. */
__device__ __forceinline__ unsigned count_at(unsigned *times, unsigned at)
{
    const unsigned shift = at % 2 * 16;
    return atomicAdd(&times[at / 2], 1u << shift) >> shift & 0xffff;
}

/* In a table of 6 bytes per slot. A key is put where it belongs without looking first, and the
 * first at a site is not counted. The keys of 10^8 beads of a walk take 0.56 ms on an H200, looking
 * first 0.92; each put there by an exchange and inspected after all are there 0.59; four keys read
 * together 1.07. */
__device__ __forceinline__ unsigned count_in_table_of_block(const uint32_t *keys, unsigned count,
                                                            int slots, uint32_t *slot)
{
    const unsigned mask = (unsigned)slots - 1, none = ~0u;
    unsigned *const times = slot + slots;
    unsigned collisions = 0;
    fill_shared(slot, slots * (int)sizeof *slot, none);
    fill_shared(times, slots * (int)sizeof(uint16_t), 0);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < count; k += piece_threads) {
        const uint32_t key = keys[k];
        unsigned at = home_of(key) & mask;
        uint32_t there = atomicCAS(&slot[at], none, key);
        while (there != none && there != key) {
            at = (at + 1) & mask;
            there = atomicCAS(&slot[at], none, key);
        }
        if (there != none)
            collisions += count_at(times, at) + 1;
    }
    return collisions;
}

static __global__ void __launch_bounds__(piece_threads, piece_blocks)
    count_pieces(const struct collisions_problem problem, struct counting *counting,
                 const struct partition_plan plan, const unsigned *filled, const void *all_keys)
{
    extern __shared__ uint4 table_of_block[];
    wait_for_kernel_before();
    const struct block_box box = block_box_for_all(counting, problem, plan);
    if (counting->gave_up || !box.is_short)
        return;
    const int most_sites = plan.slots * (int)(sizeof(uint32_t) + sizeof(uint16_t));
    const bool in_bytes = box.rests << site_bits <= (uint64_t)most_sites;
    unsigned long long collisions = 0;
    for (int piece = blockIdx.x; piece < plan.pieces; piece += gridDim.x) {
        const uint32_t *keys = (const uint32_t *)all_keys + (unsigned)piece * plan.capacity;
        unsigned mine = 0;
        if (!in_bytes || !count_in_bytes(keys, filled[piece], (int)box.rests << site_bits,
                                         (unsigned *)table_of_block, &mine)) {
            mine = count_in_table_of_block(keys, filled[piece], plan.slots,
                                           (uint32_t *)table_of_block);
            __syncthreads();
        }
        collisions += mine;
    }
    add_of_block(collisions, counting);
}

/* In a table of 12 bytes per slot. */
__device__ __forceinline__ unsigned count_long_keys(const unsigned long long *keys, unsigned count,
                                                    int slots, unsigned long long *slot)
{
    const unsigned mask = (unsigned)slots - 1;
    const unsigned long long none = ~0ull;
    unsigned *const times = (unsigned *)(slot + slots);
    unsigned collisions = 0;
    fill_shared(slot, slots * (int)sizeof *slot, ~0u);
    fill_shared(times, slots * (int)sizeof *times, 0);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < count; k += piece_threads) {
        const unsigned long long key = keys[k];
        unsigned at = (unsigned)mix(key) & mask;
        unsigned long long there = atomicCAS(&slot[at], none, key);
        while (there != none && there != key) {
            at = (at + 1) & mask;
            there = atomicCAS(&slot[at], none, key);
        }
        collisions += atomicAdd(&times[at], 1u);
    }
    return collisions;
}

/* What count_pieces does not do: long keys. If the partition gave up, clears a table. */
static __global__ void __launch_bounds__(piece_threads)
    count_long_pieces(const struct collisions_problem problem, struct counting *counting,
                      const struct partition_plan plan, const unsigned *filled, void *all_keys,
                      int64_t table_slots)
{
    extern __shared__ uint4 table_of_long[];
    wait_for_kernel_before();
    if (counting->gave_up) {
        clear_slots((struct table_slot *)all_keys, table_slots);
        return;
    }
    const struct block_box box = block_box_for_all(counting, problem, plan);
    if (box.is_short)
        return;
    unsigned long long collisions = 0;
    for (int piece = blockIdx.x; piece < plan.pieces; piece += gridDim.x) {
        collisions +=
            count_long_keys((const unsigned long long *)all_keys + (unsigned)piece * plan.capacity,
                            filled[piece], plan.slots, (unsigned long long *)table_of_long);
        __syncthreads();
    }
    add_of_block(collisions, counting);
}

#endif
