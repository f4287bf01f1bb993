#ifndef COLLISIONS_BATCH_CUDA_CUH
#define COLLISIONS_BATCH_CUDA_CUH

/* Many conformations: by warps if they are short and compact, else a block each with a table. */

#include "lattice/batch_warps_cuda.cuh"

/* A table with open addressing: slots beads + 1, then slots counts. */
struct bead_table {
    unsigned *first, *count;
    unsigned mask;
};

template <typename coordinate>
__device__ __forceinline__ unsigned find_slot(const struct collisions_problem &chain,
                                              const struct bead_table &table,
                                              const struct site &site, unsigned mine)
{
    for (unsigned at = (unsigned)hash_of(site) & table.mask;; at = (at + 1) & table.mask) {
        unsigned there = *(volatile unsigned *)&table.first[at];
        if (there == 0 && mine > 0)
            there = atomicCAS(&table.first[at], 0u, mine);
        if (there == 0 || is_same(load_site<coordinate>(chain, (int64_t)there - 1), site))
            return at;
    }
}

__device__ __forceinline__ bool is_bonded(const struct site &a, const struct site &b)
{
    uint64_t apart = 0;
    for (int c = 0; c < 3; c++) {
        const uint64_t d = a.x[c] > b.x[c] ? (uint64_t)a.x[c] - (uint64_t)b.x[c]
                                           : (uint64_t)b.x[c] - (uint64_t)a.x[c];
        if (d > 1)
            return false;
        apart += d;
    }
    return apart == 1;
}

__device__ __forceinline__ unsigned long long sum_of_block(unsigned long long mine)
{
    __shared__ unsigned long long of_warps[32];
    mine = warp_sum(mine);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    unsigned long long sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++)
        sum += of_warps[w];
    return sum;
}

enum { batch_block = 256 };

/* Adds the beads to the table that are flagged; the collisions of this thread's. */
template <typename coordinate>
__device__ __forceinline__ unsigned long long fill_table(const struct collisions_problem &chain,
                                                         const struct bead_table &table,
                                                         const unsigned char *hydrophobic)
{
    __syncthreads();
    for (unsigned s = threadIdx.x; s < 2 * (table.mask + 1); s += batch_block)
        table.first[s] = 0;
    __syncthreads();
    unsigned long long collisions = 0;
    for (unsigned i = threadIdx.x; i < chain.count; i += batch_block) {
        if (hydrophobic && !hydrophobic[i])
            continue;
        const struct site site = load_site<coordinate>(chain, i);
        collisions += atomicAdd(&table.count[find_slot<coordinate>(chain, table, site, i + 1)], 1u);
    }
    __syncthreads();
    return collisions;
}

template <typename coordinate>
__device__ __forceinline__ unsigned long long count_contacts(const struct collisions_problem &chain,
                                                             const struct bead_table &table,
                                                             const unsigned char *hydrophobic)
{
    unsigned long long contacts = 0;
    for (unsigned i = threadIdx.x; i < chain.count; i += batch_block) {
        if (hydrophobic && !hydrophobic[i])
            continue;
        const struct site site = load_site<coordinate>(chain, i);
        for (int c = 0; c < chain.dimensions; c++) {
            struct site next = site;
            if (site.x[c] == INT64_MAX)
                continue;
            next.x[c]++;
            contacts += table.count[find_slot<coordinate>(chain, table, next, 0)];
        }
        if (i + 1 < chain.count && (!hydrophobic || hydrophobic[i + 1]))
            contacts -= is_bonded(site, load_site<coordinate>(chain, i + 1));
    }
    return contacts;
}

/* slots: of each block's table, which is in shared memory unless batch.tables has it. Counts the
 * conformations that are left, or all if left_count is NULL. */
template <typename coordinate>
__global__ void __launch_bounds__(batch_block)
    count_by_blocks(const struct batch batch, unsigned slots)
{
    extern __shared__ unsigned shared_table[];
    unsigned *memory =
        batch.tables ? (unsigned *)batch.tables + (size_t)blockIdx.x * 2 * slots : shared_table;
    const struct bead_table table = {memory, memory + slots, slots - 1};
    const int64_t all = batch.left_count ? (int64_t)*batch.left_count : batch.problem.conformations;
    for (int64_t k = blockIdx.x; k < all; k += gridDim.x) {
        const int64_t b = batch.left_count ? batch.left[k] : k;
        const int64_t first = first_bead(batch.problem, b), d = batch.problem.dimensions;
        struct collisions_problem chain = {batch.problem.dtype,
                                           batch.problem.dimensions,
                                           first_bead(batch.problem, b + 1) - first,
                                           (const coordinate *)batch.problem.beads + first * d,
                                           d,
                                           1};
        const unsigned long long collisions =
            sum_of_block(fill_table<coordinate>(chain, table, NULL));
        if (threadIdx.x == 0 && batch.problem.collisions)
            batch.problem.collisions[b] = (int64_t)collisions;
        if (!batch.problem.contacts)
            continue;
        if (batch.hydrophobic)
            fill_table<coordinate>(chain, table, batch.hydrophobic);
        const unsigned long long contacts =
            sum_of_block(count_contacts<coordinate>(chain, table, batch.hydrophobic));
        if (threadIdx.x == 0)
            batch.problem.contacts[b] = (int64_t)contacts;
    }
}

/* Slots of a table for this many beads, and whether it fits shared memory. */
static inline unsigned batch_slots(int64_t most_beads)
{
    unsigned slots = 64;
    while (slots < 2 * most_beads)
        slots *= 2;
    return slots;
}

enum { batch_shared_slots = 1 << 14 };

/* Concurrent blocks: with tables in the device's memory at most this many. */
static inline unsigned batch_blocks(int multiprocessors, int64_t conformations, unsigned slots)
{
    const int64_t at_once = multiprocessors * (slots > 4096 ? 2 : 8);
    return (unsigned)(conformations < at_once ? conformations : at_once);
}

/* batch.tables: batch_blocks × 2 × slots numbers of 32 bits if slots > batch_shared_slots. */
static inline void count_batch(cudaStream_t stream, int multiprocessors, const struct batch &given,
                               int64_t most_beads)
{
    struct batch batch = given;
    const int64_t all = batch.problem.conformations;
    if (batch.problem.dtype == KITH_I32) {
        cudaMemsetAsync(batch.left_count, 0, sizeof *batch.left_count, stream);
        count_short(stream, multiprocessors, batch, most_beads);
    } else {
        batch.left_count = NULL;
    }
    const unsigned slots = batch_slots(most_beads);
    const size_t shared = slots > batch_shared_slots ? 0 : 2 * slots * sizeof(unsigned);
    void (*const kernel)(const struct batch, unsigned) =
        batch.problem.dtype == KITH_I32 ? count_by_blocks<int32_t> : count_by_blocks<int64_t>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    kernel<<<batch_blocks(multiprocessors, all, slots), batch_block, shared, stream>>>(batch,
                                                                                       slots);
}

#endif
