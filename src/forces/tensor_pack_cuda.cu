/* Bodies for the kernels on tensor cores: tiles of the sorted bodies, their boxes, and the operands
 * of the products. A block makes a tile. */

#include <cfloat>

#include <cuda_fp16.h>

#include "core/status.h"
#include "device/overlap.cuh"
#include "device/warp.cuh"
#include "forces/ring.h"
#include "forces/tensor_cuda.cuh"

constexpr int threads = tensor_tile, warps = threads / 32;

static __device__ inline float coordinate(const void *column, int64_t i)
{
    return column ? ((const float *)column)[i] : 0.0f;
}

struct extremes {
    float low[3], high[3], mass, total;
};

static __device__ inline struct extremes joined(const struct extremes &a, const struct extremes &b)
{
    struct extremes both;
    for (int c = 0; c < 3; c++) {
        both.low[c] = fminf(a.low[c], b.low[c]);
        both.high[c] = fmaxf(a.high[c], b.high[c]);
    }
    both.mass = fmaxf(a.mass, b.mass);
    both.total = a.total + b.total;
    return both;
}

static __device__ inline struct extremes of_lane(const struct extremes &own, int distance)
{
    struct extremes other;
    for (int c = 0; c < 3; c++) {
        other.low[c] = __shfl_xor_sync(0xffffffff, own.low[c], distance);
        other.high[c] = __shfl_xor_sync(0xffffffff, own.high[c], distance);
    }
    other.mass = __shfl_xor_sync(0xffffffff, own.mass, distance);
    other.total = __shfl_xor_sync(0xffffffff, own.total, distance);
    return other;
}

static __device__ struct extremes extremes_of_block(const float4 &body)
{
    __shared__ struct extremes of_warp[warps];
    const float mass = fabsf(body.w);
    struct extremes found = {{body.x, body.y, body.z}, {body.x, body.y, body.z}, mass, mass};
    for (int distance = 16; distance > 0; distance /= 2)
        found = joined(found, of_lane(found, distance));
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = found;
    __syncthreads();
    found = of_warp[0];
    for (int w = 1; w < warps; w++)
        found = joined(found, of_warp[w]);
    return found;
}

/* A power of two that makes what is at most `largest` at most 1, and not less than 1/2 unless that
 * is tiny. */
static __device__ inline float scale_for(float largest)
{
    int exponent;
    frexpf(fmaxf(largest, 0x1p-40f), &exponent);
    return ldexpf(1.0f, -exponent);
}

static __device__ inline unsigned pair_of(float a, float b)
{
    const __half2 both = __halves2half2(__float2half_rn(a), __float2half_rn(b));
    return *(const unsigned *)&both;
}

static __device__ inline float rounded(float a)
{
    return __half2float(__float2half_rn(a));
}

/* Of r², times `widened`: the operand's column of a source is, in lane q of its four, −2 v_q twice
 * (high half), −2 v_q (low half), and a half of |v|² (high, low, high); the last lane has ones for
 * |p|². */
static __device__ inline uint2 distance_operand(const float4 &v, float widened, int q)
{
    const float norm2 = widened * fmaf(v.x, v.x, fmaf(v.y, v.y, v.z * v.z));
    const float high_norm2 = rounded(norm2);
    const float of_norm2 = q == 1 ? norm2 - high_norm2 : high_norm2;
    const float x = widened * (q == 0 ? v.x : q == 1 ? v.y : v.z), high = rounded(x);
    if (q == 3)
        return make_uint2(pair_of(widened, widened), 0);
    return make_uint2(pair_of(-2 * high, -2 * high), pair_of(-2 * (x - high), of_norm2));
}

/* 1/256 of numbers, rounded to whole ones, of each thread: their sums along the tile are rounded,
 * and what they grow by is taken, so that rounding never adds up. */
