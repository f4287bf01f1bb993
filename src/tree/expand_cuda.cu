/* The upward pass on a GPU. */

#include "device/reals_cuda.cuh"
#include "tree/expansion_angles.h"
#include "tree/expansion_rotation.h"
#include "tree/fixed_cuda.cuh"
#include "tree/lanes_cuda.cuh"
#include "tree/launch_cuda.cuh"
#include "tree/solve_cuda.h"

enum { threads = 128, lanes_of_cell = 8 };

struct binomials {
    double of[expansion_max_full + 1];
};

template <typename real>
static __global__ void __launch_bounds__(threads)
    write_heads(int32_t cells, const struct tree_side *sides, int32_t length, real *records)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x);
    if (k >= cells)
        return;
    real *head = records + (int64_t)k * length;
    for (int c = 0; c < 3; c++)
        head[c] = (real)sides[k].center[c];
    head[3] = (real)sides[k].size;
}

kith_status tree_write_heads_cuda(cudaStream_t stream, const struct octree_cuda *tree,
                                  const struct tree_side *side,
                                  const struct tree_expansions_cuda *expansions, int32_t first)
{
    const int32_t cells = tree->cell_count;
    const int32_t length = expansion_record_length(&expansions->expansion);
    if (cells == 0)
        return KITH_OK;
    if (expansions->dtype == KITH_F64)
        write_heads<<<blocks_for(cells, threads), threads, 0, stream>>>(
            cells, side, length, (double *)expansions->records + (int64_t)first * length);
    else
        write_heads<<<blocks_for(cells, threads), threads, 0, stream>>>(
            cells, side, length, (float *)expansions->records + (int64_t)first * length);
    return cuda_check_launch("making the expansions of a tree");
}

/* A warp a leaf, a point a lane. */
template <typename real, int room>
static __global__ void __launch_bounds__(threads)
    p2m(const struct expansion_shape shape, const struct octree_cell *cells, int32_t cell_count,
        const real4_of<real> *points, real *records)
{
    const int32_t index = (int32_t)(blockIdx.x * (threads / 32) + threadIdx.x / 32);
    const int lane = threadIdx.x % 32;
    if (index >= cell_count || cells[index].children > 0)
        return;
    const struct octree_cell cell = cells[index];
    real *record = records + (int64_t)index * shape.record;
    const real size = record[3], inverse = 1 / size;
    real sum[room], h[room];
    for (int32_t k = 0; k < shape.count; k++)
        sum[k] = 0;
    for (int64_t j = cell.first + lane; j < (int64_t)cell.first + cell.count; j += 32) {
        const real4_of<real> p = points[j];
        const real d[3] = {(record[0] - p.x) * inverse, (record[1] - p.y) * inverse,
                           (record[2] - p.z) * inverse};
        make_polynomials(shape, d, h);
        for (int32_t k = 0; k < shape.count; k++)
            sum[k] = fma(p.w, h[k], sum[k]);
    }
    for (int32_t k = 0; k < shape.count; k++) {
        const real all = sum_of_lanes(sum[k], 32);
        if (lane == k % 32)
            record[expansion_header + k] = all;
    }
}

/* p2m of a constant order. */
template <typename known, typename real>
static __global__ void __launch_bounds__(threads)
    p2m_fixed(int32_t record_length, const struct octree_cell *cells, int32_t cell_count,
              const real4_of<real> *points, real *records)
{
    const int32_t index = (int32_t)(blockIdx.x * (threads / 32) + threadIdx.x / 32);
    const int lane = threadIdx.x % 32;
    if (index >= cell_count || cells[index].children > 0)
        return;
    const struct octree_cell cell = cells[index];
    real *record = records + (int64_t)index * record_length;
    const real inverse = 1 / record[3];
    real sum[known::count];
#pragma unroll
    for (int k = 0; k < known::count; k++)
        sum[k] = 0;
    for (int64_t j = cell.first + lane; j < (int64_t)cell.first + cell.count; j += 32) {
        const real4_of<real> p = points[j];
        const real d[3] = {(record[0] - p.x) * inverse, (record[1] - p.y) * inverse,
                           (record[2] - p.z) * inverse};
        real h[known::count];
        make_fixed_polynomials<known>(d, h);
#pragma unroll
        for (int k = 0; k < known::count; k++)
            sum[k] = fma(p.w, h[k], sum[k]);
    }
#pragma unroll
    for (int k = 0; k < known::count; k++) {
        const real all = sum_of_lanes(sum[k], 32);
        if (lane == k % 32)
            record[expansion_header + k] = all;
    }
}

enum { most_children = 8, most_of_thread = 6 };

/* What a block of m2m has in shared memory. */
template <typename real> static size_t bytes_of_m2m(const struct expansion_shape &shape)
{
    return most_children * (shape.count + shape.order + 1) * sizeof(real);
}

