#ifndef TREE_M2P_CUDA_CUH
#define TREE_M2P_CUDA_CUH

/* Far multipoles at the points of leaves, of any order and law. */

#include "device/reals_cuda.cuh"
#include "tree/launch_cuda.cuh"
#include "tree/near_tiles_cuda.cuh"
#include "tree/radial_cuda.cuh"
#include "tree/solve_cuda.h"

/* The field of a source cell at a point: sums[0 … 2] += ∇φ, sums[3] += φ. */
template <typename real, int room, typename radial>
static __device__ void add_cell(const struct expansion_shape &shape, const radial &of_law,
                                const real *record, const real x[3], real sums[4])
{
    const real size = record[3];
    const struct expansion_direction<real> to = look_at(record, x, size, (real)shape.softening);
    const real first = of_law.first(shape, to.inverse);
    real field[room], power[expansion_max_full + 2], total[4];
    const int32_t order = shape.order + 1;
    make_derivatives_of(of_law, shape, order, to, field);
    make_powers(order, (real)1, size * to.inverse, power);
    for_each_coefficient(
        order,
        shape.basis == expansion_harmonic ? (order < 2 ? order : 2)
        : shape.basis == expansion_plane  ? 0
                                          : order,
        [&](int32_t k, int32_t a, int32_t b, int32_t c) { field[k] *= power[a + b + c]; });
    dot_field(shape, record + expansion_header, field, total);
    const real of_gradient = first * (1 / size);
    for (int k = 0; k < 3; k++)
        sums[k] = fma(of_gradient, total[k + 1], sums[k]);
    sums[3] = fma(first, total[0], sums[3]);
}

template <typename real> struct far_task {
    struct expansion_shape shape;
    int32_t cells, first, end;
    const struct octree_cell *targets;
    const real4_of<real> *target;
    const struct tree_lists *lists;
    const int32_t *far;
    const real *records;
    real4_of<real> *results;
};

template <typename real, int room, typename radial>
static __global__ void __launch_bounds__(near_threads)
    m2p(const struct far_task<real> task, const radial of_law)
{
    const int32_t index = (int32_t)(blockIdx.x * near_warps + threadIdx.x / 32);
    const int lane = threadIdx.x % 32;
    if (index >= task.cells || task.targets[index].children > 0)
        return;
    const struct octree_cell cell = task.targets[index];
    for (int32_t begin = 32 * (int32_t)blockIdx.y; begin < cell.count; begin += 32 * near_chunks) {
        const struct seats seats = take_seats(cell, begin, lane);
        const real4_of<real> p = task.target[seats.target];
        const real x[3] = {p.x, p.y, p.z};
        real total[4] = {0, 0, 0, 0};
        for (int32_t k = index; k >= task.first; k = task.targets[k].parent) {
            if (k >= task.end)
                continue;
            const struct tree_lists lists = task.lists[k];
            for (int32_t j = seats.way; j < lists.far_count; j += seats.ways)
                add_cell<real, room>(
                    task.shape, of_law,
                    task.records + (int64_t)task.far[lists.far + j] * task.shape.record, x, total);
        }
        add_result(seats, total, task.results);
    }
}

template <typename radial>
static kith_status launch_m2p(cudaStream_t stream, const struct tree_points_cuda *points,
                              const struct tree_batch *batch, const radial &of_law)
{
    const struct tree_expansions_cuda *expansions = points->expansions;
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    const int32_t cells = points->targets->cell_count;
    return with_real_and_room(expansions->dtype, room_for(shape, 1), [&](auto of, auto room) {
        using real = decltype(of);
        const struct far_task<real> task = {
            shape, cells, batch->first, batch->end, points->targets->cell,
                (const real4_of<real> *)points->targets->point, batch->lists, batch->far,
                (const real *)expansions->records, (real4_of<real> *)points->results
        };
        m2p<real, decltype(room)::value>
            <<<dim3(blocks_for(cells, near_warps), near_chunks), near_threads, 0, stream>>>(task,
                                                                                            of_law);
        return cuda_check_launch("meeting far cells of a tree");
    });
}

/* The same of a law by its bins. */
kith_status tree_m2p_by_law_cuda(kith_context *context, const struct tree_points_cuda *points,
                                 const struct tree_batch *batch);

#endif
