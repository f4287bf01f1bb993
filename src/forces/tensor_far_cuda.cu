/* Gravity between far tiles on tensor cores (tensor_cuda.cuh).
 *
 * A block takes a tile's targets into registers, row_tiles × 16 of them a warp, and its far partner
 * tiles one after another. 32 sources and 32 targets meet as a matrix of weights W, in the layout
 * in which products of 16-bit numbers leave them: lane (g, q), g = lane / 4, q = lane % 4, holds of
 * 16 × 8 weights those of rows g and g + 8, columns 2q and 2q + 1. As bytes, higher and lower ones
 * apart, they are in turn the first operand of the next product, if its 32 columns are counted in
 * the order 2q, 2q + 1, 8 + 2q, 9 + 2q. Transposed, 8 × 8 numbers of 16 bits at a time, they are
 * the operand for the sources' sums.
 *
 * An interaction is 1/2 pair. A pair costs per lane 1 root, 2 multiply-adds, 3/2 permutations, 1/2
 * transposition and 1/2 product: 5 1/2 instructions, with all else 7, where the multiply pipes
 * take 18. The roots, of which a multiprocessor makes 16 a cycle, limit it to 167 Tflop/s on an
 * H200. */

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "core/roots_cuda.cuh"
#include "core/status.h"
#include "device/overlap.cuh"
#include "forces/ring.h"
#include "forces/tensor_cuda.cuh"
#include "forces/tensor_meeting_cuda.cuh"
#include "forces/tensor_products_cuda.cuh"

/* Of the kernel with and without potentials, which take registers. */
template <bool potential> struct shape {
    static constexpr int row_tiles = potential ? 2 : 4;
    static constexpr int warps = tensor_tile / (16 * row_tiles), threads = warps * 32;
    static constexpr int blocks_per_multiprocessor = potential ? 2 : 4;
    static constexpr int columns = potential ? 10 : 8; /* of the sources' sums */
};
constexpr int list_length = 128;        /* of partners, whose sums of targets are added in float */
constexpr int stride = tensor_tile + 4; /* no two lanes of a warp share a bank */

/* Of a warp: a coordinate of each target, that of the lane's number q (lane 3: z once more), and
 * the operands for the sources' sums. */
template <bool potential> struct targets {
    static constexpr int row_tiles = shape<potential>::row_tiles;
    float x[row_tiles][2]; /* of rows g and g + 8 */
    uint2 digits[row_tiles / 2], mass_digits[row_tiles / 2];
    float sum[row_tiles][2], potential_sum[row_tiles][2];
};

/* A warp's sums of a pair of tiles, by higher and lower bytes of the weights. */
template <bool potential> struct target_sums {
    static constexpr int row_tiles = shape<potential>::row_tiles;
    int high[row_tiles][4], low[row_tiles][4], of_potential[row_tiles][4];
};

/* A tile's operands. */
template <bool potential> struct operands {
    uint4 distance[tensor_tile / 16 * 32];
    uint2 digits[tensor_tile], mass_digits[potential ? tensor_tile : 1];
};

template <bool potential> struct shared {
    struct operands<potential> operands[2];         /* of this tile and the next */
    int column[shape<potential>::columns * stride]; /* the sources' sums: each digit's */
    struct meeting list[list_length];
    int counts[shape<potential>::warps];
};

static __device__ inline float of_lane(float x, float y, float z)
{
    const int q = threadIdx.x % 4;
    return q == 0 ? x : q == 1 ? y : z;
}

/* The place in the tile of a lane's row g + 8 r of its 16 rows t. */
template <bool potential> static __device__ inline int row_of(int t, int r)
{
    return (threadIdx.x / 32 * shape<potential>::row_tiles + t) * 16 + r * 8 + threadIdx.x % 32 / 4;
}

template <bool potential>
static __device__ inline void load_targets(const struct tensor_bodies &bodies, int64_t tile,
                                           struct targets<potential> *to)
{
    constexpr int row_tiles = shape<potential>::row_tiles;
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
#pragma unroll
    for (int t = 0; t < row_tiles; t++)
        for (int r = 0; r < 2; r++) {
            const float4 body = bodies.body[tile * tensor_tile + row_of<potential>(t, r)];
            to->x[t][r] = of_lane(body.x, body.y, body.z);
            to->sum[t][r] = to->potential_sum[t][r] = 0;
        }
#pragma unroll
    for (int t = 0; t < row_tiles / 2; t++) {
        const int64_t at = tile * tensor_tile + (w * row_tiles / 2 + t) * 32 + lane;
        to->digits[t] = bodies.digits[at];
        if (potential)
            to->mass_digits[t] = bodies.mass_digits[at];
    }
}

