/* The spheres and weights of the cells of a tree on a GPU, children before parents. This file is
 * compiled without fused operations, as they would change centers and radii. */

#include <cuda/atomic>

#include "device/cuda_state.h"
#include "device/reals_cuda.cuh"
#include "tree/octree_cuda.h"

enum { threads = 128 };

static unsigned blocks_for(int64_t items, int of_block)
{
    return (unsigned)((items + of_block - 1) / of_block);
}

/* What octree_measure.c does, a warp per cell: each of the eight sums of moments is a lane's, in
 * the order of the points or children. */
enum { points_measured = 1 << 12, points_in_flight = 8 };

struct measured_tree {
    const void *point;
    const struct octree_cell *cell;
    struct octree_sphere *sphere;
    double *weight_sum, *net_weight;
};

/* Lane 0: |weight|, 1: weight, 2 to 4: |weight| times the place, 5 to 7: the place, times count. */
static __device__ inline double moment_of(int lane, double weight, double net, double count,
                                          double x, double y, double z)
{
    const int axis = lane >= 5 ? lane - 5 : lane - 2;
    const double place = axis == 0 ? x : axis == 1 ? y : z;
    return lane == 0   ? weight
           : lane == 1 ? net
           : lane < 5  ? weight * place
           : lane < 8  ? count * place
                       : 0.0;
}

template <typename real>
static __device__ inline double distance2(real4_of<real> p, const double center[3])
{
    const double x = (double)p.x - center[0], y = (double)p.y - center[1],
                 z = (double)p.z - center[2];
    return x * x + y * y + z * z;
}

/* The radius is that of the points, not of the children. */
static __device__ inline bool has_measured_points(const struct octree_cell &cell)
{
    return cell.children == 0 || cell.count <= points_measured;
}