template <int count> static __device__ void round_along_tile(int (&number)[count])
{
    __shared__ int of_warp[warps][count];
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    int sum[count];
    for (int c = 0; c < count; c++) {
        sum[c] = warp_sum_to(number[c]);
        if (lane == 31)
            of_warp[w][c] = sum[c];
    }
    __syncthreads();
    for (int c = 0; c < count; c++) {
        for (int before = 0; before < w; before++)
            sum[c] += of_warp[before][c];
        number[c] = ((sum[c] + 128) >> 8) - ((sum[c] - number[c] + 128) >> 8);
    }
}

/* Of each body: m v_x, m v_y, m v_z and m, widened, and m of potentials, all in units of the
 * largest mass, widened, over 32 512. */
struct whole_numbers {
    int moment[tensor_tile][4], mass[tensor_tile];
};

static __device__ void put_whole_numbers(const float4 &v, float mass_unit, bool has_potential,
                                         struct whole_numbers *to)
{
    const int k = (int)threadIdx.x;
    const float mass = mass_unit > 0 ? 256.0f * (v.w / mass_unit) : 0.0f;
    const float widened = tensor_widened_mass(k) * mass;
    int moment[4] = {__float2int_rn(v.x * widened), __float2int_rn(v.y * widened),
                     __float2int_rn(v.z * widened), __float2int_rn(widened)};
    round_along_tile(moment);
    for (int c = 0; c < 4; c++)
        to->moment[k][c] = moment[c];
    if (!has_potential)
        return;
    int of_potential[1] = {__float2int_rn(sqrtf(tensor_widened(k)) * mass)};
    round_along_tile(of_potential);
    to->mass[k] = of_potential[0];
}

/* The higher or the lower of two digits. */
static __device__ inline unsigned digit(int whole, bool is_low)
{
    const int high = (whole + 128) >> 8;
    return (unsigned)(is_low ? whole - high * 256 : high) & 0xff;
}

/* Of potentials, the operand has the mass in columns 0 and 1, and in 2 and 3 again: one for the
 * higher bytes of weights, and one for the lower. */
static __device__ void put_digits(const struct tensor_bodies &bodies,
                                  const struct whole_numbers &whole)
{
    const int64_t at = (int64_t)blockIdx.x * tensor_tile + threadIdx.x;
    const int first = threadIdx.x / 32 * 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    unsigned word[2] = {0, 0}, of_mass[2] = {0, 0};
    for (int half = 0; half < 2; half++)
        for (int byte = 0; byte < 4; byte++) {
            const int j = first + half * 16 + (byte >> 1) * 8 + 2 * q + (byte & 1);
            word[half] |= digit(whole.moment[j][g / 2], g % 2) << (8 * byte);
            if (bodies.mass_digits && g < 4)
                of_mass[half] |= digit(whole.mass[j], g % 2) << (8 * byte);
        }
    bodies.digits[at] = make_uint2(word[0], word[1]);
    if (bodies.mass_digits)
        bodies.mass_digits[at] = make_uint2(of_mass[0], of_mass[1]);
}

static __device__ void put_distances(const struct tensor_bodies &bodies, const float4 *scaled)
{
    for (int k = threadIdx.x; k < tensor_tile / 16 * 32; k += threads) {
        const int first = k / 32 * 16, g = k % 32 / 4, q = k % 4;
        const uint2 a = distance_operand(scaled[first + g], tensor_widened(first + g), q);
        const uint2 b = distance_operand(scaled[first + 8 + g], tensor_widened(first + 8 + g), q);
        bodies.distance[(int64_t)blockIdx.x * (tensor_tile / 16 * 32) + k] =
            make_uint4(a.x, a.y, b.x, b.y);
    }
}