static __device__ inline unsigned pair_of(__half a, __half b)
{
    const __half2 both = __halves2half2(a, b);
    return *(const unsigned *)&both;
}

/* The rows of r²'s product, widened: as halves, p_q C² / scale (high, low, high) and (C / scale)²
 * (high, high, low), which meets |v|²; in the last lane C² (|p|² + ε²). */
template <bool potential>
static __device__ inline void make_rows(const struct targets<potential> &targets,
                                        const struct meeting &meeting, float softening2,
                                        uint4 (&row)[shape<potential>::row_tiles])
{
    const int q = threadIdx.x % 4;
    const float center = of_lane(meeting.center[0], meeting.center[1], meeting.center[2]);
    const float factor = q < 3 ? meeting.coordinate : meeting.length2;
    const float of_norm2 = q < 3 ? meeting.norm2 : 0.0f;
#pragma unroll
    for (int t = 0; t < shape<potential>::row_tiles; t++) {
        unsigned words[2][2];
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float p = targets.x[t][r] - center,
                        widened = tensor_widened(row_of<potential>(t, r));
            float norm2 = q < 3 ? p * p : softening2;
            norm2 += __shfl_xor_sync(0xffffffff, norm2, 1);
            norm2 += __shfl_xor_sync(0xffffffff, norm2, 2);
            const float value = (q < 3 ? p : norm2) * factor * widened;
            const __half high = __float2half_rn(value);
            const float scale2 = of_norm2 * widened;
            const __half high_scale2 = __float2half_rn(scale2);
            const __half low_scale2 = __float2half_rn(scale2 - __half2float(high_scale2));
            words[r][0] = pair_of(high, __float2half_rn(value - __half2float(high)));
            words[r][1] = pair_of(q < 3 ? high : __half(0.0f), q == 2 ? low_scale2 : high_scale2);
        }
        row[t] = make_uint4(words[0][0], words[1][0], words[0][1], words[1][1]);
    }
}

/* A warp's weights of 16 targets and 32 sources, in pairs of 16 bits, of rows g and g + 8. */
struct weights {
    unsigned pair[2][4];
};

static __device__ inline void transpose(struct weights *weights)
{
#pragma unroll
    for (int c = 0; c < 8; c++)
        weights->pair[c / 4][c % 4] = transposed(weights->pair[c / 4][c % 4]);
}

template <bool potential>
static __device__ inline void make_weights(const uint4 &row, const uint4 (&column)[2], float magic,
                                           struct weights *weights, struct weights *of_potential)
{
#pragma unroll
    for (int c = 0; c < 4; c++) {
        const uint4 &of = column[c / 2];
        float s2[4];
        multiply_halves(row, c % 2 ? of.z : of.x, c % 2 ? of.w : of.y, s2);
        unsigned weight[4], inverse[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float y = estimate_rsqrt(s2[k]);
            weight[k] = __float_as_uint(fmaf(y * y, y, magic));
            inverse[k] = __float_as_uint(y + 128.0f);
        }
        for (int r = 0; r < 2; r++) {
            weights->pair[r][c] = __byte_perm(weight[2 * r], weight[2 * r + 1], 0x5410);
            if (potential)
                of_potential->pair[r][c] = __byte_perm(inverse[2 * r], inverse[2 * r + 1], 0x5410);
        }
    }
}

/* Begins to bring a tile's operands. */
template <bool potential>
static __device__ inline void fetch(const struct tensor_bodies &bodies, int64_t tile,
                                    struct operands<potential> &to)
{
    constexpr int distances = tensor_tile / 16 * 32, threads = shape<potential>::threads;
    static_assert(distances % threads == 0 && tensor_tile % threads == 0,
                  "threads have equal work");
    const int64_t first = tile * tensor_tile + threadIdx.x;
    const uint4 *distance = bodies.distance + tile * distances + threadIdx.x;
#pragma unroll
    for (int k = 0; k < distances; k += threads)
        __pipeline_memcpy_async(&to.distance[threadIdx.x + k], distance + k, sizeof(uint4));
#pragma unroll
    for (int k = 0; k < tensor_tile; k += threads) {
        __pipeline_memcpy_async(&to.digits[threadIdx.x + k], bodies.digits + first + k,
                                sizeof(uint2));
        if (potential)
            __pipeline_memcpy_async(&to.mass_digits[threadIdx.x + k],
                                    bodies.mass_digits + first + k, sizeof(uint2));
    }
    __pipeline_commit();
}

