/* Gravity between near tiles (tensor_cuda.cuh), each pair of bodies once, by the loop of the
 * symmetric kernel (ring_gravity_cuda.cuh). A warp has a tile's targets, and takes one near partner
 * after another past them. */

#include "core/status.h"
#include "device/overlap.cuh"
#include "forces/ring.h"
#include "forces/ring_gravity_cuda.cuh"
#include "forces/tensor_cuda.cuh"

constexpr int block_warps = 4, threads = block_warps * 32, near_blocks = 3;
using near_variant =
    ring_variant<ring_gravity<float, false>, tensor_tile / 32, 1, 1, near_blocks, 2>;

static __device__ inline struct ring_body<float> load(const struct tensor_bodies &bodies,
                                                      int64_t body) {
    const float4 b = bodies.body[body];
    return {b.x, b.y, b.z, b.w};
}

/* Adds to the sums of a body whose first is at `at`. */
static __device__ inline void
add_sums(const struct tensor_bodies &bodies, int64_t at, int unit_exponent, const float *sums)
{
#pragma unroll
    for (int c = 0; c < 3; c++) {
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

static __device__ inline void load_targets(const struct tensor_bodies &bodies, int64_t tile,
                                           struct ring_targets<near_variant> *to)
{
#pragma unroll
    for (int k = 0; k < near_variant::targets; k++) {
        to->body[k] = load(bodies, tile * tensor_tile + k * 32 + threadIdx.x % 32);
        for (int c = 0; c < 3; c++)
            to->sum[k][c] = 0;
    }
}

/* Adds the targets' sums to the tile's, and begins new ones. */
static __device__ inline void flush(const struct tensor_bodies &bodies, int64_t tile,
                                    struct ring_targets<near_variant> *targets)
{
    const int unit_exponent = ilogbf(bodies.unit[tile]);
#pragma unroll
    for (int k = 0; k < near_variant::targets; k++) {
        add_sums(bodies, tensor_sum_at(tile * tensor_tile + k * 32 + threadIdx.x % 32),
                 unit_exponent, targets->sum[k]);
        for (int c = 0; c < 3; c++)
            targets->sum[k][c] = 0;
    }
}

/* From one side, a group of sources at a time. Where a single pair is most of a sum, what is small
 * and added to its float would be lost bit by bit: these sums are short. first_number: of the
 * sources in the targets' tile, or past its end. */
static __device__ inline void attract(const struct tensor_bodies &bodies, int64_t tile,
                                      int64_t partner, int first_number,
                                      const near_variant::pair::constants &constants,
                                      struct source_ring<float> &sources,
                                      struct ring_targets<near_variant> *targets)
{
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int first = 0; first < tensor_tile; first += 32) {
        __syncwarp();
        sources.put(lane, load(bodies, partner * tensor_tile + first + lane));
        __syncwarp();
        walk<near_variant, false>(*targets, sources, constants, first_number + first, nullptr);
        flush(bodies, tile, targets);
    }
}

/* The tile itself, in which the closest pairs are, or a pair of tiles of which one is heavy: each
 * pair of bodies twice. */
static __device__ inline void meet_exactly(const struct tensor_bodies &bodies, int64_t tile,
                                           int64_t partner,
                                           const near_variant::pair::constants &constants,
                                           struct source_ring<float> &sources,
                                           struct ring_targets<near_variant> *targets)
{
    constexpr int past_the_end = 1 << 20;
    if (partner == tile) {
        attract(bodies, tile, tile, 0, constants, sources, targets);
        return;
    }
#pragma unroll 1
    for (int turn = 0; turn < 2; turn++) {
        const int64_t of = turn == 0 ? tile : partner, by = turn == 0 ? partner : tile;
        load_targets(bodies, of, targets);
        attract(bodies, of, by, past_the_end, constants, sources, targets);
    }
    load_targets(bodies, tile, targets);
}

/* The tile's targets and a partner's sources. */
static __device__ inline void meet_tile(const struct tensor_bodies &bodies, int64_t tile,
                                        int64_t partner,
                                        const near_variant::pair::constants &constants,
                                        struct source_ring<float> &sources,
                                        struct ring_targets<near_variant> *targets)
{
    const int lane = threadIdx.x % 32;
    const int unit_exponent = ilogbf(bodies.unit[partner]);
#pragma unroll 1
    for (int first = 0; first < tensor_tile; first += 32) {
        const int64_t body = partner * tensor_tile + first + lane;
        __syncwarp();
        sources.put(lane, load(bodies, body));
        __syncwarp();
        float sums[3];
        walk_together<near_variant>(*targets, sources, constants.softening2, sums);
        add_sums(bodies, tensor_sum_at(body), unit_exponent, sums);
    }
    flush(bodies, tile, targets);
}

/* Block (tile, share): the tile's near partners at the offsets of a share, each pair of tiles once.
 */
static __global__ void __launch_bounds__(threads, near_blocks)
    near_kernel(const struct forces_problem problem, const struct tensor_bodies bodies)
{
    __shared__ struct source_ring<float> sources[block_warps];
    __shared__ int list[threads], counts[block_warps];
    let_next_kernel_begin();
    if (tensor_is_left(bodies))
        return;
    const int64_t tile = bodies.first + blockIdx.x, tiles = bodies.tiles;
    const int64_t last = tiles % 2 == 0 && tile >= tiles / 2 ? tiles / 2 - 1 : tiles / 2;
    const int64_t begin = share_begin(tiles / 2 + 1, gridDim.y, blockIdx.y);
    const int64_t end = min(share_begin(tiles / 2 + 1, gridDim.y, blockIdx.y + 1), last + 1);
    const struct tensor_box own = bodies.box[tile];
    const near_variant::pair::constants constants = near_variant::pair::load(problem);
    struct ring_targets<near_variant> targets;
    load_targets(bodies, tile, &targets);
    for (int64_t first = begin; first < end; first += threads) {
        const int64_t offset = first + threadIdx.x;
        const int64_t partner = ring_partner(tiles, tile, offset < end ? offset : 0);
        float gap2;
        int count;
        const bool is_near = offset < end && !tensor_is_far(own, bodies.box[partner], gap2);
        const int place = tensor_place<block_warps>(is_near, counts, &count);
        if (is_near)
            list[place] = (int)partner;
        __syncthreads();
        for (int k = threadIdx.x / 32; k < count; k += block_warps) {
            struct source_ring<float> &own_sources = sources[threadIdx.x / 32];
            if (list[k] == tile || tensor_is_heavy(own) || tensor_is_heavy(bodies.box[list[k]]))
                meet_exactly(bodies, tile, list[k], constants, own_sources, &targets);
            else
                meet_tile(bodies, tile, list[k], constants, own_sources, &targets);
        }
    }
}

kith_status tensor_near(kith_context *context, const struct forces_problem *problem,
                        const struct tensor_bodies *bodies)
{
    const int64_t offsets = bodies->tiles / 2 + 1;
    if (bodies->end == bodies->first)
        return KITH_OK;
    const dim3 grid((unsigned)(bodies->end - bodies->first),
                    (unsigned)tensor_shares(bodies->tiles, (offsets + 7) / 8));
    near_kernel<<<grid, threads, 0, cuda_stream(context)>>>(*problem, *bodies);
    return cuda_check_launch("starting the kernel of near forces");
}
