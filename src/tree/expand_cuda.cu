/* The upward pass on a GPU, and the downward pass from cell to cell. */

#include "device/reals_cuda.cuh"
#include "tree/expansion_angles.h"
#include "tree/fixed_cuda.cuh"
#include "tree/launch_cuda.cuh"
#include "tree/solve_cuda.h"

enum { threads = 128, lanes_of_cell = 8 };

struct binomials {
    double of[expansion_max_order + 1];
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

kith_status tree_write_heads_cuda(kith_context *context, const struct octree_cuda *tree,
                                  const struct tree_side *side,
                                  const struct tree_expansions_cuda *expansions, int32_t first)
{
    const int32_t cells = tree->cell_count;
    const int32_t length = expansion_record_length(&expansions->expansion);
    const cudaStream_t stream = cuda_stream(context);
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
        make_fixed_harmonics<known>(d, h);
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

/* sum_{α + β} += first_α second_β, |α| + |β| ≤ order and c ≤ max_c in α and β. */
template <typename real>
static __device__ void multiply(int32_t order, int32_t max_c, const real *first, const real *second,
                                real *sum)
{
    for (int32_t c = 0; c <= max_c; c++)
        for (int32_t b = 0; b <= order - c; b++)
            for (int32_t k = 0; k <= max_c && k <= order - b - c; k++)
                for (int32_t j = 0; j <= order - b - c - k; j++) {
                    const real *x = first + expansion_row(order, b, c);
                    const real *y = second + expansion_row(order, j, k);
                    real *to = sum + expansion_row(order, b + j, c + k);
                    const int32_t last = order - b - c - j - k;
                    for (int32_t a = 0; a <= last; a++)
                        for (int32_t i = 0; i <= last - a; i++)
                            to[a + i] = fma(x[a], y[i], to[a + i]);
                }
}

/* Adds the components c = 2 of a multipole to those that they are equivalent to. */
template <typename real> static __device__ void reduce(int32_t order, real *f)
{
    for (int32_t b = 0; b <= order - 2; b++)
        for (int32_t a = 0; a <= order - 2 - b; a++) {
            const real component = f[expansion_row(order, b, 2) + a];
            f[expansion_row(order, b, 0) + a + 2] -= component;
            f[expansion_row(order, b + 2, 0) + a] -= component;
        }
}

/* Eight lanes a cell of a generation, of which each has a child. */
template <typename real, int room>
static __global__ void __launch_bounds__(threads)
    m2m(const struct expansion_shape shape, const struct octree_cell *cells, int32_t first,
        int32_t end, real *records)
{
    const int32_t index =
        first + (int32_t)(blockIdx.x * (threads / lanes_of_cell) + threadIdx.x / lanes_of_cell);
    const int lane = threadIdx.x % lanes_of_cell;
    const bool is_cell = index < end && cells[index < end ? index : first].children > 0;
    const struct octree_cell cell = cells[is_cell ? index : first];
    real *parent = records + (int64_t)index * shape.record;
    const bool harmonic = shape.basis == expansion_harmonic;
    const int32_t order = shape.order;
    real sum[room], moved[room], shift[room], power[expansion_max_order + 1];
    for (int32_t k = 0; k < expansion_row(order, 0, harmonic ? 3 : shape.max_c + 1); k++)
        sum[k] = 0;
    if (is_cell && lane < cell.children) {
        const real *child = records + (int64_t)(cell.child + lane) * shape.record;
        const real inverse = 1 / parent[3];
        real d[3];
        for (int axis = 0; axis < 3; axis++)
            d[axis] = (parent[axis] - child[axis]) * inverse;
        make_powers(order, (real)1, child[3] * inverse, power);
        for_each_coefficient(order, shape.max_c, [&](int32_t k, int32_t a, int32_t b, int32_t c) {
            moved[k] = child[expansion_header + k] * power[a + b + c];
        });
        make_polynomials(shape, d, shift);
        multiply(order, shape.max_c, moved, shift, sum);
        if (harmonic)
            reduce(order, sum);
    }
    for (int32_t k = 0; k < shape.count; k++) {
        const real all = sum_of_lanes(sum[k], lanes_of_cell);
        if (is_cell && lane == k % lanes_of_cell)
            parent[expansion_header + k] = all;
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
        make_fixed_harmonics<known>(d, shift);
        multiply_fixed<known>(moved, shift, sum);
        repeat<known::order - 1>(
            [&](auto of_row) { /* c = 2 follows from the others */
                               constexpr int b = decltype(of_row)::value;
#pragma unroll
                               for (int a = 0; a <= known::order - 2 - b; a++) {
                                   const real component = sum[known::row(b, 2) + a];
                                   sum[known::row(b, 0) + a + 2] -= component;
                                   sum[known::row(b + 2, 0) + a] -= component;
                               }
            });
    }
#pragma unroll
    for (int k = 0; k < known::count; k++) {
        const real all = sum_of_lanes(sum[k], lanes_of_cell);
        if (is_cell && lane == k % lanes_of_cell)
            parent[expansion_header + k] = all;
    }
}

/* P_n² / s^{2n}: see expansion_powers_body.h. */
template <typename real>
static __device__ real power2(const struct expansion_shape &shape,
                              const struct expansion_angles *table, const real *multipole,
                              int32_t n)
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
        result += even * even + odd * odd;
    }
    return result;
}

