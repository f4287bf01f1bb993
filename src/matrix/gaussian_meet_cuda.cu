/* The sums of a Gaussian over pairs of tiles, on tensor cores (gaussian_cuda.cuh).
 *
 * A block keeps the operands of a tile of rows in registers, 64 rows a warp, and meets partner
 * tiles one after another. Products leave 16 × 8 exponents in a warp: lane (g, q), g = lane / 4, q
 * = lane % 4, has those of rows g and g + 8, columns 2q and 2q + 1. It adds them up along its rows,
 * and, if each pair is met once, along its columns.
 *
 * The exponential unit makes 16 numbers a cycle and multiprocessor. Of two sets one of four is a
 * polynomial, for which the multiply pipes have time. On an H200, 3 axes, 10¹² pairs/s of kernels
 * alone at N = 65 536: one set 5.8 with and without polynomials, with 5 blocks of a multiprocessor
 * 6.0; two sets 3.37, and 3.77 with them. Of one set the unit is 80 % busy, and half of the issue
 * slots. */

#include "core/status.h"
#include "device/architecture_80.cuh"
#include "matrix/gaussian_cuda.cuh"
#include "sort/tiles_cuda.cuh"

constexpr int threads = 128, warps = threads / 32;
constexpr int row_tiles = gaussian_tile / 16 / warps; /* of 16 rows, a warp */
constexpr int columns_at_once = 32, halves_at_once = columns_at_once / 8;
constexpr int pairs_a_flush = 16; /* of tiles, whose sums of rows are added in float */

struct meeting {
    int partner;
    bool by_products;
};

struct shared {
    float row_factor[gaussian_tile], row_weight[gaussian_tile], column_weight[gaussian_tile];
    float column_sum[warps][gaussian_tile];
    struct meeting list[threads];
    int counts[warps];
};

/* The warp's rows. */
template <int parts> struct rows {
    uint4 operand[row_tiles][parts];
    float sum[row_tiles][2];
};

static __device__ inline float exp2_unit(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* For |x| ≤ 100, to 2.1e-7: 2^x of the whole number next to x, times a polynomial of least error.
 */
static __device__ inline float exp2_polynomial(float x)
{
    const float shift = 0x1.8p23f, whole = x + shift, f = x - (whole - shift);
    float y = 1.32764725e-3f;
    y = fmaf(y, f, 9.67554096e-3f);
    y = fmaf(y, f, 5.55071309e-2f);
    y = fmaf(y, f, 2.40221202e-1f);
    y = fmaf(y, f, 6.93146944e-1f);
    y = fmaf(y, f, 1.00000012f);
    return __int_as_float(__float_as_int(y) + (__float_as_int(whole) << 23));
}

/* d += row · column of 16 halves. */
static __device__ inline void add_product(float (&d)[4], const uint4 &row, unsigned column0,
                                          unsigned column1)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(row.x), "r"(row.y), "r"(row.z), "r"(row.w), "r"(column0), "r"(column1));
#endif
}

/* length: of a level. */
static __device__ inline void add_whole(unsigned long long *sum, int64_t length, float value)
{
    const int exponent = (__float_as_int(value) >> 23 & 255) - 126; /* |value| < 2^exponent */
    const int below = max(0, min((12 - exponent) / gaussian_level_bits, gaussian_levels - 1));
    const float scaled =
        value * 0x1p32f * __int_as_float((127 + gaussian_level_bits * below) << 23);
    if (value != 0)
        atomicAdd(sum + (gaussian_levels - 1 - below) * length,
                  (unsigned long long)__float2ll_rn(scaled));
}

/* −(root |x − y|)² by the multiply pipes, of a lane's rows, `row` and 8 after it, and the columns
 * from `column` on. */
