#ifndef COLLISIONS_TABLE_CUDA_CUH
#define COLLISIONS_TABLE_CUDA_CUH

/* The linear method on the device: a counter per site, in an array if the box has few sites,
 * else in a table with open addressing whose slots name a bead at their site: so it serves
 * coordinates of any size. */

#include "lattice/lattice_cuda.cuh"

/* Sites of the box; 0 if there are 2^62 or more. */
__device__ __forceinline__ uint64_t sites_of(const struct counting *counting)
{
    uint64_t sites = 1;
    for (int c = 0; c < 3; c++) {
        const uint64_t range = (uint64_t)counting->high[c] - (uint64_t)counting->low[c];
        if (range >= 1ull << 62 || __umul64hi(sites, range + 1) > 0 ||
            sites * (range + 1) >= 1ull << 62)
            return 0;
        sites *= range + 1;
    }
    return sites;
}

__device__ __forceinline__ uint64_t number_of(const struct counting *counting,
                                              const struct site &site)
{
    uint64_t number = 0;
    for (int c = 2; c >= 0; c--)
        number = number * ((uint64_t)counting->high[c] - (uint64_t)counting->low[c] + 1) +
                 ((uint64_t)site.x[c] - (uint64_t)counting->low[c]);
    return number;
}

struct table_slot {
    unsigned long long first; /* a bead at the site, + 1; 0: free */
    unsigned long long count;
};

/* slots: a power of two; the memory is of zeros. Counts only after other kernels gave up, if
 * is_fallback. */
template <typename coordinate>
__global__ void __launch_bounds__(lattice_block)
    count_in_table(const struct collisions_problem problem, struct counting *counting,
                   struct table_slot *table, uint64_t slots, bool is_fallback)
{
    wait_for_kernel_before();
    if (is_fallback && !counting->gave_up)
        return;
    const uint64_t sites = sites_of(counting);
    const bool is_array = sites > 0 && sites <= slots * 4;
    unsigned long long collisions = 0;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < problem.count; i += step) {
        const struct site site = load_site<coordinate>(problem, i);
        if (is_array && problem.count <= UINT32_MAX) {
            collisions += atomicAdd((unsigned *)table + number_of(counting, site), 1u);
            continue;
        }
        uint64_t at = hash_of(site) & (slots - 1);
        for (;; at = (at + 1) & (slots - 1)) {
            unsigned long long there = *(volatile unsigned long long *)&table[at].first;
            if (there == 0)
                there = atomicCAS(&table[at].first, 0ull, (unsigned long long)i + 1);
            if (there == 0 || is_same(load_site<coordinate>(problem, (int64_t)there - 1), site))
                break;
        }
        collisions += atomicAdd(&table[at].count, 1ull);
    }
    add_of_block(collisions, counting);
}

/* By all threads of a grid. */
__device__ __forceinline__ void clear_slots(struct table_slot *table, int64_t slots)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; s < slots; s += step)
        table[s] = {0, 0};
}

static __global__ void __launch_bounds__(lattice_block)
    clear_table(struct table_slot *table, int64_t slots)
{
    wait_for_kernel_before();
    clear_slots(table, slots);
}

static inline int64_t table_slots(int64_t n)
{
    int64_t slots = 64;
    while (slots * 2 < n * 3)
        slots *= 2;
    return slots;
}

/* In a clear table, whose slots table_slots returns. */
static inline kith_status count_by_table(kith_context *context,
                                         const struct collisions_problem &problem,
                                         struct counting *counting, struct table_slot *table,
                                         int64_t slots, bool is_fallback)
{
    const unsigned blocks =
        lattice_blocks(cuda_multiprocessors(context), problem.count, lattice_block);
    return launch_overlapped(context, "counting in a table", blocks, lattice_block,
                             problem.dtype == KITH_I32 ? count_in_table<int32_t>
                                                       : count_in_table<int64_t>,
                             problem, counting, table, (uint64_t)slots, is_fallback);
}

#endif
