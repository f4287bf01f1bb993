/* Gravity between near tiles (tensor_cuda.cuh), each pair of bodies once, by the loop of the
 * symmetric kernel (ring_gravity_cuda.cuh). A block is a warp: it has a tile's targets, and takes
 * one near partner after another past them. */

#include "core/status.h"
#include "device/overlap.cuh"
#include "forces/ring.h"
#include "forces/ring_gravity_cuda.cuh"
#include "forces/tensor_cuda.cuh"

constexpr int threads = 32, blocks_per_multiprocessor = 12;
constexpr int blocks = 8192; /* that divide the pairs of tiles, so that all end at about one time */
template <bool potential>
using near_variant = ring_variant<ring_gravity<float, potential>, tensor_tile / 32, 1, 1,
                                  blocks_per_multiprocessor, potential ? 0 : 2, false, true>;
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

template <bool potential>
static __device__ inline void load_targets(const struct tensor_bodies &bodies, int64_t tile,
                                           near_targets<potential> *to)
{
#pragma unroll
    for (int k = 0; k < near_variant<potential>::targets; k++) {
        to->body[k] = load(bodies, tile * tensor_tile + k * 32 + threadIdx.x % 32);
        for (int c = 0; c < near_variant<potential>::values; c++)
            to->sum[k][c] = 0;
    }
}

/* Adds the targets' sums to the tile's, and begins new ones. */
template <bool potential>
static __device__ inline void flush(const struct tensor_bodies &bodies, int64_t tile,
                                    near_targets<potential> *targets)
{
    const struct unit_exponents units = exponents_of(bodies, tile);
#pragma unroll
    for (int k = 0; k < near_variant<potential>::targets; k++) {
        add_sums(bodies, tensor_sum_at(bodies, tile * tensor_tile + k * 32 + threadIdx.x % 32),
                 units, targets->sum[k]);
        for (int c = 0; c < near_variant<potential>::values; c++)
            targets->sum[k][c] = 0;
    }
}

/* What does not change while a tile meets its partners. */
template <bool potential> struct meeting {
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
 * and added to its float would be lost bit by bit: these sums are short. first_number: of the
 * sources in the targets' tile, or past its end. */
template <bool potential>
static __device__ inline void
attract(const struct meeting<potential> &meeting, int64_t tile, int64_t partner, int first_number,
        struct source_ring<float> &sources, near_targets<potential> *targets)
{
#pragma unroll 1
    for (int first = 0; first < tensor_tile; first += 32) {
        bring(meeting.bodies, partner, first, sources);
        walk<near_variant<potential>, false>(*targets, sources, meeting.constants,
                                             first_number + first, nullptr);
        flush<potential>(meeting.bodies, tile, targets);
    }
}

/* The tile itself, in which the closest pairs are, or a pair of tiles of which one is heavy: each
 * pair of bodies twice. */
template <bool potential>
static __device__ inline void meet_exactly(const struct meeting<potential> &meeting,
                                           int64_t partner, struct source_ring<float> &sources,
                                           near_targets<potential> *targets)
{
    constexpr int past_the_end = 1 << 20;
    const int64_t tile = meeting.tile;
    if (partner == tile) {
        attract(meeting, tile, tile, 0, sources, targets);
        return;
    }
#pragma unroll 1
    for (int turn = 0; turn < 2; turn++) {
        const int64_t of = turn == 0 ? tile : partner, by = turn == 0 ? partner : tile;
        load_targets<potential>(meeting.bodies, of, targets);
        attract(meeting, of, by, past_the_end, sources, targets);
    }
    load_targets<potential>(meeting.bodies, tile, targets);
}

/* The tile's targets and a partner's sources. Sums over 32 bodies at most are added to each other:
 * of bodies at one place all terms are equal, and rounded alike. */
template <bool potential>
static __device__ inline void meet_tile(const struct meeting<potential> &meeting, int64_t partner,
                                        struct source_ring<float> &sources,
                                        near_targets<potential> *targets)
{
    using variant = near_variant<potential>;
    const struct unit_exponents units = exponents_of(meeting.bodies, partner);
    float of_tile[variant::targets][variant::values] = {};
#pragma unroll 1
    for (int first = 0; first < tensor_tile; first += 32) {
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
                of_tile[k][c] += targets->sum[k][c];
                targets->sum[k][c] = 0;
            }
    }
#pragma unroll
    for (int k = 0; k < variant::targets; k++)
        for (int c = 0; c < variant::values; c++)
            targets->sum[k][c] = of_tile[k][c];
    flush<potential>(meeting.bodies, meeting.tile, targets);
}

/* The near partners of number begin … end − 1 of a tile, in the order of their offsets. */
template <bool potential>
static __device__ inline void meet_partners(const struct meeting<potential> &meeting, int64_t begin,
                                            int64_t end, struct source_ring<float> &sources)
{
    const int64_t tile = meeting.tile, tiles = meeting.bodies.tiles;
    const int64_t last = tensor_last_offset(tiles, tile);
    const struct tensor_box *box = meeting.bodies.box, own = box[tile];
    near_targets<potential> targets;
    load_targets<potential>(meeting.bodies, tile, &targets);
    int64_t number = 0;
    for (int64_t first = 0; number < end && first <= last; first += threads) {
        const int64_t offset = first + threadIdx.x;
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
                meet_tile(meeting, partner, sources, &targets);
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

/* A block takes its share of the near pairs of tiles. */
template <bool potential>
static __global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
    near_kernel(const struct forces_problem problem, const struct tensor_bodies bodies)
{
    __shared__ struct source_ring<float> sources;
    let_next_kernel_begin();
    if (tensor_is_left(bodies))
        return;
    const int64_t *before = bodies.near_before, pairs = before[bodies.tiles];
    const int64_t end = share_begin(pairs, gridDim.x, blockIdx.x + 1);
    int64_t k = share_begin(pairs, gridDim.x, blockIdx.x);
    if (k == end)
        return;
    struct meeting<potential> meeting = {
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

kith_status tensor_near(kith_context *context, const struct forces_problem *problem,
                        const struct tensor_bodies *bodies)
{
    if (bodies->end == bodies->first)
        return KITH_OK;
    if (problem->potential)
        near_kernel<true><<<blocks, threads, 0, cuda_stream(context)>>>(*problem, *bodies);
    else
        near_kernel<false><<<blocks, threads, 0, cuda_stream(context)>>>(*problem, *bodies);
    return cuda_check_launch("starting the kernel of near forces");
}