static __global__ void __launch_bounds__(threads)
    pack_bodies(const struct forces_problem problem, const struct tensor_bodies bodies)
{
    __shared__ float4 scaled[tensor_tile];
    __shared__ struct whole_numbers whole;
    const int64_t k = (int64_t)blockIdx.x * tensor_tile + threadIdx.x;
    wait_for_kernel_before();
    const int64_t i = bodies.order[k < bodies.count ? k : bodies.count - 1];
    const float4 body = make_float4(coordinate(problem.target_position[0], i),
                                    coordinate(problem.target_position[1], i),
                                    coordinate(problem.target_position[2], i),
                                    k < bodies.count ? coordinate(problem.source_mass, i) : 0.0f);
    const struct extremes found = extremes_of_block(body);

    struct tensor_box box;
    float largest = 0, sum2 = 0;
    for (int c = 0; c < 3; c++) {
        box.center[c] = 0.5f * (found.low[c] + found.high[c]);
        box.half[c] = fmaxf(found.high[c] - box.center[c], box.center[c] - found.low[c]);
        largest = fmaxf(largest, box.half[c]);
        sum2 = fmaf(box.half[c], box.half[c], sum2);
    }
    box.scale = scale_for(largest);
    box.mass = found.mass * tensor_widened_mass(31) / 32512;
    box.total = found.total;
    box.has_negative = __syncthreads_or(body.w < 0);
    const float apart = 2 * tensor_apart;
    box.gap2 = apart * apart * (sum2 / 3);
    if (threadIdx.x == 0)
        bodies.box[blockIdx.x] = box;
    bodies.body[k] = body;
    for (int c = 0; c < bodies.values; c++)
        for (int level = 0; level < tensor_levels; level++)
            bodies.sum[level * tensor_level_length(bodies) + tensor_sum_at(bodies, k) +
                       c * tensor_tile] = 0;
    const float4 v =
        make_float4((body.x - box.center[0]) * box.scale, (body.y - box.center[1]) * box.scale,
                    (body.z - box.center[2]) * box.scale, body.w);
    scaled[threadIdx.x] = v;
    put_whole_numbers(v, box.mass, bodies.mass_digits != NULL, &whole);
    __syncthreads();
    put_distances(bodies, scaled);
    put_digits(bodies, whole);
}

constexpr int sum_threads = 1024;

/* Adds a number of each thread; for all threads of a block of sum_threads. */
static __device__ float sum_of_block(float value)
{
    __shared__ float sums[sum_threads];
    sums[threadIdx.x] = value;
    for (int half = sum_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
    return sums[0];
}

/* One block: tiles with a body of too much of all mass become near to all, and all tiles if a mass
 * is negative: these are not heavy. */
static __global__ void __launch_bounds__(sum_threads)
    set_heavy_apart(const struct tensor_bodies bodies)
{
    float total = 0;
    bool has_negative = false;
    wait_for_kernel_before();
    for (int64_t k = threadIdx.x; k < bodies.tiles; k += sum_threads) {
        total += bodies.box[k].total;
        has_negative |= bodies.box[k].has_negative;
    }
    total = sum_of_block(total);
    has_negative = __syncthreads_or(has_negative);
    for (int64_t k = threadIdx.x; k < bodies.tiles; k += sum_threads) {
        if (has_negative)
            bodies.box[k].gap2 = FLT_MAX;
        if (bodies.box[k].mass * (32512.0f * 256) > total)
            bodies.box[k].gap2 = INFINITY;
    }
}

static __device__ inline float side_of(const struct tensor_box &box)
{
    return 2 * fmaxf(box.half[0], fmaxf(box.half[1], box.half[2]));
}

/* A block a tile: the field of its far tiles is at most Σ M / (gap² + ε²), and the potential Σ M /
 * (gap² + ε²)^{1/2}, of which the units of its sums make at most 2^60. Near ones count as if they
 * were the longer side apart, and not if both are points: then the unit would be too coarse for the
 * rest. */
constexpr int bound_threads = 256;

static __device__ inline float unit_for(float bound)
{
    int exponent = 0;
    frexpf(bound, &exponent);
    return ldexpf(1.0f, min(60 - exponent, 100));
}

static __global__ void __launch_bounds__(bound_threads)
    find_units(const struct forces_problem problem, const struct tensor_bodies bodies)
{
    __shared__ float2 sums[bound_threads];
    __shared__ struct tensor_near_tiles near[bound_threads];
    const int64_t tile = blockIdx.x, tiles = bodies.tiles;
    wait_for_kernel_before();
    const struct tensor_box own = bodies.box[tile];
    const int64_t last = tensor_last_offset(tiles, tile);
    const bool is_met = tile >= bodies.first && tile < bodies.end;
    const float softening2 = tensor_softening2(problem);
    float2 bound = make_float2(0, 0);
    struct tensor_near_tiles of_thread = {0, 0};
    for (int64_t k = threadIdx.x; k < tiles; k += bound_threads) {
        const struct tensor_box other = bodies.box[k];
        const float side = fmaxf(side_of(own), side_of(other));
        float gap2;
        const bool is_far = tensor_is_far(own, other, gap2);
        const float apart2 = softening2 + (is_far ? gap2 : fmaxf(gap2, side * side));
        const int64_t offset = k < tile ? k - tile + tiles : k - tile;
        of_thread.all += is_far ? 0 : 1;
        of_thread.met += is_met && !is_far && offset <= last ? 1 : 0;
        bound.x += apart2 > tensor_least_gap2 ? other.total / apart2 : 0.0f;
        bound.y += apart2 > tensor_least_gap2 ? other.total / sqrtf(apart2) : 0.0f;
    }
    sums[threadIdx.x] = bound;
    near[threadIdx.x] = of_thread;
    for (int half = bound_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x].x += sums[threadIdx.x + half].x;
            sums[threadIdx.x].y += sums[threadIdx.x + half].y;
            near[threadIdx.x].all += near[threadIdx.x + half].all;
            near[threadIdx.x].met += near[threadIdx.x + half].met;
        }
    }
    if (threadIdx.x == 0) {
        bodies.near[tile] = near[0];
        bodies.unit[tile] = {unit_for(sums[0].x), unit_for(sums[0].y)};
    }
}

