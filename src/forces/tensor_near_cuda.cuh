#ifndef FORCES_TENSOR_NEAR_CUDA_CUH
#define FORCES_TENSOR_NEAR_CUDA_CUH

/* Gravity between near tiles (tensor_cuda.cuh), each pair of bodies once, by the loop of the
 * symmetric kernel (ring_gravity_cuda.cuh). The warps of a block take one pair of tiles after
 * another: each has half of the targets, and a half or a quarter of the sources. */

#include "forces/ring.h"
#include "forces/ring_gravity_cuda.cuh"
#include "forces/tensor_cuda.cuh"

template <bool potential> struct near_shape {
    static constexpr int target_parts = 2, source_parts = potential ? 4 : 2;
    static constexpr int targets = tensor_tile / 32 / target_parts; /* of a lane */
    static constexpr int sources = tensor_tile / source_parts;      /* of a warp */
};

template <bool potential>
using near_variant = ring_variant<ring_gravity<float, potential>, near_shape<potential>::targets, 1,
                                  1, 1, potential ? 0 : 2, false, true>;
template <bool potential> using near_targets = ring_targets<near_variant<potential>>;

static __device__ inline struct ring_body<float> load(const struct tensor_bodies &bodies,
                                                      int64_t body) {
    const float4 b = bodies.body[body];
    return {b.x, b.y, b.z, b.w};
}

/* What the units of a tile's sums are 2 to the power of. */
struct unit_exponents {
    int field, potential;
};

static __device__ inline struct unit_exponents exponents_of(const struct tensor_bodies &bodies,
                                                            int64_t tile)
{
    return {ilogbf(bodies.unit[tile].field), ilogbf(bodies.unit[tile].potential)};
}

/* Adds to the sums of a body whose first is at `at`. */
template <int values>
static __device__ inline void add_sums(const struct tensor_bodies &bodies, int64_t at,
                                       const struct unit_exponents &units,
                                       const float (&sums)[values])
{
#pragma unroll
    for (int c = 0; c < values; c++) {
        const int unit_exponent = c < 3 ? units.field : units.potential;
        const int excess =
            sums[c] == 0 ? 0 : ilogbf(sums[c]) + unit_exponent + 1 - tensor_number_bits;
        /* In bounds first: that of NaN and infinity can be any number. */
        constexpr int most = (tensor_levels - 1) * tensor_level_bits;
        const int level = (min(max(excess, 0), most) + tensor_level_bits - 1) / tensor_level_bits;
        const float whole = ldexpf(sums[c], unit_exponent - level * tensor_level_bits);
        atomicAdd(bodies.sum + level * tensor_level_length(bodies) + at + c * tensor_tile,
                  (unsigned long long)__float2ll_rn(whole));
    }
}

/* The first of a warp's targets in their tile, and of its sources. */
template <bool potential> static __device__ inline int first_target()
{
    return (int)threadIdx.x / 32 / near_shape<potential>::source_parts *
           near_shape<potential>::targets * 32;
}

template <bool potential> static __device__ inline int first_source()
{
    return (int)threadIdx.x / 32 % near_shape<potential>::source_parts *
           near_shape<potential>::sources;
}

template <bool potential>
static __device__ inline void load_near_targets(const struct tensor_bodies &bodies, int64_t tile,
                                                near_targets<potential> *to)
{
#pragma unroll
    for (int k = 0; k < near_variant<potential>::targets; k++) {
        to->body[k] = load(bodies, tile * tensor_tile + first_target<potential>() + k * 32 +
                                       threadIdx.x % 32);
        for (int c = 0; c < near_variant<potential>::values; c++)
            to->sum[k][c] = 0;
    }
}

/* Adds the targets' sums to the tile's, and begins new ones. */
template <bool potential>
static __device__ inline void flush_near(const struct tensor_bodies &bodies, int64_t tile,
                                         near_targets<potential> *targets)
{
    const struct unit_exponents units = exponents_of(bodies, tile);
#pragma unroll
    for (int k = 0; k < near_variant<potential>::targets; k++) {
        const int64_t body =
            tile * tensor_tile + first_target<potential>() + k * 32 + threadIdx.x % 32;
        add_sums(bodies, tensor_sum_at(bodies, body), units, targets->sum[k]);
        for (int c = 0; c < near_variant<potential>::values; c++)
            targets->sum[k][c] = 0;
    }
}

/* What does not change while a tile meets its near partners. */
template <bool potential> struct near_meeting {
    struct tensor_bodies bodies;
    int64_t tile;
    typename near_variant<potential>::pair::constants constants;
};

/* Brings 32 sources of a tile, from number `first` on. */
static __device__ inline void bring(const struct tensor_bodies &bodies, int64_t tile, int first,
                                    struct source_ring<float> &sources)
{
    const int lane = threadIdx.x % 32;
    __syncwarp();
    sources.put(lane, load(bodies, tile * tensor_tile + first + lane));
    __syncwarp();
}

/* From one side, a group of sources at a time. Where a single pair is most of a sum, what is small
 * and added to its float would be lost bit by bit: these sums are short. */
template <bool potential>
static __device__ inline void attract(const struct near_meeting<potential> &meeting, int64_t tile,
                                      int64_t partner, struct source_ring<float> &sources,
                                      near_targets<potential> *targets)
{
    /* walk numbers a warp's targets from threadIdx.x / 32 · 32 targets on. */
    constexpr int past_the_end = 1 << 20;
    const int numbered = (int)(threadIdx.x / 32) * near_shape<potential>::targets * 32;
    const int offset = tile == partner ? numbered - first_target<potential>() : past_the_end;
#pragma unroll 1
    for (int k = 0; k < near_shape<potential>::sources; k += 32) {
        bring(meeting.bodies, partner, first_source<potential>() + k, sources);
        walk<near_variant<potential>, false>(*targets, sources, meeting.constants,
                                             offset + first_source<potential>() + k, nullptr);
        flush_near<potential>(meeting.bodies, tile, targets);
    }
}