/* Eight lanes a cell, of which each finds some powers. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    find_powers(const struct expansion_shape shape, const struct binomials binomials,
                const struct tree_side *sides, int32_t cells, const struct expansion_angles *table,
                const real *records, double *powers)
{
    const int32_t index = (int32_t)((blockIdx.x * threads + threadIdx.x) / lanes_of_cell);
    const int lane = threadIdx.x % lanes_of_cell;
    const int32_t order = shape.order;
    const bool is_cell = index < cells;
    const real *multipole = records + (int64_t)index * shape.record + expansion_header;
    double *power = powers + (int64_t)index * (order + 1);
    for (int32_t n = order - lane; n >= 0 && is_cell; n -= lanes_of_cell)
        power[n] = (double)(real)sqrt((double)power2(shape, table, multipole, n));
    __syncwarp();
    if (is_cell && lane == 0)
        tree_find_estimates(order, binomials.of, &sides[index], power);
}

kith_status tree_expand_cuda(kith_context *context, const struct octree_cuda *sources,
                             const struct tree_side *side,
                             const struct tree_expansions_cuda *expansions)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    const int32_t cells = sources->cell_count, order = shape.order;
    struct binomials binomials = {{1}};
    for (int32_t k = 1; k <= order; k++)
        binomials.of[k] = binomials.of[k - 1] * (order + 1 - k) / k;
    return with_real_and_room(expansions->dtype, room_for(shape, 0), [&](auto of, auto room) {
        using real = decltype(of);
        real *records = (real *)expansions->records;
        const real4_of<real> *points = (const real4_of<real> *)sources->point;
        if (!with_fixed(shape, [&](auto known) {
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
                m2m<real, decltype(room)::value>
                    <<<blocks, threads, 0, stream>>>(shape, sources->cell, first, end, records);
        }
        find_powers<real><<<blocks_for(cells, threads / lanes_of_cell), threads, 0, stream>>>(
            shape, binomials, side, cells, (const struct expansion_angles *)expansions->angles,
            records, expansions->power);
        return cuda_check_launch("making the expansions of a tree");
    });
}

/* A child a thread, which takes its parent's. */
template <typename real, int room>
static __global__ void __launch_bounds__(threads)
    l2l(const struct expansion_shape shape, const struct octree_cell *cells, int32_t first,
        int32_t end, struct octree_range range, const real *records, real *locals)
{
    const int32_t index = first + (int32_t)(blockIdx.x * threads + threadIdx.x);
    if (index >= end || cells[index].first >= range.end ||
        cells[index].first + cells[index].count <= range.first)
        return;
    const int32_t of_parent = cells[index].parent, order = shape.order;
    const real *child = records + (int64_t)index * shape.record;
    const real *parent = records + (int64_t)of_parent * shape.record;
    const real inverse = 1 / parent[3];
    const real *from = locals + (int64_t)of_parent * shape.local;
    real *to = locals + (int64_t)index * shape.local;
    real field[room], shift[room], power[expansion_max_order + 1], d[3];
    const bool harmonic = shape.basis == expansion_harmonic;
    for_each_coefficient(order, harmonic ? (order < 2 ? order : 2) : shape.max_c,
                         [&](int32_t k, int32_t a, int32_t b, int32_t c) {
                             field[k] = extended_coefficient(shape, from, a, b, c);
                         });
    for (int axis = 0; axis < 3; axis++)
        d[axis] = (child[axis] - parent[axis]) * inverse;
    make_polynomials(shape, d, shift);
    make_powers(order, (real)1, child[3] * inverse, power);
    for_each_coefficient(order, shape.max_c, [&](int32_t k, int32_t a, int32_t b, int32_t c) {
        real sum;
        contract_coefficient(order, shape.max_c, a, b, c, shift, field, &sum);
        to[k] = fma(power[a + b + c], sum, to[k]);
    });
}