/* 32 sources, of number `at` in the tile, and all targets of the warp. */
template <bool potential>
static __device__ inline void meet(const struct targets<potential> &targets,
                                   const uint4 (&row)[shape<potential>::row_tiles], float magic,
                                   int at, const struct operands<potential> &operands, int *sums,
                                   struct target_sums<potential> *found)
{
    const int lane = threadIdx.x % 32, q = lane % 4;
    const uint4 column[2] = {operands.distance[2 * at * 32 + lane],
                             operands.distance[(2 * at + 1) * 32 + lane]};
    const uint2 digits = operands.digits[at * 32 + lane];
    const uint2 mass_digits = operands.mass_digits[potential ? at * 32 + lane : 0];
    int source_high[2][4], source_low[2][4], source_potential[2][4];
#pragma unroll
    for (int t = 0; t < shape<potential>::row_tiles; t += 2) {
        struct weights weights[2], inverse[2];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned(&p)[2][4] = weights[k].pair, (&u)[2][4] = inverse[k].pair;
            make_weights<potential>(row[t + k], column, magic, &weights[k], &inverse[k]);
            add_weights({&p[0][0], &p[1][0], &p[0][2], &p[1][2]},
                        {&p[0][1], &p[1][1], &p[0][3], &p[1][3]}, digits, false, found->high[t + k],
                        found->low[t + k]);
            transpose(&weights[k]);
            if (potential) {
                add_potential_weights({&u[0][0], &u[1][0], &u[0][2], &u[1][2]},
                                      {&u[0][1], &u[1][1], &u[0][3], &u[1][3]}, mass_digits, false,
                                      found->of_potential[t + k]);
                transpose(&inverse[k]);
            }
        }
#pragma unroll
        for (int c = 0; c < 2; c++) {
            unsigned(&p)[2][4] = weights[0].pair, (&o)[2][4] = weights[1].pair;
            add_weights({&p[0][2 * c], &p[0][2 * c + 1], &o[0][2 * c], &o[0][2 * c + 1]},
                        {&p[1][2 * c], &p[1][2 * c + 1], &o[1][2 * c], &o[1][2 * c + 1]},
                        targets.digits[t / 2], t == 0, source_high[c], source_low[c]);
            unsigned(&u)[2][4] = inverse[0].pair, (&v)[2][4] = inverse[1].pair;
            if (potential)
                add_potential_weights(
                    {&u[0][2 * c], &u[0][2 * c + 1], &v[0][2 * c], &v[0][2 * c + 1]},
                    {&u[1][2 * c], &u[1][2 * c + 1], &v[1][2 * c], &v[1][2 * c + 1]},
                    targets.mass_digits[t / 2], t == 0, source_potential[c]);
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++) /* whole numbers: in any order */
        atomicAdd(&sums[(q * 2 + k % 2) * stride + at * 32 + k / 2 * 8 + lane / 4],
                  source_high[k / 4][k % 4] * 256 + source_low[k / 4][k % 4]);
#pragma unroll
    for (int k = 0; k < 4 && potential; k++)
        if (q < 2)
            atomicAdd(&sums[(8 + q) * stride + at * 32 + k * 8 + lane / 4],
                      source_potential[k / 2][k % 2 * 2] * 256 +
                          source_potential[k / 2][k % 2 * 2 + 1]);
}

/* Σ W m v of two digits, in units of the lowest. */
static __device__ inline float joined(int high, int low)
{
    return fmaf((float)high, 256.0f, (float)low);
}

static __device__ inline void add_whole(unsigned long long *sum, float value, float unit)
{
    atomicAdd(sum, (unsigned long long)__float2ll_rn(value * unit));
}

/* The sums of a pair of tiles become sums of the tile's targets. Of a potential, lane 0 of a row
 * has the higher bytes and lane 1 the lower ones. */
