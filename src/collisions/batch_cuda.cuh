#ifndef COLLISIONS_BATCH_CUDA_CUH
#define COLLISIONS_BATCH_CUDA_CUH

/* Many conformations: a warp each in an array of counters in shared memory if they are short and
 * compact, else a block each with a table. */

#include "collisions/lattice_cuda.cuh"

struct batch {
    struct collisions_batch_problem problem;
    const unsigned char *hydrophobic; /* flags on the device, or NULL */
    unsigned *left_count;             /* conformations that no warp could count … */
    unsigned *left;                   /* … and which */
    char *tables;                     /* of the blocks, if they do not fit shared memory */
};

__device__ __forceinline__ int64_t first_bead(const struct collisions_batch_problem &problem,
                                              int64_t b)
{
    return problem.offsets ? problem.offsets[b] : b * problem.length;
}

/* Beads of a chain that a warp counts: those at a site must fit a byte. */
enum { most_of_warp = 255 };

__device__ __forceinline__ int lowest(int x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(0xffffffff, x);
#else
    return lowest_of_warp(x);
#endif
}

__device__ __forceinline__ unsigned sum_of_warp(unsigned x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffff, x);
#else
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
#endif
}

/* The array of a conformation with a margin of one at the upper ends; true if it is small enough.
 */
struct site_array {
    int low[3], step[3], sites;
};

template <int lane_beads, int warp_sites>
__device__ __forceinline__ bool make_array(const int (&x)[lane_beads][3], int beads, int lane,
                                           struct site_array &array)
{
    array.sites = 1;
    for (int c = 0; c < 3; c++) {
        int low = INT32_MAX, high = INT32_MAX; /* of ~x */
#pragma unroll
        for (int k = 0; k < lane_beads; k++)
            if (lane + 32 * k < beads) {
                low = min(low, x[k][c]);
                high = min(high, ~x[k][c]);
            }
        low = lowest(low);
        const unsigned range = (unsigned)~lowest(high) - (unsigned)low;
        array.low[c] = low;
        array.step[c] = array.sites;
        if (range > warp_sites)
            return false;
        array.sites *= (int)range + 2;
        if (array.sites > warp_sites)
            return false;
    }
    return true;
}

__device__ __forceinline__ unsigned byte_at(const unsigned *counters, int at)
{
    return ((const unsigned char *)counters)[at];
}

template <int lane_beads, int warp_sites>
__device__ __forceinline__ void count_by_warp(const struct batch &batch, int64_t b, int64_t first,
                                              int beads, int lane, unsigned *counters)
{
    const int32_t *values = (const int32_t *)batch.problem.beads;
    const int dimensions = batch.problem.dimensions;
    int x[lane_beads][3];
#pragma unroll
    for (int k = 0; k < lane_beads; k++) {
        const int64_t row = first + min(lane + 32 * k, beads - 1);
        x[k][0] = values[row * dimensions];
        x[k][1] = values[row * dimensions + 1];
        x[k][2] = dimensions == 3 ? values[row * dimensions + 2] : 0;
    }
    struct site_array array;
    if (!make_array<lane_beads, warp_sites>(x, beads, lane, array)) {
        if (lane == 0)
            batch.left[atomicAdd(batch.left_count, 1u)] = (unsigned)b;
        return;
    }
    __syncwarp();
    for (int s = lane; s * 16 < array.sites; s += 32)
        ((uint4 *)counters)[s] = make_uint4(0, 0, 0, 0);
    __syncwarp();

    int site[lane_beads];
    unsigned collisions = 0;
#pragma unroll
    for (int k = 0; k < lane_beads; k++) {
        site[k] = (x[k][0] - array.low[0]) + (x[k][1] - array.low[1]) * array.step[1] +
                  (x[k][2] - array.low[2]) * array.step[2];
        if (lane + 32 * k < beads)
            collisions +=
                atomicAdd(&counters[site[k] / 4], 1u << site[k] % 4 * 8) >> site[k] % 4 * 8 & 255;
    }
    __syncwarp();
    if (batch.problem.collisions) {
        collisions = sum_of_warp(collisions);
        if (lane == 0)
            batch.problem.collisions[b] = collisions;
    }
    if (!batch.problem.contacts)
        return;

    bool counts[lane_beads];
#pragma unroll
    for (int k = 0; k < lane_beads; k++) {
        const int bead = lane + 32 * k;
        counts[k] = bead < beads && (!batch.hydrophobic || batch.hydrophobic[bead]);
        if (batch.hydrophobic && bead < beads && !counts[k])
            atomicSub(&counters[site[k] / 4], 1u << site[k] % 4 * 8);
    }
    __syncwarp();
    unsigned contacts = 0;
#pragma unroll
    for (int k = 0; k < lane_beads; k++) {
        /* Bead lane + 32 k and the one after it: neighbours along the chain are not contacts. */
        int next = __shfl_down_sync(0xffffffff, site[k], 1);
        bool next_counts = __shfl_down_sync(0xffffffff, (int)counts[k], 1);
        if (k + 1 < lane_beads) {
            const int wrapped = __shfl_sync(0xffffffff, site[k + 1], 0);
            const bool wrapped_counts = __shfl_sync(0xffffffff, (int)counts[k + 1], 0);
            next = lane == 31 ? wrapped : next;
            next_counts = lane == 31 ? wrapped_counts : next_counts;
        } else if (lane == 31) {
            next_counts = false;
        }
        const int apart = abs(next - site[k]);
        const bool is_bond = apart == 1 || apart == array.step[1] || apart == array.step[2];
        if (counts[k])
            contacts += byte_at(counters, site[k] + 1) +
                        byte_at(counters, site[k] + array.step[1]) +
                        byte_at(counters, site[k] + array.step[2]) - (next_counts && is_bond);
    }
    contacts = sum_of_warp(contacts);
    if (lane == 0)
        batch.problem.contacts[b] = (int32_t)contacts;
}

