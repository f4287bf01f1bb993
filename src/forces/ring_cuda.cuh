#ifndef FORCES_RING_CUDA_CUH
#define FORCES_RING_CUDA_CUH

/* Symmetric all-pairs forces: each pair is evaluated once, and both bodies get their share.
 *
 * A block of warps holds a tile of targets, `targets` of them in each lane's registers. The sources
 * of the partner tile come in steps of 32, one per lane; each lane then meets every source by
 * reading it from shared memory one place further along each time, while the sources' own sums are
 * handed from lane to lane by shuffles. After 32 turns the sums of the warps are added, and stored:
 * no sum is ever shared by two blocks. ring_sum_cuda.cuh adds what was stored. */

#include "device/overlap.cuh"
#include "forces/ring.h"
#include "forces/ring_warp_cuda.cuh"

/* Bodies' sums, as rows of `values` columns of `padded` numbers, a body an element: row o of
 * by_source has what the tiles' partners at offset first_offset + o got, row p of by_target what
 * the p-th block that works for a tile has summed for it. That is many sums, hence in double. */
template <typename real> struct ring_rows {
    real *by_source;
    double *by_target;
    int64_t padded;
};

/* What blocks have found about the masses: whether each allows sums of forces. */
struct ring_choice {
    bool *serve;
    int blocks;        /* 0: not chosen */
    const int *needed; /* on the device; where it is 0, kernels return immediately. NULL: 1 */
};

__device__ inline bool is_needed(const struct ring_choice &choice)
{
    return !choice.needed || *choice.needed;
}

/* For all threads of a block, at least as many as the choice has blocks. */
__device__ inline enum ring_form chosen_form(const struct ring_choice &choice)
{
    const bool serves = (int)threadIdx.x >= choice.blocks || choice.serve[threadIdx.x];
    return __syncthreads_and(serves) ? sums_are_forces : sums_are_accelerations;
}

template <typename variant> struct ring_shared {
    typedef typename variant::real real;
    struct source_ring<real> sources[2][variant::groups];
    real sums[2][variant::groups][variant::values][variant::warps][ring_lanes];
};

/* Adds the targets' sums to the block's row of the tile, from `row` on, or begins the row. */
template <typename variant>
__device__ inline void flush(struct ring_targets<variant> &targets, double *row, int64_t padded,
                             bool begins)
{
    const int first =
        threadIdx.x / ring_lanes * variant::targets * ring_lanes + threadIdx.x % ring_lanes;
#pragma unroll
    for (int k = 0; k < variant::targets; k++)
        for (int v = 0; v < variant::values; v++) {
            double *to = row + v * padded + first + k * ring_lanes;
            *to = (begins ? 0.0 : *to) + (double)targets.sum[k][v];
            targets.sum[k][v] = 0;
        }
}

/* Where in the ring a block is: step `step` of the meeting of `tile` at `offset`. */
struct ring_place {
    int64_t tile, offset, partner;
    int step;
};

template <typename variant>
__device__ inline struct ring_place place_at(struct ring_chunk chunk, int64_t number)
{
    const struct ring_meeting meeting = ring_meeting_at(chunk, number / variant::steps);
    const int64_t partner = ring_partner(chunk.tiles, meeting.tile, meeting.offset);
    return {meeting.tile, meeting.offset, partner, (int)(number % variant::steps)};
}

/* The next step of the same tile. */
template <typename variant> __device__ inline void go_on(struct ring_place &place, int64_t tiles)
{
    if (++place.step == variant::steps) {
        place.step = 0;
        place.offset++;
        place.partner = place.partner + 1 == tiles ? 0 : place.partner + 1;
    }
}

template <typename variant> __device__ inline int64_t first_source(const struct ring_place &place)
{
    return place.partner * variant::tile + place.step * variant::step_sources;
}

/* Adds the warps' sums of a step's sources and stores them. */
template <typename variant>
__device__ inline void store_sources(const struct ring_shared<variant> &shared, int buffer,
                                     const struct ring_place &place, struct ring_chunk chunk,
                                     const struct ring_rows<typename variant::real> &rows)
{
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
    const int64_t row = place.offset - chunk.first_offset;
    typename variant::real *to =
        rows.by_source + row * variant::values * rows.padded + first_source<variant>(place) + lane;
    for (int k = w; k < variant::groups * variant::values; k += variant::warps) {
        const int group = k / variant::values, v = k % variant::values;
        typename variant::real sum = 0;
        for (int other = 0; other < variant::warps; other++)
            sum += shared.sums[buffer][group][v][other][lane];
        to[v * rows.padded + group * ring_lanes] = sum;
    }
}

