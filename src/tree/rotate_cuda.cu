/* M2L on a GPU in O(p³) (tree/expansion_rotation.h): a warp per target cell, a source a lane. All
 * loops are unrolled, and the constant matrices are in the memory that a block shares. */

#include "tree/expansion_angles.h"
#include "tree/expansion_rotation.h"
#include "tree/m2l_cuda.cuh"

static constexpr struct expansion_rotations make_rotations()
{
    struct expansion_rotations tables = {};
    expansion_fill_rotations(&tables);
    return tables;
}

static constexpr struct expansion_rotations made_rotations = make_rotations();
static __device__ const struct expansion_rotations rotations = made_rotations;

/* Coefficients of m ≤ min(n, p − n), which take part in the translation: a lane's are in shared
 * memory, a row each: c_0, c_1, s_1, … of each degree. */
template <int order> struct translated {
    __host__ __device__ static constexpr int most(int n)
    {
        return n < order - n ? n : order - n;
    }
    __host__ __device__ static constexpr int row(int n)
    {
        int before = 0;
        for (int j = 0; j < n; j++)
            before += 2 * most(j) + 1;
        return before;
    }
    static constexpr int rows = row(order + 1);
    /* Of degrees up to half the order these rows have all coefficients. */
    static constexpr int half = order / 2, full = row(half + 1);
    static constexpr int sums = (full + 31) / 32 + order - half;
    /* Where row n of the translation of m begins: numbers of k = m … order − n. */
    __host__ __device__ static constexpr int axis(int m, int n)
    {
        int before = 0;
        for (int of = 0; of < m; of++)
            before += (order - 2 * of + 1) * (order - 2 * of + 2) / 2;
        for (int j = m; j < n; j++)
            before += order - m - j + 1;
        return before;
    }
};

enum { row_length = 33 }; /* of the lanes, apart so that each can read another row */

template <typename real> struct alignas(2 * sizeof(real)) pair_of {
    real x, y;
};

/* The constant matrices, the two of an exchange in pairs. As operands in constant memory they do
 * not fit into its first cache. */
template <int order, typename real> struct matrices {
    pair_of<real> exchange[rotation_row(order + 1, 0)];
    real axis[translated<order>::axis(order / 2 + 1, order / 2 + 1)];
};

template <int order, typename real>
static __device__ __forceinline__ void load_matrices(matrices<order, real> *to)
{
    for (int k = threadIdx.x; k < rotation_row(order + 1, 0); k += blockDim.x)
        to->exchange[k] = {(real)rotations.even[k], (real)rotations.odd[k]};
    for (int m = 0; 2 * m <= order; m++)
        for (int n = m; n <= order - m; n++)
            for (int k = threadIdx.x; k <= order - m - n; k += blockDim.x)
                to->axis[translated<order>::axis(m, n) + k] =
                    (real)rotations.axis[rotation_axis(m, n) + k];
    __syncthreads();
}

/* (c + is) (x + iy)^m of m = 1 … last. The powers are recomputed in each call, as there are not
 * enough registers to keep them. */
template <int last, typename real>
static __device__ __forceinline__ void turn(real x, real y, real *c, real *s)
{
    real power_x = x, power_y = y;
#pragma unroll
    for (int m = 1; m <= last; m++) {
        const real from = c[m], next = fma(x, power_x, -y * power_y);
        c[m] = fma(power_x, from, -power_y * s[m]);
        s[m] = fma(power_x, s[m], power_y * from);
        power_y = fma(x, power_y, y * power_x);
        power_x = next;
    }
}