/* The tile itself, in which the closest pairs are, or a pair of tiles of which one is heavy: each
 * pair of bodies twice. */
template <bool potential>
static __device__ inline void meet_exactly(const struct near_meeting<potential> &meeting,
                                           int64_t partner, struct source_ring<float> &sources,
                                           near_targets<potential> *targets)
{
    const int64_t tile = meeting.tile;
    if (partner == tile) {
        attract(meeting, tile, tile, sources, targets);
        return;
    }
#pragma unroll 1
    for (int turn = 0; turn < 2; turn++) {
        const int64_t of = turn == 0 ? tile : partner, by = turn == 0 ? partner : tile;
        load_near_targets<potential>(meeting.bodies, of, targets);
        attract(meeting, of, by, sources, targets);
    }
    load_near_targets<potential>(meeting.bodies, tile, targets);
}

/* The tile's targets and a partner's sources. Sums over 32 bodies at most are added to each other:
 * of bodies at one place all terms are equal, and rounded alike. */
template <bool potential>
static __device__ inline void meet_near(const struct near_meeting<potential> &meeting,
                                        int64_t partner, struct source_ring<float> &sources,
                                        near_targets<potential> *targets)
{
    using variant = near_variant<potential>;
    const struct unit_exponents units = exponents_of(meeting.bodies, partner);
    const int begin = first_source<potential>(), end = begin + near_shape<potential>::sources;
    float of_all[variant::targets][variant::values] = {};
#pragma unroll 1
    for (int first = begin; first < end; first += 32) {
        float sums[variant::values] = {};
        bring(meeting.bodies, partner, first, sources);
        if constexpr (variant::together > 0)
            walk_together<variant>(*targets, sources, meeting.constants.softening2, sums);
        else
            walk<variant, true>(*targets, sources, meeting.constants, 0, sums);
        const int64_t body = partner * tensor_tile + first + threadIdx.x % 32;
        add_sums(meeting.bodies, tensor_sum_at(meeting.bodies, body), units, sums);
#pragma unroll
        for (int k = 0; k < variant::targets; k++)
            for (int c = 0; c < variant::values; c++) {
                of_all[k][c] += targets->sum[k][c];
                targets->sum[k][c] = 0;
            }
    }
#pragma unroll
    for (int k = 0; k < variant::targets; k++)
        for (int c = 0; c < variant::values; c++)
            targets->sum[k][c] = of_all[k][c];
    flush_near<potential>(meeting.bodies, meeting.tile, targets);
}

/* The near partners of number begin … end − 1 of a tile, in the order of their offsets. */
template <bool potential>
static __device__ inline void meet_partners(const struct near_meeting<potential> &meeting,
                                            int64_t begin, int64_t end,
                                            struct source_ring<float> &sources)
{
    const int64_t tile = meeting.tile, tiles = meeting.bodies.tiles;
    const int64_t last = tensor_last_offset(tiles, tile);
    const struct tensor_box *box = meeting.bodies.box, own = box[tile];
    near_targets<potential> targets;
    load_near_targets<potential>(meeting.bodies, tile, &targets);
    int64_t number = 0;
    for (int64_t first = 0; number < end && first <= last; first += 32) {
        const int64_t offset = first + threadIdx.x % 32;
        const int of_lane = (int)ring_partner(tiles, tile, offset <= last ? offset : 0);
        float gap2;
        const bool is_near = offset <= last && !tensor_is_far(own, box[of_lane], gap2);
        unsigned near = __ballot_sync(0xffffffff, is_near);
        for (; near && number < end; near &= near - 1, number++) {
            const int partner = __shfl_sync(0xffffffff, of_lane, __ffs((int)near) - 1);
            if (number < begin)
                continue;
            if (partner == tile || tensor_is_heavy(own) || tensor_is_heavy(box[partner]))
                meet_exactly(meeting, partner, sources, &targets);
            else
                meet_near(meeting, partner, sources, &targets);
        }
    }
}

/* The tile that near pair k of all is of: before[tile] ≤ k < before[tile + 1]. */
static __device__ inline int64_t tile_of_pair(const int64_t *before, int64_t tiles, int64_t k)
{
    int64_t tile = 0, end = tiles;
    while (end - tile > 1) {
        const int64_t middle = (tile + end) / 2;
        if (before[middle] <= k)
            tile = middle;
        else
            end = middle;
    }
    return tile;
}

/* A block's share of the near pairs of tiles, for all of its warps, with sources for each. */
template <bool potential>
static __device__ inline void meet_near_share(const struct forces_problem &problem,
                                              const struct tensor_bodies &bodies, int64_t block,
                                              int64_t blocks, struct source_ring<float> &sources)
{
    const int64_t *before = bodies.near_before, pairs = before[bodies.tiles];
    const int64_t end = share_begin(pairs, blocks, block + 1);
    int64_t k = share_begin(pairs, blocks, block);
    if (k == end)
        return;
    struct near_meeting<potential> meeting = {
        bodies, tile_of_pair(before, bodies.tiles, k), near_variant<potential>::pair::load(problem)
    };
    for (; k < end; meeting.tile++) {
        const int64_t of_tile = before[meeting.tile];
        const int64_t last = min(end, before[meeting.tile + 1]);
        if (k < last)
            meet_partners(meeting, k - of_tile, last - of_tile, sources);
        k = last;
    }
}

#endif