/* A step's sources past the targets of a warp. */
template <typename variant>
__device__ inline void
meet_sources(struct ring_targets<variant> &targets, struct ring_shared<variant> &shared, int buffer,
             const struct ring_place &place, const typename variant::pair::constants &constants)
{
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
#pragma unroll 1
    for (int group = 0; group < variant::groups; group++) {
        if (place.offset == 0) {
            walk<variant, false>(targets, shared.sources[buffer][group], constants,
                                 place.step * variant::step_sources + group * ring_lanes, nullptr);
        } else {
            typename variant::real source_sum[variant::values] = {};
            if constexpr (variant::together > 0)
                walk_together<variant>(targets, shared.sources[buffer][group], constants.softening2,
                                       source_sum);
            else
                walk<variant, true>(targets, shared.sources[buffer][group], constants, 0,
                                    source_sum);
            for (int v = 0; v < variant::values; v++)
                shared.sums[buffer][group][v][w][lane] = source_sum[v];
        }
    }
}

/* The steps begin … end − 1, all of the same tile; the targets' sums go to the row. While a step
 * is met, the first warps bring the next one's sources. */
template <typename variant>
__device__ inline void
visit(const typename variant::pair::problem &problem, struct ring_chunk chunk,
      const struct ring_rows<typename variant::real> &rows, int64_t begin, int64_t end, double *row,
      struct ring_targets<variant> &targets, struct ring_shared<variant> &shared)
{
    typedef typename variant::real real;
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
    const typename variant::pair::constants constants = variant::pair::load(problem);
    const bool is_loader = w < variant::groups;

    struct ring_place place = place_at<variant>(chunk, begin);
    __syncthreads();
    if (is_loader)
        shared.sources[0][w].put(
            lane, variant::pair::load_body(problem, first_source<variant>(place) + threadIdx.x));
    __syncthreads();
    bool begins = true;
    for (int64_t u = begin; u < end; u++) {
        const int buffer = (int)(u - begin) % 2;
        struct ring_place next = place;
        go_on<variant>(next, chunk.tiles);
        struct ring_body<real> prefetched = {
        };
        if (is_loader && u + 1 < end)
            prefetched =
                variant::pair::load_body(problem, first_source<variant>(next) + threadIdx.x);

        meet_sources<variant>(targets, shared, buffer, place, constants);
        if (is_loader)
            shared.sources[1 - buffer][w].put(lane, prefetched);
        __syncthreads();
        if (place.offset > 0)
            store_sources<variant>(shared, buffer, place, chunk, rows);
        if (u + 1 == end || (u - begin) % variant::flush_steps == variant::flush_steps - 1) {
            flush<variant>(targets, row, rows.padded, begins);
            begins = false;
        }
        place = next;
    }
}

/* All the steps of a tile that are this block's. */
template <typename variant>
__device__ inline void
serve_tile(const typename variant::pair::problem &problem, struct ring_chunk chunk,
           const struct ring_rows<typename variant::real> &rows, int64_t tile, int64_t begin,
           int64_t end, int64_t part, struct ring_shared<variant> &shared)
{
    const int lane = threadIdx.x % ring_lanes, w = threadIdx.x / ring_lanes;
    const int64_t first = tile * variant::tile + (int64_t)w * variant::targets * ring_lanes + lane;
    struct ring_targets<variant> targets = {
    };
#pragma unroll
    for (int k = 0; k < variant::targets; k++)
        targets.body[k] = variant::pair::load_body(problem, first + k * ring_lanes);
    double *row = rows.by_target + part * variant::values * rows.padded + tile * variant::tile;
    visit<variant>(problem, chunk, rows, begin, end, row, targets, shared);
}

/* The chunk's steps are dealt to the blocks by their cost, and all blocks run at the same time. If
 * there is a choice of forms, nothing happens unless the variant's is chosen. */
template <typename variant>
__global__ void __launch_bounds__(variant::warps *ring_lanes, variant::blocks_per_multiprocessor)
    ring_kernel(const typename variant::pair::problem problem, const struct ring_chunk chunk,
                const struct ring_rows<typename variant::real> rows,
                const struct ring_choice choice)
{
    wait_for_kernel_before();
    if (!is_needed(choice) || (choice.blocks > 0 && chosen_form(choice) != variant::form))
        return;
    __shared__ struct ring_shared<variant> shared;
    const int64_t end = ring_share_begin(chunk, variant::steps, gridDim.x, blockIdx.x + 1);
    int64_t begin = ring_share_begin(chunk, variant::steps, gridDim.x, blockIdx.x);
    while (begin < end) {
        const int64_t tile = ring_meeting_at(chunk, begin / variant::steps).tile;
        const int64_t tile_begin = ring_first_meeting(chunk, tile) * variant::steps;
        const int64_t tile_end = ring_first_meeting(chunk, tile + 1) * variant::steps;
        const int64_t visit_end = end < tile_end ? end : tile_end;
        const int64_t part =
            blockIdx.x - ring_share_of(chunk, variant::steps, gridDim.x, tile_begin);
        serve_tile<variant>(problem, chunk, rows, tile, begin, visit_end, part, shared);
        begin = visit_end;
    }
}

#endif