/* Row m of an exchange. */
template <int n, int m, typename real>
static __device__ __forceinline__ void exchange_row(const pair_of<real> *matrix, const real *c,
                                                    const real *s, real *to_c, real *to_s)
{
    constexpr int even = (n - m) % 2, odd = 1 - even; /* the first k of either */
    real sum_c = 0, sum_s = 0;
#pragma unroll
    for (int j = 0; 2 * j <= n; j++) {
        const pair_of<real> factor = matrix[rotation_row(n, m) + j];
        if (2 * j + even <= n)
            sum_c = fma(factor.x, c[2 * j + even], sum_c);
        if (m > 0 && 2 * j + odd > 0 && 2 * j + odd <= n)
            sum_s = fma(factor.y, s[2 * j + odd], sum_s);
    }
    to_c[m] = sum_c;
    to_s[m] = sum_s;
}

/* An exchange, unless is_short of rows 0 … most alone. */
template <int n, int most, typename real>
static __device__ __forceinline__ void exchange(const pair_of<real> *matrix, bool is_short, real *c,
                                                real *s)
{
    real to_c[n + 1], to_s[n + 1];
    repeat<most + 1>(
        [&](auto of_row) { exchange_row<n, decltype(of_row)::value>(matrix, c, s, to_c, to_s); });
    if (!is_short)
        repeat<n - most>([&](auto of_row) {
            exchange_row<n, most + 1 + decltype(of_row)::value>(matrix, c, s, to_c, to_s);
        });
#pragma unroll
    for (int m = 0; m <= n; m++) {
        c[m] = to_c[m];
        s[m] = to_s[m];
    }
}