/* l2l of a constant order. */
template <typename known, typename real>
static __global__ void __launch_bounds__(threads)
    l2l_fixed(int32_t record_length, int32_t local_length, const struct octree_cell *cells,
              int32_t first, int32_t end, struct octree_range range, const real *records,
              real *locals)
{
    const int32_t index = first + (int32_t)(blockIdx.x * threads + threadIdx.x);
    if (index >= end || cells[index].first >= range.end ||
        cells[index].first + cells[index].count <= range.first)
        return;
    const int32_t of_parent = cells[index].parent;
    const real4_of<real> child =
        *(const real4_of<real> *)(records + (int64_t)index * record_length);
    const real4_of<real> parent =
        *(const real4_of<real> *)(records + (int64_t)of_parent * record_length);
    const real inverse = 1 / parent.w;
    const real d[3] = {(child.x - parent.x) * inverse, (child.y - parent.y) * inverse,
                       (child.z - parent.z) * inverse};
    real field[known::derivatives + 3], shift[known::count], sum[known::count + 3],
        power[known::order + 1];
    real *to = locals + (int64_t)index * local_length;
    load_fixed<known>((const real4_of<real> *)(locals + (int64_t)of_parent * local_length), field);
    load_fixed<known>((const real4_of<real> *)to, sum);
    repeat<known::order - 1>([&](auto of_row) {
        constexpr int b = decltype(of_row)::value;
#pragma unroll
        for (int a = 0; a <= known::order - 2 - b; a++)
            field[known::row(b, 2) + a] =
                -(field[known::row(b, 0) + a + 2] + field[known::row(b + 2, 0) + a]);
    });
    make_fixed_harmonics<known>(d, shift);
    make_powers(known::order, (real)1, child.w * inverse, power);
    contract_fixed<known>(shift, field, power, sum);
#pragma unroll
    for (int k = 0; k < known::count; k++)
        to[k] = sum[k];
}

kith_status tree_l2l_cuda(kith_context *context, const struct octree_cuda *targets,
                          const struct tree_expansions_cuda *expansions)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    return with_real_and_room(expansions->dtype, room_for(shape, 0), [&](auto of, auto room) {
        using real = decltype(of);
        const real *records =
            (const real *)expansions->records + (int64_t)expansions->target_record * shape.record;
        real *locals =
            (real *)expansions->locals + (int64_t)expansions->target_record * shape.local;
        for (int32_t g = 1; g < targets->generations; g++) {
            const int32_t first = targets->generation[g], end = targets->generation[g + 1];
            const unsigned blocks = blocks_for(end - first, threads);
            if (!with_fixed(shape, [&](auto known) {
                    l2l_fixed<decltype(known), real><<<blocks, threads, 0, stream>>>(
                        shape.record, shape.local, targets->cell, first, end, expansions->range,
                        records, locals);
                }))
                l2l<real, decltype(room)::value><<<blocks, threads, 0, stream>>>(
                    shape, targets->cell, first, end, expansions->range, records, locals);
        }
        return cuda_check_launch("moving the expansions of a tree");
    });
}