template <bool potential>
static __device__ inline void add_to_targets(struct targets<potential> *targets,
                                             const struct meeting &meeting,
                                             const struct target_sums<potential> &found)
{
    const int q = threadIdx.x % 4;
    const float center = of_lane(meeting.center[0], meeting.center[1], meeting.center[2]);
    const float of_digit = meeting.target_potential * (q == 0 ? 256.0f : q == 1 ? 1.0f : 0.0f);
#pragma unroll
    for (int t = 0; t < shape<potential>::row_tiles; t++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int(&high)[4] = found.high[t], (&low)[4] = found.low[t];
            const int(&of_potential)[4] = found.of_potential[t];
            const float moment =
                joined(high[2 * r] * 256 + low[2 * r], high[2 * r + 1] * 256 + low[2 * r + 1]);
            const float mass = __shfl_sync(0xffffffff, moment, threadIdx.x % 32 | 3);
            targets->sum[t][r] += moment * meeting.target_moment +
                                  (center - targets->x[t][r]) * (mass * meeting.target_mass);
            if (potential)
                targets->potential_sum[t][r] +=
                    of_digit * joined(of_potential[2 * r], of_potential[2 * r + 1]);
        }
}

/* And of the partner's sources; center: of the targets' tile. */
template <bool potential>
static __device__ inline void
add_to_sources(const struct tensor_bodies &bodies, const struct meeting &meeting,
               const float (&center)[3], struct shared<potential> &shared)
{
    const struct tensor_unit unit = bodies.unit[meeting.partner];
    const int64_t first = (int64_t)meeting.partner * tensor_tile + threadIdx.x;
    const float4 *body = bodies.body + first;
    unsigned long long *sum = bodies.sum + tensor_sum_at(bodies, first);
    int *digit = shared.column + threadIdx.x;
#pragma unroll
    for (int j = 0; j < tensor_tile; j += shape<potential>::threads) {
        float moment[shape<potential>::columns / 2];
#pragma unroll
        for (int c = 0; c < shape<potential>::columns / 2; c++) {
            moment[c] = joined(digit[2 * c * stride + j], digit[(2 * c + 1) * stride + j]);
            digit[2 * c * stride + j] = digit[(2 * c + 1) * stride + j] = 0;
        }
        const float widened = tensor_widened_mass((int)threadIdx.x + j);
        const float mass = widened * moment[3] * meeting.source_mass;
        const float d[3] = {center[0] - body[j].x, center[1] - body[j].y, center[2] - body[j].z};
#pragma unroll
        for (int c = 0; c < 3; c++)
            add_whole(sum + c * tensor_tile + j,
                      widened * moment[c] * meeting.source_moment + d[c] * mass, unit.field);
        if (potential)
            add_whole(sum + 3 * tensor_tile + j,
                      sqrtf(tensor_widened((int)threadIdx.x + j)) *
                          moment[shape<potential>::columns / 2 - 1] * meeting.source_potential,
                      unit.potential);
    }
}

/* A far tile, whose operands are in one of the buffers or on the way to it; `next` goes to the
 * other one, if it is not NULL. */
template <bool potential>
static __device__ inline void
meet_tile(const struct tensor_bodies &bodies, float softening2, const float (&center)[3],
          const struct meeting &meeting, const struct meeting *next, int buffer,
          struct targets<potential> *targets, struct shared<potential> &shared)
{
    constexpr int groups = tensor_tile / 32, warps = shape<potential>::warps;
    uint4 row[shape<potential>::row_tiles];
    make_rows(*targets, meeting, softening2, row);
    struct target_sums<potential> found = {
    };
    __pipeline_wait_prior(0);
    __syncthreads();
    if (next)
        fetch(bodies, next->partner, shared.operands[1 - buffer]);
#pragma unroll 1
    for (int k = 0; k < groups; k++)
        meet(*targets, row, meeting.magic, (k + threadIdx.x / 32 * (groups / warps)) % groups,
             shared.operands[buffer], shared.column, &found);
    add_to_targets(targets, meeting, found);
    __syncthreads();
    add_to_sources(bodies, meeting, center, shared);
}

