/* Points for the sums of a Gaussian on tensor cores (gaussian_cuda.cuh): tiles, their boxes, and
 * the operands of the products. A block makes a tile. */

#include <cuda_fp16.h>

#include "core/status.h"
#include "device/warp.cuh"
#include "matrix/gaussian_cuda.cuh"

constexpr int threads = gaussian_tile, warps = threads / 32;

/* The largest of all threads of a block. */
static __device__ inline float largest_of_block(float value, float (&of_warp)[warps])
{
    value = warp_largest(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    for (int w = 1; w < warps; w++)
        value = fmaxf(value, of_warp[w]);
    return value;
}

struct halves {
    __half high[KITH_MAX_COORDINATES][gaussian_tile], low[KITH_MAX_COORDINATES][gaussian_tile];
};

/* Number k of the halves of a point: as a row 2 h, 2 l, 2 h of each axis, as a column h, h, l. */
static __device__ inline __half operand(const struct halves &halves, int axes, int point, int k,
                                        bool is_row)
{
    const int axis = k / 3, which = k % 3;
    if (axis >= axes)
        return __half(0.0f);
    const bool is_low = which == (is_row ? 1 : 2);
    const __half half = is_low ? halves.low[axis][point] : halves.high[axis][point];
    return is_row ? half + half : half;
}

/* In the order of a warp's registers: lane (g, q) holds of 16 rows g and g + 8, the halves 2q, 2q +
 * 1, 2q + 8 and 2q + 9; and the same of columns g and g + 8. */
template <int parts>
static __device__ void put_operands(const struct gaussian_side &side, const struct halves &halves,
                                    int axes)
{
    constexpr int words = gaussian_tile / 16 * parts * 32 * 4;
    __half2 *row = (__half2 *)side.row + (int64_t)blockIdx.x * words;
    __half2 *column = (__half2 *)side.column + (int64_t)blockIdx.x * words;
    for (int at = threadIdx.x; at < words; at += threads) {
        const int word = at % 4, lane = at / 4 % 32, part = at / 128 % parts;
        const int first = at / (128 * parts) * 16 + lane / 4, k = 16 * part + lane % 4 * 2;
        const int i = first + word % 2 * 8, of_i = k + word / 2 * 8;
        const int j = first + word / 2 * 8, of_j = k + word % 2 * 8;
        row[at] = __halves2half2(operand(halves, axes, i, of_i, true),
                                 operand(halves, axes, i, of_i + 1, true));
        column[at] = __halves2half2(operand(halves, axes, j, of_j, false),
                                    operand(halves, axes, j, of_j + 1, false));
    }
}

template <int parts>
static __global__ void __launch_bounds__(threads)
    pack_points(const struct gaussian_points points, const struct gaussian_side side,
                const float *__restrict__ b, int64_t b_stride, int axes, float root)
{
    __shared__ float of_warp[warps];
    __shared__ struct halves halves;
    const int64_t tile = blockIdx.x, place = tile * gaussian_tile + threadIdx.x;
    const int64_t last = min(place, side.count - 1), i = side.order ? side.order[last] : last;
    const float weight = place < side.count ? (b ? b[i * b_stride] : 1.0f) : 0.0f;
    struct gaussian_box &box = side.box[tile];
    float norm2 = 0, none = weight * 0;
    for (int c = 0; c < axes; c++) {
        const float x = points.x[c][i * points.stride];
        const float high = largest_of_block(x, of_warp), low = -largest_of_block(-x, of_warp);
        const float center = 0.5f * low + 0.5f * high, exact = (x - center) * root;
        const __half upper = __float2half_rn(exact);
        const __half lower = __float2half_rn(exact - __half2float(upper));
        /* As the products have it; halves that overflow are not used. */
        const float p = fabsf(exact) < 1000 ? __half2float(upper) + __half2float(lower) : exact;
        halves.high[c][threadIdx.x] = upper;
        halves.low[c][threadIdx.x] = lower;
        side.x[(tile * axes + c) * gaussian_tile + threadIdx.x] = x;
        norm2 = fmaf(p, p, norm2);
        none += x * 0;
        if (threadIdx.x == 0) {
            box.center[c] = center;
            box.half[c] = fmaxf(high - center, center - low);
        }
    }
    side.norm2[place] = norm2;
    side.b[place] = weight;
    const float radius2 = largest_of_block(norm2, of_warp);
    const float largest = largest_of_block(fabsf(weight), of_warp);
    const bool is_bad = __syncthreads_or(none != 0);
    if (threadIdx.x == 0) {
        box.radius2 = radius2;
        box.largest = is_bad ? NAN : largest;
    }
    put_operands<parts>(side, halves, axes);
}

constexpr int scale_threads = 1024;

static __device__ inline float larger_or_nan(float a, float b)
{
    return b > a || b != b ? b : a;
}

static __device__ inline float largest_of(const struct gaussian_side &side, float found)
{
    for (int64_t k = threadIdx.x; k < side.tiles; k += scale_threads)
        found = larger_or_nan(found, side.box[k].largest);
    return found;
}

/* One block. A scale of NaN makes all results NaN. */
static __global__ void __launch_bounds__(scale_threads)
    find_scale(const struct gaussian_problem problem)
{
    __shared__ float found[scale_threads];
    const float of_rows = largest_of(problem.rows, 0);
    found[threadIdx.x] = largest_of(problem.columns, of_rows != of_rows ? of_rows : 0);
    for (int half = scale_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            found[threadIdx.x] = larger_or_nan(found[threadIdx.x], found[threadIdx.x + half]);
    }
    if (threadIdx.x > 0)
        return;
    int exponent = 0;
    if (found[0] == found[0])
        frexpf(found[0], &exponent);
    *problem.scale = found[0] == found[0] ? ldexpf(1.0f, max(-126, min(-exponent, 126))) : NAN;
}

static kith_status make(kith_context *context, const struct gaussian_points *points,
                        const struct gaussian_side *side, const struct gaussian_sums *sums,
                        bool has_b, float root)
{
    static void (*const makers[])(const struct gaussian_points, const struct gaussian_side,
                                  const float *, int64_t, int, float) = {
        pack_points<1>, pack_points<2>, pack_points<gaussian_most_parts>};
    makers[gaussian_parts(sums->axes) -
           1]<<<(unsigned)side->tiles, threads, 0, cuda_stream(context)>>>(
        *points, *side, has_b ? sums->b : NULL, sums->b_stride, sums->axes, root);
    return cuda_check_launch("packing points for tensor cores");
}

kith_status gaussian_pack(kith_context *context, const struct gaussian_sums *sums,
                          const struct gaussian_problem *problem)
{
    KITH_TRY(make(context, &sums->columns, &problem->columns, sums, true, problem->root));
    if (!sums->same)
        KITH_TRY(make(context, &sums->rows, &problem->rows, sums, false, problem->root));
    find_scale<<<1, scale_threads, 0, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("finding the scale of b");
}