/* The sums of two numbers over the threads before this one and over all; for all threads of a block
 * of sum_threads. */
static __device__ longlong2 sums_before(longlong2 own, longlong2 *all)
{
    __shared__ longlong2 sums[sum_threads];
    longlong2 sum = own;
    for (int distance = 1; distance < sum_threads; distance *= 2) {
        sums[threadIdx.x] = sum;
        __syncthreads();
        if ((int)threadIdx.x >= distance) {
            sum.x += sums[threadIdx.x - distance].x;
            sum.y += sums[threadIdx.x - distance].y;
        }
        __syncthreads();
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    *all = sums[sum_threads - 1];
    return make_longlong2(sum.x - own.x, sum.y - own.y);
}

/* One block: numbers the near pairs, and chooses the method. Near pairs take 4/3 and far ones 5/8
 * of the symmetric kernel's time: at 53 % near ones both are equally fast (H200). A thread has
 * tiles that follow each other. */
static __global__ void __launch_bounds__(sum_threads) count_near(const struct tensor_bodies bodies)
{
    const int64_t tiles = bodies.tiles;
    const int64_t first = share_begin(tiles, sum_threads, threadIdx.x);
    const int64_t end = share_begin(tiles, sum_threads, threadIdx.x + 1);
    longlong2 own = make_longlong2(0, 0), all;
    wait_for_kernel_before();
    for (int64_t k = first; k < end; k++) {
        own.x += bodies.near[k].all;
        own.y += bodies.near[k].met;
    }
    int64_t before = sums_before(own, &all).y;
    for (int64_t k = first; k < end; k++) {
        bodies.near_before[k] = before;
        before += bodies.near[k].met;
    }
    if (threadIdx.x > 0)
        return;
    bodies.near_before[tiles] = all.y;
    if (bodies.is_left)
        *bodies.is_left = all.x > tiles * tiles * 2 / 5;
}

kith_status tensor_pack(kith_context *context, const struct forces_problem *problem,
                        const struct tensor_bodies *bodies)
{
    static const char what[] = "packing bodies for tensor cores";
    const dim3 tiles((unsigned)bodies->tiles);
    KITH_TRY(launch_overlapped(context, what, tiles, threads, pack_bodies, *problem, *bodies));
    KITH_TRY(launch_overlapped(context, what, dim3(1), sum_threads, set_heavy_apart, *bodies));
    KITH_TRY(launch_overlapped(context, what, tiles, bound_threads, find_units, *problem, *bodies));
    return launch_overlapped(context, what, dim3(1), sum_threads, count_near, *bodies);
}