/* The coefficient (a, b, c) of a product of polynomials: Σ first_β second_{α − β}. */
template <typename real>
static __device__ inline real multiply_coefficient(const struct expansion_shape &shape, int32_t a,
                                                   int32_t b, int32_t c, const real *first,
                                                   const real *power, const real *second)
{
    const int32_t order = shape.order, max_c = shape.max_c;
    real sum = 0;
    for (int32_t k = c > max_c ? c - max_c : 0; k <= c && k <= max_c; k++)
        for (int32_t j = 0; j <= b; j++) {
            const real *x = first + expansion_row(order, j, k);
            const real *y = second + expansion_row(order, b - j, c - k) + a;
            for (int32_t i = 0; i <= a; i++)
                sum = fma(x[i] * power[i + j + k], y[-i], sum);
        }
    return sum;
}

/* A cell a block, a coefficient or some a thread. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    m2m(const struct expansion_shape shape, const struct octree_cell *cells, int32_t first,
        real *records)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const int32_t index = first + (int32_t)blockIdx.x;
    const struct octree_cell cell = cells[index];
    const int32_t order = shape.order, count = extended_count(shape);
    real *parent = records + (int64_t)index * shape.record;
    real *shifts = (real *)memory, *powers = shifts + most_children * shape.count;
    real sum[most_of_thread] = {};
    if (cell.children == 0)
        return;
    for (int32_t j = threadIdx.x / 32; j < cell.children; j += threads / 32) {
        const real *child = records + (int64_t)(cell.child + j) * shape.record;
        const real inverse = 1 / parent[3];
        real d[3];
        for (int axis = 0; axis < 3; axis++)
            d[axis] = (parent[axis] - child[axis]) * inverse;
        make_polynomials_by_lanes(shape, d, threadIdx.x % 32, shifts + j * shape.count);
        if (threadIdx.x % 32 == 0)
            make_powers(order, (real)1, child[3] * inverse, powers + j * (order + 1));
    }
    __syncthreads();
    for (int32_t t = 0; t < most_of_thread; t++) {
        const int32_t k = (int32_t)threadIdx.x + t * threads;
        int32_t a, b, c;
        if (k >= count)
            break;
        find_coefficient(order, k, &a, &b, &c);
        for (int32_t j = 0; j < cell.children; j++)
            sum[t] += multiply_coefficient(shape, a, b, c,
                                           records + (int64_t)(cell.child + j) * shape.record +
                                               expansion_header,
                                           powers + j * (order + 1), shifts + j * shape.count);
    }
    __syncthreads();
    for (int32_t t = 0; t < most_of_thread; t++) {
        const int32_t k = (int32_t)threadIdx.x + t * threads;
        if (k < count)
            shifts[k] = sum[t];
    }
    __syncthreads();
    for (int32_t k = threadIdx.x; k < shape.count; k += threads) {
        real own = shifts[k];
        int32_t a, b, c;
        find_coefficient(order, k, &a, &b, &c);
        if (shape.basis == expansion_harmonic && c == 0) { /* c = 2 follows from the others */
            own -= a > 1 ? shifts[expansion_row(order, b, 2) + a - 2] : (real)0;
            own -= b > 1 ? shifts[expansion_row(order, b - 2, 2) + a] : (real)0;
        }
        parent[expansion_header + k] = own;
    }
}

/* m2m of a constant order. */
template <typename known, typename real>
static __global__ void __launch_bounds__(threads)
    m2m_fixed(int32_t record_length, const struct octree_cell *cells, int32_t first, int32_t end,
              real *records)
{
    const int32_t index =
        first + (int32_t)(blockIdx.x * (threads / lanes_of_cell) + threadIdx.x / lanes_of_cell);
    const int lane = threadIdx.x % lanes_of_cell;
    const bool is_cell = index < end && cells[index < end ? index : first].children > 0;
    const struct octree_cell cell = cells[is_cell ? index : first];
    real *parent = records + (int64_t)(is_cell ? index : first) * record_length;
    real sum[known::derivatives];
#pragma unroll
    for (int k = 0; k < known::derivatives; k++)
        sum[k] = 0;
    if (is_cell && lane < cell.children) {
        const real4_of<real> *child =
            (const real4_of<real> *)(records + (int64_t)(cell.child + lane) * record_length);
        const real4_of<real> head = child[0];
        const real inverse = 1 / parent[3];
        const real d[3] = {(parent[0] - head.x) * inverse, (parent[1] - head.y) * inverse,
                           (parent[2] - head.z) * inverse};
        real moved[known::count + 3], shift[known::count], power[known::order + 1];
        load_fixed<known>(child + 1, moved);
        make_powers(known::order, (real)1, head.w * inverse, power);
        scale_fixed<known>(power, moved);
        make_fixed_polynomials<known>(d, shift);
        multiply_fixed<known>(moved, shift, sum);
        for_each_second_in_z<known>([&](int second, int x, int y) {
            sum[x] -= sum[second];
            sum[y] -= sum[second];
        });
    }
#pragma unroll
    for (int k = 0; k < known::count; k++) {
        const real all = sum_of_lanes(sum[k], lanes_of_cell);
        if (is_cell && lane == k % lanes_of_cell)
            parent[expansion_header + k] = all;
    }
}