/* Adds the targets' sums to the tile's, and begins new ones: lane 3 of a row has its potential. */
template <bool potential>
static __device__ inline void flush(const struct tensor_bodies &bodies, int64_t tile,
                                    struct targets<potential> *targets)
{
    const int q = threadIdx.x % 4;
    const struct tensor_unit unit = bodies.unit[tile];
#pragma unroll
    for (int t = 0; t < shape<potential>::row_tiles; t++)
        for (int r = 0; r < 2; r++) {
            const int k = row_of<potential>(t, r);
            float sum = tensor_widened_mass(k) * targets->sum[t][r];
            if (potential) {
                const float part = targets->potential_sum[t][r];
                const float both = part + __shfl_xor_sync(0xffffffff, part, 1);
                const float of_row = __shfl_sync(0xffffffff, both, threadIdx.x % 32 & ~3);
                sum = q == 3 ? sqrtf(tensor_widened(k)) * of_row : sum;
            }
            if (q < (potential ? 4 : 3))
                add_whole(bodies.sum + (tile * bodies.values + q) * tensor_tile + k, sum,
                          q < 3 ? unit.field : unit.potential);
            targets->sum[t][r] = targets->potential_sum[t][r] = 0;
        }
}

/* The first offset of a share. Shares shorten, so that all blocks end at about one time. */
static __device__ inline int64_t share_offset(int64_t partners, int64_t shares, int64_t share)
{
    const int64_t left = shares - share;
    return 1 + partners - partners * left * left / (shares * shares);
}

/* Block (tile, share): the tile's partners at the offsets of a share, each pair of tiles once. It
 * runs together with the last blocks of the near kernel. */
template <bool potential>
static __global__ void __launch_bounds__(shape<potential>::threads,
                                         shape<potential>::blocks_per_multiprocessor)
    far_kernel(const struct forces_problem problem, const struct tensor_bodies bodies)
{
    __shared__ struct shared<potential> shared;
    if (tensor_is_left(bodies)) {
        wait_for_kernel_before();
        return;
    }
    const int64_t tile = bodies.first + blockIdx.x, tiles = bodies.tiles;
    const int64_t last = tensor_last_offset(tiles, tile);
    const int64_t begin = share_offset(tiles / 2, gridDim.y, blockIdx.y);
    const int64_t end = min(share_offset(tiles / 2, gridDim.y, blockIdx.y + 1), last + 1);
    const struct tensor_box own = bodies.box[tile];
    const float center[3] = {own.center[0], own.center[1], own.center[2]};
    const float softening2 = tensor_softening2(problem);
    struct targets<potential> targets;
    load_targets(bodies, tile, &targets);
    for (int k = threadIdx.x; k < shape<potential>::columns * stride;
         k += shape<potential>::threads)
        shared.column[k] = 0;
    for (int64_t first = begin; first < end; first += list_length) {
        const int64_t offset = first + threadIdx.x;
        const bool is_partner = (int)threadIdx.x < list_length && offset < end;
        const int64_t partner = ring_partner(tiles, tile, is_partner ? offset : 0);
        float gap2;
        int count;
        const bool is_far = is_partner && tensor_is_far(own, bodies.box[partner], gap2);
        const int place = tile_place<shape<potential>::warps>(is_far, shared.counts, &count);
        if (is_far)
            shared.list[place] = meeting_of(bodies, tile, partner, gap2, softening2);
        __syncthreads();
        if (count > 0)
            fetch(bodies, shared.list[0].partner, shared.operands[0]);
        for (int k = 0; k < count; k++)
            meet_tile(bodies, softening2, center, shared.list[k],
                      k + 1 < count ? &shared.list[k + 1] : NULL, k % 2, &targets, shared);
        flush(bodies, tile, &targets);
    }
    wait_for_kernel_before();
}

kith_status tensor_far(kith_context *context, const struct forces_problem *problem,
                       const struct tensor_bodies *bodies)
{
    static const char what[] = "starting the kernel of far forces on tensor cores";
    const int64_t partners = bodies->tiles / 2;
    if (partners == 0 || bodies->end == bodies->first)
        return KITH_OK;
    const int lists = (int)((2 * partners + list_length - 1) / list_length);
    const int shares = max(lists, tile_shares(bodies->tiles, partners));
    const dim3 grid((unsigned)(bodies->end - bodies->first), (unsigned)shares);
    return problem->potential ? launch_overlapped(context, what, grid, shape<true>::threads,
                                                  far_kernel<true>, *problem, *bodies)
                              : launch_overlapped(context, what, grid, shape<false>::threads,
                                                  far_kernel<false>, *problem, *bodies);
}
