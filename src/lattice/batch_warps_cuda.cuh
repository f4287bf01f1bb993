#ifndef COLLISIONS_BATCH_WARPS_CUDA_CUH
#define COLLISIONS_BATCH_WARPS_CUDA_CUH

/* Short and compact conformations: a warp each, in an array of counters in shared memory. A lane
 * has beads that follow each other. */

#include "lattice/lattice_cuda.cuh"

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

/* The lane's beads; those beyond the chain are copies of its last one. Whole lanes of chains that
 * begin at even addresses are read two numbers at a time. */
template <int lane_beads, int dimensions>
__device__ __forceinline__ void load_beads(const int32_t *chain, int beads, int lane,
                                           int (&x)[lane_beads][dimensions])
{
    constexpr int numbers = lane_beads * dimensions;
    if (numbers % 2 == 0 && beads == 32 * lane_beads && (uintptr_t)chain % sizeof(int2) == 0) {
        const int2 *const two = (const int2 *)(chain + lane * numbers);
        int *const flat = &x[0][0];
#pragma unroll
        for (int k = 0; k < numbers / 2; k++) {
            flat[2 * k] = two[k].x;
            flat[2 * k + 1] = two[k].y;
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < lane_beads; k++)
#pragma unroll
        for (int c = 0; c < dimensions; c++)
            x[k][c] = chain[min(lane * lane_beads + k, beads - 1) * dimensions + c];
}

/* The array of a conformation with a margin of one at the upper ends; true if it is small enough.
 */
template <int dimensions> struct site_array {
    int low[dimensions], step[dimensions], sites;
};

template <int lane_beads, int dimensions, int warp_sites>
__device__ __forceinline__ bool make_array(const int (&x)[lane_beads][dimensions],
                                           struct site_array<dimensions> &array)
{
    array.sites = 1;
#pragma unroll
    for (int c = 0; c < dimensions; c++) {
        int low = x[0][c], high = ~x[0][c];
#pragma unroll
        for (int k = 1; k < lane_beads; k++) {
            low = min(low, x[k][c]);
            high = min(high, ~x[k][c]);
        }
        low = warp_least(low);
        const unsigned range = (unsigned)~warp_least(high) - (unsigned)low;
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

/* Adds the lane's beads to the counters; the collisions that they make. */
template <int lane_beads, int dimensions>
__device__ __forceinline__ unsigned add_beads(const int (&x)[lane_beads][dimensions], int beads,
                                              int lane, const struct site_array<dimensions> &array,
                                              unsigned *counters, int (&site)[lane_beads])
{
    __syncwarp();
    for (int s = lane; s * 16 < array.sites; s += 32)
        ((uint4 *)counters)[s] = make_uint4(0, 0, 0, 0);
    __syncwarp();
    unsigned collisions = 0;
#pragma unroll
    for (int k = 0; k < lane_beads; k++) {
        site[k] = x[k][0] - array.low[0];
#pragma unroll
        for (int c = 1; c < dimensions; c++)
            site[k] += (x[k][c] - array.low[c]) * array.step[c];
        const int shift = (site[k] & 3) * 8;
        if (lane * lane_beads + k < beads)
            collisions += atomicAdd(&counters[site[k] >> 2], 1u << shift) >> shift & 255;
    }
    __syncwarp();
    return collisions;
}

/* Bits of the lane's beads whose contacts count. The others leave the counters. */
template <int lane_beads>
__device__ __forceinline__ unsigned beads_that_count(const unsigned char *hydrophobic, int beads,
                                                     int lane, const int (&site)[lane_beads],
                                                     unsigned *counters)
{
    unsigned counting = 0;
#pragma unroll
    for (int k = 0; k < lane_beads; k++) {
        const int bead = lane * lane_beads + k;
        if (bead >= beads)
            break;
        if (!hydrophobic || hydrophobic[bead])
            counting |= 1u << k;
        else
            atomicSub(&counters[site[k] >> 2], 1u << (site[k] & 3) * 8);
    }
    __syncwarp();
    return counting;
}

/* Contacts of the lane's beads with the sites above theirs, but for the next bead of the chain. */
template <int lane_beads, int dimensions>
__device__ __forceinline__ unsigned
contacts_of_lane(unsigned counting, int lane, const struct site_array<dimensions> &array,
                 const unsigned *counters, const int (&site)[lane_beads])
{
    const unsigned char *const beads_at = (const unsigned char *)counters;
    const int site_after = __shfl_down_sync(0xffffffff, site[0], 1);
    const unsigned after = __shfl_down_sync(0xffffffff, counting, 1);
    const unsigned next_counts = counting >> 1 | (lane < 31 ? after : 0u) << (lane_beads - 1);
    unsigned contacts = 0;
#pragma unroll
    for (int k = 0; k < lane_beads; k++) {
        const int apart = abs((k + 1 < lane_beads ? site[k + 1] : site_after) - site[k]);
        bool is_bond = false;
        unsigned above = 0;
#pragma unroll
        for (int c = 0; c < dimensions; c++) {
            is_bond |= apart == array.step[c];
            above += beads_at[site[k] + array.step[c]];
        }
        if (counting >> k & 1)
            contacts += above - (is_bond && (next_counts >> k & 1));
    }
    return contacts;
}

template <int lane_beads, int dimensions, int warp_sites>
__device__ __forceinline__ void count_by_warp(const struct batch &batch, int64_t b,
                                              const int32_t *chain, int beads, int lane,
                                              unsigned *counters)
{
    int x[lane_beads][dimensions], site[lane_beads];
    load_beads<lane_beads, dimensions>(chain, beads, lane, x);
    struct site_array<dimensions> array;
    if (!make_array<lane_beads, dimensions, warp_sites>(x, array)) {
        if (lane == 0)
            batch.left[atomicAdd(batch.left_count, 1u)] = (unsigned)b;
        return;
    }
    unsigned collisions = add_beads<lane_beads, dimensions>(x, beads, lane, array, counters, site);
    if (batch.problem.collisions) {
        collisions = warp_sum(collisions);
        if (lane == 0)
            batch.problem.collisions[b] = collisions;
    }
    if (!batch.problem.contacts)
        return;
    const unsigned counting =
        beads_that_count<lane_beads>(batch.hydrophobic, beads, lane, site, counters);
    const unsigned contacts =
        warp_sum(contacts_of_lane<lane_beads, dimensions>(counting, lane, array, counters, site));
    if (lane == 0)
        batch.problem.contacts[b] = (int32_t)contacts;
}

/* Conformations of int32 and of up to 32 × lane_beads beads, with arrays of up to warp_sites sites,
 * a byte each. Those that are left go to count_by_blocks. */
template <int lane_beads, int dimensions, int warp_sites, int warps>
__global__ void __launch_bounds__(32 * warps) count_by_warps(const struct batch batch)
{
    extern __shared__ uint4 warp_counters[];
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    unsigned *const counters = (unsigned *)warp_counters + w * (warp_sites / 4);
    const int32_t *const values = (const int32_t *)batch.problem.beads;
    const int64_t step = (int64_t)gridDim.x * warps;
    for (int64_t b = (int64_t)blockIdx.x * warps + w; b < batch.problem.conformations; b += step) {
        const int64_t first = first_bead(batch.problem, b);
        const int64_t beads = first_bead(batch.problem, b + 1) - first;
        if (beads >= 2 && beads <= min(32 * lane_beads, (int)most_of_warp)) {
            count_by_warp<lane_beads, dimensions, warp_sites>(batch, b, values + first * dimensions,
                                                              (int)beads, lane, counters);
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

/* Blocks per multiprocessor, more than it holds: others continue while one's last conformation is
 * slow. 64 beads with contacts on an H200: 0.31 ms for 10^6 of them, 0.35 with 6 blocks. */
enum { launched_each = 32 };

template <int lane_beads, int warp_sites, int warps>
static inline void launch_by_warps(cudaStream_t stream, int multiprocessors,
                                   const struct batch &batch)
{
    const int64_t needed = (batch.problem.conformations + warps - 1) / warps;
    const int64_t at_once = (int64_t)multiprocessors * launched_each;
    const int shared = warps * warp_sites;
    void (*const kernel)(const struct batch) =
        batch.problem.dimensions == 3 ? count_by_warps<lane_beads, 3, warp_sites, warps>
                                      : count_by_warps<lane_beads, 2, warp_sites, warps>;
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

#endif