/* P_n² / s^{2n}: see expansion_powers_kernel.h. Writes the solid coefficients, unless NULL. */
template <typename real>
static __device__ real power2(const struct expansion_shape &shape,
                              const struct expansion_angles *table, const real *multipole,
                              int32_t n, real *solid)
{
    real result = 0;
    for (int32_t m = 0; m <= n; m++) {
        real even = 0, odd = 0; /* of cos mφ and of sin mφ */
        for (int32_t c = (n - m) % 2; c <= shape.max_c && c <= n - m; c += 2)
            for (int32_t b = 0, a = n - c; a >= 0; b++, a--) {
                const real of = (real)(c % 4 < 2 ? table->of[a][b][m] : -table->of[a][b][m]);
                const real term = of * multipole[expansion_row(shape.order, b, c) + a];
                even += b % 2 == 0 ? term : 0;
                odd += b % 2 == 1 ? term : 0;
            }
        const real weight = (real)table->weight[n][m];
        even *= weight;
        odd *= weight;
        if (solid) { /* times (−1)^k: ∂₊∂₋ is −∂_z² */
            const bool minus = (n - m) / 2 % 2 == 1;
            solid[solid_row(n) + 2 * m] = minus ? -even : even;
            solid[solid_row(n) + 2 * m + 1] = minus ? -odd : odd;
        }
        result += even * even + odd * odd;
    }
    return result;
}

/* Eight lanes a cell, of which each finds some powers. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    find_powers(const struct expansion_shape shape, const struct binomials binomials,
                const struct tree_side *sides, int32_t cells, const struct expansion_angles *table,
                real *records, double *powers)
{
    const int32_t index = (int32_t)((blockIdx.x * threads + threadIdx.x) / lanes_of_cell);
    const int lane = threadIdx.x % lanes_of_cell;
    const int32_t order = shape.order;
    const bool is_cell = index < cells;
    real *record = records + (int64_t)index * shape.record;
    const real *multipole = record + expansion_header;
    real *solid = shape.solid > 0 ? record + shape.solid : (real *)NULL;
    double *power = powers + (int64_t)index * (order + 1);
    for (int32_t n = order - lane; n >= 0 && is_cell; n -= lanes_of_cell)
        power[n] = (double)(real)sqrt((double)power2(shape, table, multipole, n, solid));
    __syncwarp();
    if (is_cell && lane == 0)
        tree_find_estimates(order, binomials.of, &sides[index], power);
}

kith_status tree_expand_cuda(cudaStream_t stream, const struct octree_cuda *sources,
                             const struct tree_side *side,
                             const struct tree_expansions_cuda *expansions)
{
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    const int32_t cells = sources->cell_count, order = shape.order;
    struct binomials binomials = {{1}};
    for (int32_t k = 1; k <= order; k++)
        binomials.of[k] = binomials.of[k - 1] * (order + 1 - k) / k;
    return with_real_and_room(expansions->dtype, room_for(shape, 0), [&](auto of, auto room) {
        using real = decltype(of);
        real *records = (real *)expansions->records;
        const real4_of<real> *points = (const real4_of<real> *)sources->point;
        if (!with_fixed_for_points<real>(shape, [&](auto known) {
                p2m_fixed<decltype(known), real>
                    <<<blocks_for(cells, threads / 32), threads, 0, stream>>>(
                        shape.record, sources->cell, cells, points, records);
            }))
            p2m<real, decltype(room)::value>
                <<<blocks_for(cells, threads / 32), threads, 0, stream>>>(shape, sources->cell,
                                                                          cells, points, records);
        for (int32_t g = sources->generations - 2; g >= 0; g--) { /* the last has leaves alone */
            const int32_t first = sources->generation[g], end = sources->generation[g + 1];
            const unsigned blocks = blocks_for(end - first, threads / lanes_of_cell);
            if (!with_fixed(shape, [&](auto known) {
                    m2m_fixed<decltype(known), real><<<blocks, threads, 0, stream>>>(
                        shape.record, sources->cell, first, end, records);
                }))
                m2m<real><<<(unsigned)(end - first), threads, bytes_of_m2m<real>(shape), stream>>>(
                    shape, sources->cell, first, records);
        }
        if (shape.law == expansion_series)
            return tree_find_tensor_powers_cuda(stream, cells, side, expansions);
        find_powers<real><<<blocks_for(cells, threads / lanes_of_cell), threads, 0, stream>>>(
            shape, binomials, side, cells, (const struct expansion_angles *)expansions->angles,
            records, expansions->power);
        return cuda_check_launch("making the expansions of a tree");
    });
}
