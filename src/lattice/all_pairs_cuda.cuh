#ifndef COLLISIONS_ALL_PAIRS_CUDA_CUH
#define COLLISIONS_ALL_PAIRS_CUDA_CUH

/* Every pair: the five distributions of work that thread_maps.h draws, and the schedule
 * of tiles with targets in registers, which is the fastest.
 *
 * Pairs are compared by keys of 32 bits: the site packed, if the box has few enough bits; else a
 * hash of it, and pairs that are alike in that are compared by their coordinates. */

#include "lattice/lattice_cuda.cuh"
#include "lattice/thread_maps.h"

enum { segment = 1024 };

struct pair_keys {
    struct collisions_problem problem;
    const uint32_t *key; /* of the beads, then of a segment more on the ring */
    struct counting *counting;
};

/* After the last bead the keys of the first ones follow, as on the ring. */
template <typename coordinate>
__global__ void __launch_bounds__(lattice_block)
    make_keys(const struct collisions_problem problem, const struct counting *counting,
              uint32_t *key, int64_t count)
{
    const struct device_box box = box_of(counting);
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const struct site site = load_site<coordinate>(problem, i % problem.count);
        key[i] = box.total_bits <= 32 ? (uint32_t)key_of(box, site) : (uint32_t)hash_of(site);
    }
}

__device__ __forceinline__ bool is_exact(const struct counting *counting)
{
    return box_of(counting).total_bits <= 32;
}

__device__ __forceinline__ bool is_same_site(const struct collisions_problem &problem, int64_t i,
                                             int64_t j)
{
    return problem.dtype == KITH_I32
               ? is_same(load_site<int32_t>(problem, i), load_site<int32_t>(problem, j))
               : is_same(load_site<int64_t>(problem, i), load_site<int64_t>(problem, j));
}

/* Of the pairs of bead i with the beads from j on, in cyclic order, whose keys are equal: the
 * number whose coordinates are equal. */
static __device__ __noinline__ unsigned verify(const struct pair_keys &keys, int64_t i, int64_t j,
                                               int steps)
{
    unsigned equal = 0;
    for (int step = 0; step < steps; step++) {
        const int64_t other = (j + step) % keys.problem.count;
        equal += keys.key[i] == keys.key[other] && is_same_site(keys.problem, i, other);
    }
    return equal;
}

__device__ __forceinline__ unsigned long long
to_count(bool exact, const struct pair_keys &keys, unsigned equal, int64_t i, int64_t j, int steps)
{
    return exact || equal == 0 ? equal : verify(keys, i, j, steps);
}

/* The keys of a segment of the ring into shared memory. Every thread of the block must call. */
__device__ __forceinline__ void load_segment(const struct pair_keys &keys, int64_t begin,
                                             uint32_t *tile)
{
    __syncthreads();
    const int64_t at = begin + threadIdx.x;
    tile[threadIdx.x] = keys.key[at < keys.problem.count ? at : at % keys.problem.count];
    __syncthreads();
}

/* How many of the keys from .. to − 1 of a tile are equal to this one. */
__device__ __forceinline__ unsigned equal_in_tile(const uint32_t *tile, uint32_t key, int from,
                                                  int to)
{
    unsigned equal = 0;
    if (from == 0 && to == segment) {
#pragma unroll 8
        for (int j = 0; j < segment; j += 4) {
            const uint4 other = *(const uint4 *)(tile + j);
            equal += other.x == key;
            equal += other.y == key;
            equal += other.z == key;
            equal += other.w == key;
        }
        return equal;
    }
    for (int j = from; j < to; j++)
        equal += tile[j] == key;
    return equal;
}

__device__ __forceinline__ int clamp_to_segment(int64_t x)
{
    return (int)(x < 0 ? 0 : x > segment ? segment : x);
}

/* Thread i and `steps` beads after it on the ring, tile by tile. */
__device__ __forceinline__ void count_row(const struct pair_keys &keys, int64_t i, int64_t steps,
                                          int64_t most_steps)
{
    __shared__ __align__(16) uint32_t tile[segment];
    const bool exact = is_exact(keys.counting), is_bead = i < keys.problem.count;
    const uint32_t key = is_bead ? keys.key[i] : 0;
    const int64_t first = (int64_t)blockIdx.x * segment;
    unsigned long long collisions = 0;
    for (int64_t begin = first; begin < first + segment + most_steps; begin += segment) {
        load_segment(keys, begin, tile);
        const int from = clamp_to_segment(i + 1 - begin);
        const int to = is_bead ? clamp_to_segment(i + 1 + steps - begin) : 0;
        const unsigned equal = from < to ? equal_in_tile(tile, key, from, to) : 0;
        collisions += to_count(exact, keys, equal, i, begin + from, to - from);
    }
    add_of_block(collisions, keys.counting);
}

static __global__ void __launch_bounds__(segment) n_steps_single_row(const struct pair_keys keys)
{
    const int64_t n = keys.problem.count, i = (int64_t)blockIdx.x * segment + threadIdx.x;
    count_row(keys, i, collisions_n_steps(n, i), n - 1 - (int64_t)blockIdx.x * segment);
}

static __global__ void __launch_bounds__(segment) half_steps_single_row(const struct pair_keys keys)
{
    const int64_t n = keys.problem.count, i = (int64_t)blockIdx.x * segment + threadIdx.x;
    count_row(keys, i, collisions_half_steps(n, i), n / 2);
}

/* Blocks of a grid's second dimension: more take several launches. */
static constexpr unsigned most_rows = 65535;