template <typename real>
static __device__ double radius_of(const struct measured_tree &tree, const struct octree_cell &cell,
                                   const double center[3], int lane)
{
    const real4_of<real> *point = (const real4_of<real> *)tree.point;
    double greatest = 0;
    if (has_measured_points(cell)) {
        /* Of the last points some are measured again, so that many are in flight. */
        const int64_t end = (int64_t)cell.first + cell.count;
        for (int64_t k = cell.first + lane; k < end; k += 32 * points_in_flight)
#pragma unroll
            for (int32_t j = 0; j < points_in_flight; j++)
                greatest = fmax(greatest,
                                distance2<real>(point[k + 32 * j < end ? k + 32 * j : k], center));
        greatest = sqrt(greatest);
    } else if (lane < cell.children) {
        const struct octree_sphere child = tree.sphere[cell.child + lane];
        const double x = child.center[0] - center[0], y = child.center[1] - center[1],
                     z = child.center[2] - center[2];
        greatest = sqrt(x * x + y * y + z * z) + child.radius;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        greatest = fmax(greatest, __shfl_xor_sync(0xffffffffu, greatest, offset));
    return greatest;
}

/* The sum of a lane over the points of a leaf, which the lanes load 32 at a time. */
template <typename real>
static __device__ inline double sum_points(const struct octree_cell &cell,
                                           const real4_of<real> *point, int lane)
{
    double sum = 0;
    for (int32_t begin = 0; begin < cell.count; begin += 32) {
        const int32_t left = cell.count - begin, count = left < 32 ? left : 32;
        const real4_of<real> p = point[(int64_t)cell.first + begin + (lane < count ? lane : 0)];
        for (int32_t k = 0; k < count; k++) {
            const double x = (double)__shfl_sync(0xffffffffu, p.x, k);
            const double y = (double)__shfl_sync(0xffffffffu, p.y, k);
            const double z = (double)__shfl_sync(0xffffffffu, p.z, k);
            const double weight = (double)__shfl_sync(0xffffffffu, p.w, k);
            sum += moment_of(lane, fabs(weight), weight, 1.0, x, y, z);
        }
    }
    return sum;
}

/* The same over the children of a cell, one of which a lane loads. */
static __device__ inline double sum_children(const struct measured_tree &tree,
                                             const struct octree_cell &cell, int lane)
{
    const int32_t child = cell.child + (lane < cell.children ? lane : 0);
    const struct octree_sphere of = tree.sphere[child];
    const double weight = tree.weight_sum[child], net = tree.net_weight[child];
    const double count = (double)tree.cell[child].count;
    double sum = 0;
    for (int32_t k = 0; k < cell.children; k++) {
        const double x = __shfl_sync(0xffffffffu, of.center[0], k);
        const double y = __shfl_sync(0xffffffffu, of.center[1], k);
        const double z = __shfl_sync(0xffffffffu, of.center[2], k);
        sum +=
            moment_of(lane, __shfl_sync(0xffffffffu, weight, k), __shfl_sync(0xffffffffu, net, k),
                      __shfl_sync(0xffffffffu, count, k), x, y, z);
    }
    return sum;
}

/* Of a cell in turn: nothing; the weights and the center; the radius too. */
enum measured : uint32_t { not_measured, has_center, has_radius };

using measured_flag = cuda::atomic_ref<uint32_t, cuda::thread_scope_device>;

/* A child a lane. */
static __device__ inline void wait_for_children(const struct octree_cell &cell, int lane,
                                                enum measured what, uint32_t *measured)
{
    while (lane < cell.children &&
           measured_flag(measured[cell.child + lane]).load(cuda::memory_order_acquire) < what)
        ;
    __syncwarp();
}

/* All lanes have written. */
static __device__ inline void declare(uint32_t *flag, int lane, enum measured what)
{
    __syncwarp();
    if (lane == 0)
        measured_flag(*flag).store(what, cuda::memory_order_release);
}

template <typename real>
static __device__ void find_center(const struct measured_tree &tree, int32_t index,
                                   const struct octree_cell &cell, int lane, double center[3])
{
    const real4_of<real> *point = (const real4_of<real> *)tree.point;
    const double sum =
        cell.children == 0 ? sum_points<real>(cell, point, lane) : sum_children(tree, cell, lane);
    const double weight = __shfl_sync(0xffffffffu, sum, 0);
    for (int c = 0; c < 3; c++) {
        const double weighted = __shfl_sync(0xffffffffu, sum, 2 + c);
        const double plain = __shfl_sync(0xffffffffu, sum, 5 + c);
        center[c] = (double)(real)(weight > 0 ? weighted / weight : plain / (double)cell.count);
    }
    if (cell.count == 1) { /* exactly there: a point is at no distance from itself */
        const real4_of<real> p = point[cell.first];
        center[0] = (double)p.x;
        center[1] = (double)p.y;
        center[2] = (double)p.z;
    }
    if (lane < 3)
        tree.sphere[index].center[lane] = lane == 0 ? center[0] : lane == 1 ? center[1] : center[2];
    if (lane == 0)
        tree.weight_sum[index] = weight;
    if (lane == 1)
        tree.net_weight[index] = sum;
}

/* A warp takes one cell after the other, the last first, and waits for its children, which were
 * taken earlier: of small cells only for their centers. measured[k]: what there is of cell k;
 * measured[cells]: how many are taken. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    measure_cells(const struct measured_tree tree, int32_t cells, uint32_t *measured)
{
    const int lane = threadIdx.x % 32;
    for (;;) {
        uint32_t taken = lane == 0 ? atomicAdd(&measured[cells], 1) : 0;
        taken = __shfl_sync(0xffffffffu, taken, 0);
        if (taken >= (uint32_t)cells)
            return;
        const int32_t index = cells - 1 - (int32_t)taken;
        const struct octree_cell cell = tree.cell[index];
        double center[3];
        wait_for_children(cell, lane, has_center, measured);
        find_center<real>(tree, index, cell, lane, center);
        declare(&measured[index], lane, has_center);
        if (!has_measured_points(cell))
            wait_for_children(cell, lane, has_radius, measured);
        const double radius = cell.count == 1 ? 0.0 : radius_of<real>(tree, cell, center, lane);
        if (lane == 0)
            tree.sphere[index].radius = radius;
        declare(&measured[index], lane, has_radius);
    }
}

template <typename real>
static kith_status measure(kith_context *context, const struct octree_cuda *tree)
{
    const struct measured_tree measured = {tree->point, tree->cell, tree->sphere, tree->weight_sum,
                                           tree->net_weight};
    const int32_t cells = tree->cell_count, warps_of_block = threads / 32;
    const unsigned needed = blocks_for(cells, warps_of_block);
    const unsigned most = 16 * (unsigned)cuda_multiprocessors(context);
    const cudaStream_t stream = cuda_stream(context);
    KITH_TRY(cuda_check(
        cudaMemsetAsync(tree->measured, 0, ((size_t)cells + 1) * sizeof *tree->measured, stream),
        "measuring the cells of a tree"));
    measure_cells<real>
        <<<(needed < most ? needed : most), threads, 0, stream>>>(measured, cells, tree->measured);
    return cuda_check_launch("measuring the cells of a tree");
}

kith_status octree_measure_cuda(kith_context *context, const struct octree_cuda *tree)
{
    return tree->dtype == KITH_F64 ? measure<double>(context, tree) : measure<float>(context, tree);
}