/* Conformations of int32 and of up to 32 × lane_beads beads, with arrays of up to warp_sites sites,
 * a byte each. Those that are left go to count_by_blocks. */
template <int lane_beads, int warp_sites, int warps>
__global__ void __launch_bounds__(32 * warps) count_by_warps(const struct batch batch)
{
    extern __shared__ uint4 warp_counters[];
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned *const counters = (unsigned *)warp_counters + w * (warp_sites / 4);
    const int64_t step = (int64_t)gridDim.x * warps;
    for (int64_t b = (int64_t)blockIdx.x * warps + w; b < batch.problem.conformations; b += step) {
        const int64_t first = first_bead(batch.problem, b);
        const int64_t beads = first_bead(batch.problem, b + 1) - first;
        if (beads >= 2 && beads <= min(32 * lane_beads, (int)most_of_warp)) {
            count_by_warp<lane_beads, warp_sites>(batch, b, first, (int)beads, lane, counters);
        } else if (lane == 0 && beads >= 2) {
            batch.left[atomicAdd(batch.left_count, 1u)] = (unsigned)b;
        } else if (lane == 0) {
            if (batch.problem.collisions)
                batch.problem.collisions[b] = 0;
            if (batch.problem.contacts)
                batch.problem.contacts[b] = 0;
        }
    }
}

template <int lane_beads, int warp_sites, int warps>
static inline void launch_by_warps(cudaStream_t stream, int multiprocessors,
                                   const struct batch &batch)
{
    const int64_t needed = (batch.problem.conformations + warps - 1) / warps;
    const int64_t at_once = (int64_t)multiprocessors * 8;
    const int shared = warps * warp_sites;
    void (*const kernel)(const struct batch) = count_by_warps<lane_beads, warp_sites, warps>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    kernel<<<(unsigned)(needed < at_once ? needed : at_once), 32 * warps, shared, stream>>>(batch);
}

/* Registers and arrays by the longest chain. */
static inline void count_short(cudaStream_t stream, int multiprocessors, const struct batch &batch,
                               int64_t most_beads)
{
    if (most_beads <= 32)
        launch_by_warps<1, 2048, 8>(stream, multiprocessors, batch);
    else if (most_beads <= 64)
        launch_by_warps<2, 4096, 8>(stream, multiprocessors, batch);
    else if (most_beads <= 128)
        launch_by_warps<4, 8192, 8>(stream, multiprocessors, batch);
    else
        launch_by_warps<8, 16384, 4>(stream, multiprocessors, batch);
}

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
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(0xffffffff, mine, distance);
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

/* Slots of a table for so many beads, and whether it fits shared memory. */
static inline unsigned batch_slots(int64_t most_beads)
{
    unsigned slots = 64;
    while (slots < 2 * most_beads)
        slots *= 2;
    return slots;
}

enum { batch_shared_slots = 1 << 14 };

/* Blocks at once: of tables in the device's memory no more than this many. */
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