static __device__ inline void differences(const struct gaussian_problem &problem, int64_t tile,
                                          int64_t partner, int row, int column,
                                          float (&exponent)[halves_at_once][4])
{
    const float *x = problem.rows.x + tile * problem.axes * gaussian_tile + row;
    const float *y = problem.columns.x + partner * problem.axes * gaussian_tile + column;
    for (int n = 0; n < halves_at_once; n++)
        for (int k = 0; k < 4; k++)
            exponent[n][k] = 0;
#pragma unroll 1
    for (int c = 0; c < problem.axes; c++, x += gaussian_tile, y += gaussian_tile) {
        const float of_row[2] = {x[0], x[8]};
#pragma unroll
        for (int n = 0; n < halves_at_once; n++) {
            const float2 pair = *(const float2 *)(y + 8 * n);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const float d = (of_row[k / 2] - (k % 2 ? pair.y : pair.x)) * problem.root;
                exponent[n][k] = fmaf(-d, d, exponent[n][k]);
            }
        }
    }
}

/* Eight numbers of a lane, each summed over the lanes of the same lane % 4: number g of lane (g,
 * q).
 */
static __device__ inline float sum_over_rows(float (&number)[8])
{
#pragma unroll
    for (int half = 4, mask = 16; half > 0; half /= 2, mask /= 2)
#pragma unroll
        for (int k = 0; k < half; k++) {
            const bool is_upper = threadIdx.x & mask;
            const float give = is_upper ? number[k] : number[k + half];
            const float keep = is_upper ? number[k + half] : number[k];
            number[k] = keep + __shfl_xor_sync(0xffffffff, give, mask);
        }
    return number[0];
}

/* Adds the rows' sums over a tile; what the columns' are over the warp's rows goes to column_sum.
 * is_self: the tile meets itself. */
template <int parts, bool same, bool by_products>
static __device__ inline void meet_tile(const struct gaussian_problem &problem, int64_t tile,
                                        int64_t partner, bool is_self, struct rows<parts> *rows,
                                        struct shared &shared)
{
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32, g = lane / 4, q = lane % 4;
    const int first_row = w * 16 * row_tiles + g;
    const uint4 *operand =
        problem.columns.column + partner * (gaussian_tile / 16 * parts * 32) + lane;
    float sum[row_tiles][2] = {}, weight[row_tiles][2];
#pragma unroll
    for (int t = 0; t < row_tiles; t++)
        for (int r = 0; r < 2; r++)
            weight[t][r] = same ? shared.row_weight[first_row + t * 16 + r * 8] : 0;
#pragma unroll 1
    for (int first = 0; first < gaussian_tile; first += columns_at_once) {
        uint4 column[halves_at_once / 2][parts];
        float2 of_column[halves_at_once];
        float column_sum[2 * halves_at_once] = {};
#pragma unroll
        for (int h = 0; h < halves_at_once / 2; h++)
            for (int part = 0; part < parts && by_products; part++)
                column[h][part] = __ldg(operand + ((first / 16 + h) * parts + part) * 32);
#pragma unroll
        for (int n = 0; n < halves_at_once; n++)
            of_column[n] = *(const float2 *)&shared.column_weight[first + n * 8 + 2 * q];
#pragma unroll
        for (int t = 0; t < row_tiles; t++) {
            float exponent[halves_at_once][4] = {};
            if (!by_products)
                differences(problem, tile, partner, first_row + t * 16, first + 2 * q, exponent);
#pragma unroll
            for (int n = 0; n < halves_at_once; n++) {
                float value[4];
#pragma unroll
                for (int part = 0; part < parts && by_products; part++) {
                    const uint4 &both = column[n / 2][part];
                    add_product(exponent[n], rows->operand[t][part], n % 2 ? both.z : both.x,
                                n % 2 ? both.w : both.y);
                }
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    value[k] = !same && by_products && k == 3 ? exp2_polynomial(exponent[n][k])
                                                              : exp2_unit(exponent[n][k]);
                    if (!by_products && is_self && problem.leaves_out_self &&
                        first_row + t * 16 + k / 2 * 8 == first + n * 8 + 2 * q + k % 2)
                        value[k] = 0;
                }
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const float of = k % 2 ? of_column[n].y : of_column[n].x;
                    sum[t][k / 2] = fmaf(value[k], of, sum[t][k / 2]);
                    if (same)
                        column_sum[2 * n + k % 2] =
                            fmaf(value[k], weight[t][k / 2], column_sum[2 * n + k % 2]);
                }
            }
        }
        if (same)
            shared.column_sum[w][first + g / 2 * 8 + 2 * q + g % 2] = sum_over_rows(column_sum);
    }