/* The sum of a row over all lanes. */
template <typename real> static __device__ __forceinline__ real sum_row(const real *row)
{
    real sum[4] = {0, 0, 0, 0};
#pragma unroll 2
    for (int k = 0; k < 32; k += 4)
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[j] += row[k + j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The translation of m, in place. */
template <int order, int m, typename real, typename load, typename store>
static __device__ __forceinline__ void translate(const real *axis, load from, store to)
{
    constexpr int last = order - 2 * m;
    real value[last + 1];
#pragma unroll
    for (int k = 0; k <= last; k++)
        value[k] = from(m + k);
    repeat<last + 1>([&](auto of_row) {
        constexpr int n = decltype(of_row)::value;
        constexpr int row = translated<order>::axis(m, m + n);
        real sum = 0;
#pragma unroll
        for (int k = 0; k <= last - n; k++)
            sum = fma(axis[row + k], value[k], sum);
        to(m + n, m % 2 == 0 ? sum : -sum);
    });
}

/* Memory that a warp shares, and the warps of a block at most: as many as have registers. */
template <int order, typename real>
static constexpr int warp_bytes = translated<order>::rows *row_length *(int)sizeof(real);
enum { most_warps = 8 };

/* A source a lane: solid coefficients at the target, of which the lanes of sums have the sums,
 * those of sines with the other sign. The way to the axis and back have the same instructions, of
 * which more than fit into the cache would be waited for; the way back by conjugate factors is that
 * of conjugate numbers. */
template <int order, typename real>
static __device__ __forceinline__ void
add_batch(const matrices<order, real> *of, bool is_source, const real *record, int32_t solid,
          const real *target, real (*rows)[row_length], int lane, real *sums)
{
    using slots = translated<order>;
    const pair_of<real> *from = (const pair_of<real> *)(record + solid);
    const real x = target[0] - record[0], y = target[1] - record[1], z = target[2] - record[2];
    const real across2 = fma(x, x, y * y), r2 = fma(z, z, across2);
    const real of_r = rsqrt(r2), across = sqrt(across2);
    const real of_across = across > 0 ? 1 / across : (real)0;
    const real alpha_x = across > 0 ? y * of_across : (real)1, alpha_y = x * of_across;
    const real beta_x = z * of_r, beta_y = -across * of_r;
    real scale = is_source ? 1 : 0, step = -record[3] * of_r;
    real(*const own)[row_length] = (real(*)[row_length])(&rows[0][lane]);
#pragma unroll 1
    for (int back = 0; back < 2; back++) {
        repeat<order + 1>([&](auto of_degree) {
            constexpr int n = decltype(of_degree)::value;
            constexpr int most = slots::most(n), row = slots::row(n);
            real c[n + 1], s[n + 1];
            if (!back) {
#pragma unroll
                for (int m = 0; m <= n; m++) {
                    const pair_of<real> value = from[solid_row(n) / 2 + m];
                    c[m] = value.x;
                    s[m] = value.y;
                }
                turn<n>(alpha_x, alpha_y, c, s);
            } else {
                c[0] = own[row][0] * scale;
                s[0] = 0;
#pragma unroll
                for (int m = 1; m <= n; m++) {
                    c[m] = m <= most ? own[row + 2 * (m <= most ? m : 1) - 1][0] * scale : (real)0;
                    s[m] = m <= most ? -own[row + 2 * (m <= most ? m : 0)][0] * scale : (real)0;
                }
            }
            if constexpr (n > 0) {
#pragma unroll 1
                for (int again = 0; again < 2; again++) {
                    exchange<n, most>(of->exchange, again && !back, c, s);
                    if (!again)
                        turn<n>(beta_x, beta_y, c, s);
                }
            }
            if (!back) {
                own[row][0] = c[0] * scale;
#pragma unroll
                for (int m = 1; m <= most; m++) {
                    own[row + 2 * m - 1][0] = c[m] * scale;
                    own[row + 2 * m][0] = s[m] * scale;
                }
            } else {
                constexpr int to = n > slots::half ? 0 : row;
                turn<n>(alpha_x, alpha_y, c, s);
                own[to][0] = c[0];
#pragma unroll
                for (int m = 1; m <= n; m++) {
                    own[to + 2 * m - 1][0] = c[m];
                    own[to + 2 * m][0] = s[m];
                }
                if constexpr (n >= slots::half) {
                    constexpr int count = n > slots::half ? 2 * n + 1 : slots::full;
                    constexpr int first =
                        n > slots::half ? (slots::full + 31) / 32 + n - 1 - slots::half : 0;
                    __syncwarp();
#pragma unroll
                    for (int k = 0; 32 * k < count; k++)
                        if (32 * k + lane < count)
                            sums[first + k] += sum_row(rows[32 * k + lane]);
                    __syncwarp();
                }
            }
            scale *= step;
        });
        if (back)
            break;
        translate<order, 0, real>(
            of->axis, [&](int k) { return own[slots::row(k)][0]; },
            [&](int k, real value) { own[slots::row(k)][0] = value; });
        repeat<order / 2>([&](auto of_m) {
            constexpr int m = decltype(of_m)::value + 1;
#pragma unroll 1
            for (int part = 0; part < 2; part++) {
                real(*const part_of)[row_length] = own + part;
                translate<order, m, real>(
                    of->axis, [&](int k) { return part_of[slots::row(k) + 2 * m - 1][0]; },
                    [&](int k, real value) { part_of[slots::row(k) + 2 * m - 1][0] = value; });
            }
        });
        scale = of_r;
        step = -target[3] * of_r;
    }
}

/* local (+)= the expansion of these solid coefficients; field is memory that the lanes share. */
template <int order, typename real>
static __device__ __forceinline__ void store_sums(const struct expansion_angles *angles,
                                                  const real *sums, bool adds, int lane,
                                                  real *field, real *local)
{
    using slots = translated<order>;
    constexpr int low = (slots::full + 31) / 32;
    __syncwarp();
    repeat<slots::sums>([&](auto of_sum) { /* row k of degree n has the coefficient k − n² */
                                           constexpr int j = decltype(of_sum)::value;
                                           constexpr int before = (slots::half + 1 + j - low) *
                                                                  (slots::half + 1 + j - low);
                                           const int k = j < low ? 32 * j + lane : before + lane;
                                           const int end =
                                               j < low
                                                   ? slots::full
                                                   : before + 2 * (slots::half + 1 + j - low) + 1;
                                           if (k < end)
                                               field[k] = sums[j];
    });
    __syncwarp();
    for_each_coefficient(order, 1, [&](int32_t k, int32_t a, int32_t b, int32_t c) {
        if (lane != k % 32)
            return;
        const int32_t n = a + b + c;
        real all = 0;
        for (int32_t m = (a + b) % 2; m <= a + b; m += 2) {
            const double factor = angles->of[a][b][m] * angles->weight[n][m];
            const bool is_odd = b % 2 == 1, minus = ((a + b - m) % 4 != 0) != is_odd;
            if (m > 0 || !is_odd) /* of m = 0 sines are 0 */
                all = fma((real)(minus ? -factor : factor),
                          field[n * n + (m > 0 ? 2 * m - 1 + b % 2 : 0)], all);
        }
        local[k] = adds ? local[k] + all : all;
    });
    __syncwarp();
}

/* Each warp takes every part at the distance of the warps of all blocks, 32 of its sources at a
 * time. */
template <int order, typename real>
static __global__ void __launch_bounds__(32 * most_warps)
    m2l_rotated(const struct m2l_task task, const struct expansion_angles *angles)
{
    using slots = translated<order>;
    extern __shared__ __align__(16) unsigned char memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int64_t parts = (int64_t)*task.parts.count;
    matrices<order, real> *const of = (matrices<order, real> *)memory;
    real(*const rows)[row_length] = (real(*)[row_length])(of + 1) + warp * slots::rows;
    const real *records = (const real *)task.records;
    int64_t index = (int64_t)blockIdx.x * warps + warp;
    int32_t first = 0;
    load_matrices(of);
    real sums[slots::sums];
#pragma unroll
    for (int k = 0; k < slots::sums; k++)
        sums[k] = 0;
    while (index < parts) {
        const struct tree_part part = task.parts.part[index];
        const int32_t *far = task.far + task.lists[part.cell].far + part.first;
        const int64_t cell = (int64_t)task.target_record + part.cell;
        const bool is_source = first + lane < part.count;
        add_batch<order>(of, is_source,
                         records + (int64_t)far[is_source ? first + lane : 0] * task.shape.record,
                         task.shape.solid, records + cell * task.shape.record, rows, lane, sums);
        first += 32;
        if (first < part.count)
            continue;
        store_sums<order>(angles, sums, part.slot < 0, lane, rows[0],
                          sums_of(task, part, cell, (real)0));
#pragma unroll
        for (int k = 0; k < slots::sums; k++)
            sums[k] = 0;
        first = 0;
        index += (int64_t)gridDim.x * warps;
    }
}

template <int order>
static kith_status launch(kith_context *context, cudaStream_t stream, const struct m2l_task &task,
                          const struct expansion_angles *angles)
{
    const char what[] = "meeting far cells of a tree";
    int device = 0, room = 0;
    KITH_TRY(cuda_check(cudaGetDevice(&device), what));
    KITH_TRY(cuda_check(
        cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), what));
    const int shared = (int)sizeof(matrices<order, double>);
    const int fitting = (room - shared) / warp_bytes<order, double>;
    const int warps = fitting < most_warps ? fitting : most_warps;
    const int bytes = shared + warps * warp_bytes<order, double>;
    const int64_t most = (task.parts.most + warps - 1) / warps,
                  resident = cuda_multiprocessors(context);
    KITH_TRY(cuda_check(cudaFuncSetAttribute(m2l_rotated<order, double>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                        what));
    m2l_rotated<order, double>
        <<<(unsigned)(most < resident ? most : resident), 32 * warps, bytes, stream>>>(task,
                                                                                       angles);
    return cuda_check_launch(what);
}

kith_status m2l_meet_rotated(kith_context *context, cudaStream_t stream,
                             const struct m2l_task &task, const struct expansion_angles *angles)
{
    return task.shape.order == 12 ? launch<12>(context, stream, task, angles)
                                  : launch<14>(context, stream, task, angles);
}
