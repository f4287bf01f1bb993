/* The downward pass on a GPU, from cell to cell. */

#include "device/overlap.cuh"
#include "device/reals_cuda.cuh"
#include "tree/fixed_cuda.cuh"
#include "tree/lanes_cuda.cuh"
#include "tree/launch_cuda.cuh"
#include "tree/solve_cuda.h"

enum { threads = 128 };

/* A child a block, which takes its parent's. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    l2l(const struct expansion_shape shape, const struct octree_cell *cells, int32_t first,
        struct octree_range range, const real *records, real *locals)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const int32_t index = first + (int32_t)blockIdx.x;
    wait_for_kernel_before();
    if (cells[index].first >= range.end || cells[index].first + cells[index].count <= range.first)
        return;
    const int32_t of_parent = cells[index].parent, order = shape.order;
    const real *child = records + (int64_t)index * shape.record;
    const real *parent = records + (int64_t)of_parent * shape.record;
    const real inverse = 1 / parent[3];
    const real *from = locals + (int64_t)of_parent * shape.local;
    real *to = locals + (int64_t)index * shape.local;
    real *field = (real *)memory, *shift = field + extended_count(shape);
    real *power = shift + shape.count;
    if (threadIdx.x < 32) {
        real d[3];
        for (int axis = 0; axis < 3; axis++)
            d[axis] = (child[axis] - parent[axis]) * inverse;
        make_polynomials_by_lanes(shape, d, threadIdx.x, shift);
    } else if (threadIdx.x == 32) {
        make_powers(order, (real)1, child[3] * inverse, power);
    }
    for (int32_t k = threadIdx.x; k < extended_count(shape); k += threads) {
        int32_t a, b, c;
        find_coefficient(order, k, &a, &b, &c);
        field[k] = extended_coefficient(shape, from, a, b, c);
    }
    __syncthreads();
    for (int32_t k = threadIdx.x; k < shape.count; k += threads) {
        int32_t a, b, c;
        real sum;
        find_coefficient(order, k, &a, &b, &c);
        contract_coefficient(order, shape.max_c, a, b, c, shift, field, &sum);
        to[k] = fma(power[a + b + c], sum, to[k]);
    }
}

template <typename real> static size_t bytes_of_l2l(const struct expansion_shape &shape)
{
    return (extended_count(shape) + shape.count + shape.order + 1) * sizeof(real);
}

/* l2l of a constant order. */
template <typename known, typename real>
static __global__ void __launch_bounds__(threads)
    l2l_fixed(int32_t record_length, int32_t local_length, const struct octree_cell *cells,
              int32_t first, int32_t end, struct octree_range range, const real *records,
              real *locals)
{
    const int32_t index = first + (int32_t)(blockIdx.x * threads + threadIdx.x);
    wait_for_kernel_before();
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
    for_each_second_in_z<known>(
        [&](int second, int x, int y) { field[second] = -(field[x] + field[y]); });
    make_fixed_polynomials<known>(d, shift);
    make_powers(known::order, (real)1, child.w * inverse, power);
    contract_fixed<known>(shift, field, power, sum);
#pragma unroll
    for (int k = 0; k < known::count; k++)
        to[k] = sum[k];
}

kith_status tree_l2l_cuda(kith_context *context, cudaStream_t stream,
                          const struct octree_cuda *targets,
                          const struct tree_expansions_cuda *expansions)
{
    const char *what = "moving the expansions of a tree";
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    return with_real_and_room(expansions->dtype, 0, [&](auto of, auto) {
        using real = decltype(of);
        const real *records =
            (const real *)expansions->records + (int64_t)expansions->target_record * shape.record;
        real *locals =
            (real *)expansions->locals + (int64_t)expansions->target_record * shape.local;
        for (int32_t g = 1; g < targets->generations; g++) {
            const int32_t first = targets->generation[g], end = targets->generation[g + 1];
            kith_status status = KITH_OK;
            if (!with_fixed(shape, [&](auto known) {
                    status = launch_overlapped_on(
                        context, stream, what, dim3(blocks_for(end - first, threads)), threads, 0,
                        l2l_fixed<decltype(known), real>, shape.record, shape.local, targets->cell,
                        first, end, expansions->range, records, locals);
                }))
                status =
                    launch_overlapped_on(context, stream, what, dim3((unsigned)(end - first)),
                                         threads, bytes_of_l2l<real>(shape), l2l<real>, shape,
                                         targets->cell, first, expansions->range, records, locals);
            KITH_TRY(status);
        }
        return KITH_OK;
    });
}