#pragma unroll
    for (int t = 0; t < row_tiles; t++)
        for (int r = 0; r < 2; r++)
            rows->sum[t][r] =
                fmaf(sum[t][r], shared.row_factor[first_row + t * 16 + r * 8], rows->sum[t][r]);
}

/* |p|² + 2 p·d + |d|²/2 of a point of a tile; d: to its center from the other tile's. */
static __device__ inline float exponent_of_point(const struct gaussian_side &side, int axes,
                                                 float root, int64_t tile, int place,
                                                 const struct gaussian_box &other)
{
    const struct gaussian_box &box = side.box[tile];
    const float *x = side.x + tile * axes * gaussian_tile + place;
    float exponent = side.norm2[tile * gaussian_tile + place], apart2 = 0;
    for (int c = 0; c < axes; c++) {
        const float apart = (box.center[c] - other.center[c]) * root;
        const float p = (x[c * gaussian_tile] - box.center[c]) * root;
        apart2 = fmaf(apart, apart, apart2);
        exponent = fmaf(2 * apart, p, exponent);
    }
    return fmaf(0.5f, apart2, exponent);
}

/* The factors of a pair of tiles; a thread has those of two columns in own. */
static __device__ inline void prepare(const struct gaussian_problem &problem, int64_t tile,
                                      const struct meeting &meeting, float scale, float (&own)[2],
                                      struct shared &shared)
{
    const struct gaussian_side &rows = problem.rows, &columns = problem.columns;
    const int64_t partner = meeting.partner;
    for (int k = 0; k < 2; k++) {
        const int place = threadIdx.x + k * threads;
        float row = 1;
        own[k] = 1;
        if (meeting.by_products) {
            row = exp2_unit(-exponent_of_point(rows, problem.axes, problem.root, tile, place,
                                               columns.box[partner]));
            own[k] = exp2_unit(-exponent_of_point(columns, problem.axes, problem.root, partner,
                                                  place, rows.box[tile]));
        }
        shared.row_factor[place] = row;
        shared.row_weight[place] = row * (rows.b[tile * gaussian_tile + place] * scale);
        shared.column_weight[place] = own[k] * (columns.b[partner * gaussian_tile + place] * scale);
    }
}

/* Adds the sums of a warp's rows to the tile's, and begins new ones. */
template <int parts>
static __device__ inline void flush(const struct gaussian_problem &problem, int64_t tile,
                                    struct rows<parts> *rows)
{
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    static_assert(row_tiles == 4, "each of the four lanes of a row adds one of its tiles");
    for (int r = 0; r < 2; r++) {
        float own = 0;
#pragma unroll
        for (int t = 0; t < row_tiles; t++) {
            float sum = rows->sum[t][r];
            sum += __shfl_xor_sync(0xffffffff, sum, 1);
            sum += __shfl_xor_sync(0xffffffff, sum, 2);
            own = lane % 4 == t ? sum : own;
            rows->sum[t][r] = 0;
        }
        const int row = (w * row_tiles + lane % 4) * 16 + r * 8 + lane / 4;
        add_whole(problem.sum + tile * gaussian_tile + row, problem.rows.tiles * gaussian_tile,
                  own);
    }
}

/* Whether any value of a pair of tiles is not 0. */
static __device__ inline bool is_near(const struct gaussian_problem &problem, int64_t tile,
                                      int64_t partner)
{
    const struct gaussian_box &a = problem.rows.box[tile], &b = problem.columns.box[partner];
    float gap2 = 0;
    for (int c = 0; c < problem.axes; c++) {
        const float gap =
            (fabsf(a.center[c] - b.center[c]) - (a.half[c] + b.half[c])) * problem.root;
        gap2 = gap > 0 ? fmaf(gap, gap, gap2) : gap2;
    }
    return gap2 < gaussian_zero_from;
}

/* Lists which of `threads` partners from `first` on the tile meets, in their order, and returns how
 * many. For all threads of a block. */