static __global__ void __launch_bounds__(segment)
    n_steps_multi_row(const struct pair_keys keys, unsigned first_row)
{
    const unsigned row = first_row + blockIdx.y;
    if (row > blockIdx.x)
        return;
    __shared__ __align__(16) uint32_t tile[segment];
    const int64_t n = keys.problem.count, i = (int64_t)row * segment + threadIdx.x;
    const int64_t begin = (int64_t)blockIdx.x * segment;
    load_segment(keys, begin, tile);
    const int from = clamp_to_segment(i + 1 - begin);
    const int to = i < n ? clamp_to_segment(n - begin) : 0;
    const unsigned equal = from < to ? equal_in_tile(tile, keys.key[i], from, to) : 0;
    add_of_block(to_count(is_exact(keys.counting), keys, equal, i, begin + from, to - from),
                 keys.counting);
}

/* A pair a thread: a warp's threads vote. Numbers of beads are of 32 bits if they fit. */
template <typename index>
__device__ __forceinline__ void count_pair(const struct pair_keys &keys, bool has_pair, index i,
                                           index j)
{
    bool equal = has_pair && keys.key[i] == keys.key[j];
    if (!__any_sync(0xffffffff, equal))
        return;
    if (equal && !is_exact(keys.counting))
        equal = is_same_site(keys.problem, i, j);
    const unsigned votes = __ballot_sync(0xffffffff, equal);
    if (threadIdx.x % 32 == 0 && votes != 0)
        atomicAdd(&keys.counting->collisions, (unsigned long long)__popc(votes));
}

/* Blocks of 512: fewer threads and a GPU starts its blocks no faster than they are done. */
enum { square = 128, square_rows = 4, half_block = 512 };

/* Threads N × N in blocks of 4 × 128, from a row of blocks on. Warps without a pair end
 * immediately. */
template <typename index>
__global__ void __launch_bounds__(square *square_rows)
    single_steps_all_threads(const struct pair_keys keys, int64_t first_row)
{
    const index n = (index)keys.problem.count;
    const index i = ((index)first_row + blockIdx.y) * square_rows + threadIdx.y;
    const index j = (index)blockIdx.x * square + threadIdx.x;
    if (i >= j - threadIdx.x % 32 + 32)
        return;
    count_pair<index>(keys, i < j && j < n, i, j);
}

/* The walk of thread_maps.h. Where its block begins is divided by a multiplication; its threads
 * follow, past at most one end of a row for each n of them. */
template <typename index>
__global__ void __launch_bounds__(half_block)
    single_steps_half_threads(const struct pair_keys keys, int64_t first, double inverse_n)
{
    const int64_t n = keys.problem.count, begin = first + (int64_t)blockIdx.x * half_block;
    int64_t turn = (int64_t)((double)begin * inverse_n);
    int64_t column = begin - turn * n;
    if (column < 0) {
        column += n;
        turn--;
    } else if (column >= n) {
        column -= n;
        turn++;
    }
    index i = (index)column + threadIdx.x, step = (index)turn + 1;
    while (i >= (index)n) {
        i -= (index)n;
        step++;
    }
    const index behind = i + step, j = behind < (index)n ? behind : behind - (index)n;
    count_pair<index>(keys, begin + threadIdx.x < n * (n - 1) / 2, i, j);
}

/* The ring of tiles: half-steps with tiles instead of beads. A block holds a tile of targets, some
 * in the registers of each thread, and walks over a part of the tiles that follow. Its own tile it
 * compares with itself, where each pair is met twice and each bead meets itself. */
template <int targets, int threads>
__global__ void __launch_bounds__(threads)
    ring_of_tiles(const struct pair_keys keys, int64_t tiles, int64_t steps_of_block)
{
    constexpr int tile_beads = targets * threads;
    __shared__ __align__(16) uint32_t tile[tile_beads];
    const int64_t n = keys.problem.count, mine = blockIdx.x;
    const bool exact = is_exact(keys.counting);
    uint32_t key[targets];
#pragma unroll
    for (int t = 0; t < targets; t++) {
        const int64_t i = mine * tile_beads + t * threads + threadIdx.x;
        key[t] = i < n ? keys.key[i] : 0;
    }
    const int64_t last = (tiles - 1) / 2 + (tiles % 2 == 0 && mine < tiles / 2);
    const int64_t from = (int64_t)blockIdx.y * steps_of_block;
    const int64_t to = min(from + steps_of_block, last + 1);
    unsigned long long twice = 0;
    for (int64_t step = from; step < to; step++) {
        const int64_t begin = (mine + step) % tiles * tile_beads;
        const int beads = (int)min((int64_t)tile_beads, n - begin);
        __syncthreads();
        for (int j = threadIdx.x; j < beads; j += threads)
            tile[j] = keys.key[begin + j];
        __syncthreads();
        unsigned equal[targets] = {};
        int j = 0;
#pragma unroll 2
        for (; j + 4 <= beads; j += 4) {
            const uint4 other = *(const uint4 *)(tile + j);
#pragma unroll
            for (int t = 0; t < targets; t++) {
                equal[t] += other.x == key[t];
                equal[t] += other.y == key[t];
                equal[t] += other.z == key[t];
                equal[t] += other.w == key[t];
            }
        }
        for (; j < beads; j++)
            for (int t = 0; t < targets; t++)
                equal[t] += tile[j] == key[t];
        unsigned long long of_tile = 0;
#pragma unroll
        for (int t = 0; t < targets; t++) {
            const int64_t i = mine * tile_beads + t * threads + threadIdx.x;
            if (i < n)
                of_tile += to_count(exact, keys, equal[t], i, begin, beads) - (step == 0);
        }
        twice += step == 0 ? of_tile : 2 * of_tile;
    }
    add_of_block(twice, keys.counting, 1);
}

#endif