template <bool same>
static __device__ inline int list_partners(const struct gaussian_problem &problem, int64_t tile,
                                           int64_t first, int64_t end, struct shared &shared)
{
    const int64_t tiles = problem.columns.tiles, offset = first + threadIdx.x;
    const int64_t beyond = same ? tile + offset : offset;
    const int64_t partner = offset >= end ? 0 : beyond < tiles ? beyond : beyond - tiles;
    const bool is_wanted = offset < end && is_near(problem, tile, partner);
    const float radius2 =
        fmaxf(problem.rows.box[tile].radius2, problem.columns.box[partner].radius2);
    int count;
    const int place = tile_place<warps>(is_wanted, shared.counts, &count);
    if (is_wanted)
        shared.list[place] = {(int)partner,
                              !(same && partner == tile) && radius2 <= gaussian_most_radius2};
    __syncthreads();
    return count;
}

constexpr int blocks_per_multiprocessor(int parts, bool same)
{
    return parts > 2 ? 3 : parts > 1 || !same ? 4 : 5;
}

/* Block (tile, share): a share of the tile's partners: of one set each pair of tiles once. */
template <int parts, bool same>
static __global__ void __launch_bounds__(threads, blocks_per_multiprocessor(parts, same))
    meet(const __grid_constant__ struct gaussian_problem problem)
{
    __shared__ struct shared shared;
    const int64_t tile = blockIdx.x, tiles = problem.columns.tiles;
    const int64_t of_set = tiles % 2 == 0 && tile >= tiles / 2 ? tiles / 2 : tiles / 2 + 1;
    const int64_t partners = same ? of_set : tiles;
    const int64_t begin = partners * blockIdx.y / gridDim.y;
    const int64_t end = partners * (blockIdx.y + 1) / gridDim.y;
    const float scale = *problem.scale;
    struct rows<parts> rows = {
    };
#pragma unroll
    for (int t = 0; t < row_tiles; t++)
        for (int part = 0; part < parts; part++) {
            const int64_t sixteen = tile * (gaussian_tile / 16) + threadIdx.x / 32 * row_tiles + t;
            rows.operand[t][part] =
                problem.rows.row[(sixteen * parts + part) * 32 + threadIdx.x % 32];
        }
    for (int64_t first = begin; first < end; first += threads) {
        const int count = list_partners<same>(problem, tile, first, end, shared);
        for (int k = 0; k < count; k++) {
            const struct meeting meeting = shared.list[k];
            const bool is_self = same && meeting.partner == tile;
            float own[2];
            prepare(problem, tile, meeting, scale, own, shared);
            __syncthreads();
            if (meeting.by_products)
                meet_tile<parts, same, true>(problem, tile, meeting.partner, false, &rows, shared);
            else
                meet_tile<parts, same, false>(problem, tile, meeting.partner, is_self, &rows,
                                              shared);
            __syncthreads();
            for (int h = 0; h < 2 && same && !is_self; h++) {
                const int place = threadIdx.x + h * threads;
                float sum = 0;
                for (int w = 0; w < warps; w++)
                    sum += shared.column_sum[w][place];
                add_whole(problem.sum + meeting.partner * gaussian_tile + place,
                          tiles * gaussian_tile, sum * own[h]);
            }
            if (k % pairs_a_flush == pairs_a_flush - 1 || k + 1 == count)
                flush(problem, tile, &rows);
        }
    }
}

kith_status gaussian_meet(kith_context *context, const struct gaussian_problem *problem, bool same)
{
    static void (*const kernels[][2])(const struct gaussian_problem) = {
        {meet<1, false>, meet<1, true>},
        {meet<2, false>, meet<2, true>},
        {meet<gaussian_most_parts, false>, meet<gaussian_most_parts, true>}};
    const int64_t tiles = problem->rows.tiles;
    const int64_t most = same ? tiles / 2 + 1 : problem->columns.tiles;
    const dim3 grid((unsigned)tiles, (unsigned)tile_shares(tiles, most));
    kernels[gaussian_parts(problem->axes) - 1][same]<<<grid, threads, 0, cuda_stream(context)>>>(
        *problem);
    return cuda_check_launch("summing a Gaussian on tensor cores");
}
