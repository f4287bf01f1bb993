/* The tree on a GPU: sort, points, cells generation by generation, and then their spheres from the
 * last generation to the root. This file is compiled without fused operations, as they would change
 * centers and radii. */

#include "tree/octree_cuda.h"

#include "device/cuda_state.h"
#include "device/reals_cuda.cuh"
#include "tree/octree_split.h"

enum { threads = 128 };

static unsigned blocks_for(int64_t items, int of_block)
{
    return (unsigned)((items + of_block - 1) / of_block);
}

static kith_status reserve_points(kith_context *context, struct octree_cuda *tree, int64_t count,
                                  int64_t real)
{
    if (count * real <= tree->room)
        return KITH_OK;
    cuda_release(context, tree->keys);
    cuda_release(context, tree->order);
    cuda_release(context, tree->scratch);
    cuda_release(context, tree->point);
    tree->keys = NULL;
    tree->order = NULL;
    tree->scratch = tree->point = NULL;
    tree->room = 0;
    if (!tree->grid)
        KITH_TRY(cuda_allocate(context, 1, sizeof *tree->grid, "keys of a tree", &tree->grid));
    KITH_TRY(cuda_allocate(context, count, sizeof *tree->keys, "keys of a tree", &tree->keys));
    KITH_TRY(cuda_allocate(context, count, sizeof *tree->order, "order of a tree", &tree->order));
    KITH_TRY(cuda_allocate(context, sort_scratch_bytes_cuda(count), 1, "a sort", &tree->scratch));
    KITH_TRY(cuda_allocate(context, count, 4 * real, "points of a tree", &tree->point));
    tree->room = count * real;
    return KITH_OK;
}

static kith_status reserve_cells(kith_context *context, struct octree_cuda *tree, int64_t count)
{
    if (count <= tree->cell_room)
        return KITH_OK;
    const int64_t wanted = 2 * tree->cell_room, room = count > wanted ? count : wanted;
    struct octree_cell *cells = NULL;
    cuda_release(context, tree->sphere);
    cuda_release(context, tree->weight_sum);
    cuda_release(context, tree->net_weight);
    tree->sphere = NULL;
    tree->weight_sum = tree->net_weight = NULL;
    KITH_TRY(cuda_allocate(context, room, sizeof *cells, "cells of a tree", &cells));
    if (tree->cell) {
        const kith_status status =
            cuda_check(cudaMemcpyAsync(cells, tree->cell, (size_t)tree->cell_count * sizeof *cells,
                                       cudaMemcpyDeviceToDevice, cuda_stream(context)),
                       "copying cells of a tree");
        cuda_release(context, tree->cell);
        tree->cell = cells;
        KITH_TRY(status);
    }
    tree->cell = cells;
    tree->cell_room = 0; /* until all of it is there */
    KITH_TRY(cuda_allocate(context, room, sizeof *tree->sphere, "cells of a tree", &tree->sphere));
    KITH_TRY(cuda_allocate(context, room, sizeof *tree->weight_sum, "cells of a tree",
                           &tree->weight_sum));
    KITH_TRY(cuda_allocate(context, room, sizeof *tree->net_weight, "cells of a tree",
                           &tree->net_weight));
    tree->cell_room = room;
    return KITH_OK;
}

struct columns {
    const void *position[3], *weight; /* NULL: zeros, and ones */
};

template <typename real>
static __global__ void __launch_bounds__(threads)
    gather_points(int64_t count, const struct columns columns, const uint32_t *order,
                  real4_of<real> *point)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k >= count)
        return;
    const int64_t i = order[k];
    real4_of<real> p;
    p.x = ((const real *)columns.position[0])[i];
    p.y = ((const real *)columns.position[1])[i];
    p.z = columns.position[2] ? ((const real *)columns.position[2])[i] : (real)0;
    p.w = columns.weight ? ((const real *)columns.weight)[i] : (real)1;
    point[k] = p;
}

static __global__ void make_root(int32_t dimensions, const uint64_t *keys, int32_t count,
                                 struct octree_cell *cells)
{
    cells[0] = octree_make_cell(dimensions, keys, NULL, -1, 0, count);
}

/* A generation of cells; of each the children are counted, and then made: eight lanes a cell, a
 * possible child a lane, as searching among many keys takes as long as they are waited for. */
enum { lanes_of_cell = 8 };

struct found_child {
    int32_t begin, end;       /* no points: none */
    int32_t before, siblings; /* children before it, and all of them */
};

/* All lanes of a warp take part. */
static __device__ inline struct found_child find_child(int32_t dimensions, const uint64_t *keys,
                                                       const struct octree_cell &cell, int32_t leaf)
{
    const int slot = threadIdx.x % lanes_of_cell, group = threadIdx.x % 32 - slot;
    const int32_t end = cell.first + cell.count;
    struct found_child child;
    child.begin = octree_is_leaf(dimensions, &cell, leaf)
                      ? end
                      : octree_first_of(dimensions, keys, &cell, slot, cell.first);
    child.end = __shfl_down_sync(0xffffffffu, child.begin, 1, lanes_of_cell);
    if (slot == lanes_of_cell - 1)
        child.end = end;
    const unsigned there = __ballot_sync(0xffffffffu, child.begin < child.end) >> group & 0xffu;
    child.before = __popc(there & ((1u << slot) - 1));
    child.siblings = __popc(there);
    return child;
}

static __global__ void __launch_bounds__(threads)
    count_children(int32_t dimensions, const uint64_t *keys, const struct octree_cell *cells,
                   int32_t first, int32_t end, int32_t leaf, int32_t *children)
{
    const int32_t k = (int32_t)((blockIdx.x * threads + threadIdx.x) / lanes_of_cell);
    const bool is_cell = k < end - first;
    const struct octree_cell cell = cells[is_cell ? first + k : first];
    const struct found_child child = find_child(dimensions, keys, cell, leaf);
    if (is_cell && threadIdx.x % lanes_of_cell == 0)
        children[k] = child.siblings;
}

static __global__ void __launch_bounds__(threads)
    make_children(int32_t dimensions, const uint64_t *keys, struct octree_cell *cells,
                  int32_t first, int32_t end, int32_t leaf, const int32_t *before)
{
    const int32_t k = (int32_t)((blockIdx.x * threads + threadIdx.x) / lanes_of_cell);
    const bool is_cell = k < end - first;
    const int32_t index = is_cell ? first + k : first;
    const struct octree_cell cell = cells[index];
    const struct found_child child = find_child(dimensions, keys, cell, leaf);
    if (!is_cell)
        return;
    const int32_t first_child = end + before[k];
    if (threadIdx.x % lanes_of_cell == 0) {
        cells[index].children = child.siblings;
        cells[index].child = child.siblings > 0 ? first_child : 0;
    }
    if (child.begin < child.end)
        cells[first_child + child.before] =
            octree_make_cell(dimensions, keys, cells, index, child.begin, child.end);
}

/* The generation after the last; none if that has leaves only. */
static kith_status add_generation(kith_context *context, struct octree_cuda *tree, int32_t leaf)
{
    const int32_t first = tree->generation[tree->generations - 1];
    const int32_t end = tree->generation[tree->generations], cells = end - first;
    const cudaStream_t stream = cuda_stream(context);
    const unsigned blocks = blocks_for(cells, threads / lanes_of_cell);
    int32_t added = 0;
    int32_t *children = (int32_t *)tree->scratch; /* the sort's, which is done */
    count_children<<<blocks, threads, 0, stream>>>(tree->dimensions, tree->keys, tree->cell, first,
                                                   end, leaf, children);
    KITH_TRY(cuda_check_launch("counting the cells of a tree"));
    KITH_TRY(sort_scan_cuda(context, cells, children, children));
    KITH_TRY(cuda_copy_out(context, &added, children + cells, sizeof added));
    if (added == 0)
        return KITH_OK;
    KITH_TRY(reserve_cells(context, tree, (int64_t)end + added));
    make_children<<<blocks, threads, 0, stream>>>(tree->dimensions, tree->keys, tree->cell, first,
                                                  end, leaf, children);
    KITH_TRY(cuda_check_launch("making the cells of a tree"));
    tree->cell_count = end + added;
    tree->generation[++tree->generations] = tree->cell_count;
    return KITH_OK;
}

/* What octree_measure.c does, a warp per cell: each of the eight sums of moments is a lane's, in
 * the order of the points or children. */
enum { points_measured = 1 << 12 };

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

template <typename real>
static __device__ double radius_of(const struct measured_tree &tree, const struct octree_cell &cell,
                                   const double center[3], int lane)
{
    const real4_of<real> *point = (const real4_of<real> *)tree.point;
    double greatest = 0;
    if (cell.children == 0 || cell.count <= points_measured) {
        for (int64_t k = cell.first + lane; k < (int64_t)cell.first + cell.count; k += 32)
            greatest = fmax(greatest, distance2<real>(point[k], center));
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

template <typename real>
static __global__ void __launch_bounds__(threads)
    measure_cells(const struct measured_tree tree, int32_t first, int32_t end)
{
    const int32_t index = first + (int32_t)(blockIdx.x * (threads / 32) + threadIdx.x / 32);
    const int lane = threadIdx.x % 32;
    const real4_of<real> *point = (const real4_of<real> *)tree.point;
    if (index >= end)
        return;
    const struct octree_cell cell = tree.cell[index];
    double sum = 0, center[3];
    for (int32_t k = 0; k < cell.children; k++) {
        const int32_t child = cell.child + k;
        const struct octree_sphere of = tree.sphere[child];
        sum += moment_of(lane, tree.weight_sum[child], tree.net_weight[child],
                         (double)tree.cell[child].count, of.center[0], of.center[1], of.center[2]);
    }
    for (int64_t k = cell.first; k < (int64_t)cell.first + cell.count && cell.children == 0; k++) {
        const real4_of<real> p = point[k];
        sum += moment_of(lane, fabs((double)p.w), (double)p.w, 1.0, (double)p.x, (double)p.y,
                         (double)p.z);
    }
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
    const double radius = cell.count == 1 ? 0.0 : radius_of<real>(tree, cell, center, lane);
    if (lane == 0) {
        struct octree_sphere *to = &tree.sphere[index];
        to->center[0] = center[0];
        to->center[1] = center[1];
        to->center[2] = center[2];
        to->radius = radius;
        tree.weight_sum[index] = weight;
    }
    if (lane == 1)
        tree.net_weight[index] = sum;
}

/* Children before parents. */
template <typename real>
static kith_status measure(kith_context *context, const struct octree_cuda *tree)
{
    const struct measured_tree measured = {tree->point, tree->cell, tree->sphere, tree->weight_sum,
                                           tree->net_weight};
    for (int32_t g = tree->generations - 1; g >= 0; g--) {
        const int32_t first = tree->generation[g], end = tree->generation[g + 1];
        measure_cells<real>
            <<<blocks_for(end - first, threads / 32), threads, 0, cuda_stream(context)>>>(
                measured, first, end);
    }
    return cuda_check_launch("measuring the cells of a tree");
}

template <typename real>
static kith_status build(kith_context *context, const struct sort_points *points,
                         const void *weight, int32_t leaf, struct octree_cuda *tree)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct columns columns = {{points->position[0], points->position[1],
                                     points->dimensions == 3 ? points->position[2] : NULL},
                                    weight};
    KITH_TRY(sort_morton_keys_cuda(context, points, tree->keys, tree->grid));
    KITH_TRY(sort_keys_cuda(context, points->count, morton_bits(points->dimensions), tree->keys,
                            tree->order, tree->scratch));
    gather_points<real><<<blocks_for(points->count, threads), threads, 0, stream>>>(
        points->count, columns, tree->order, (real4_of<real> *)tree->point);
    make_root<<<1, 1, 0, stream>>>(points->dimensions, tree->keys, (int32_t)points->count,
                                   tree->cell);
    KITH_TRY(cuda_check_launch("making the cells of a tree"));
    tree->cell_count = tree->generations = 1;
    tree->generation[0] = 0;
    tree->generation[1] = 1;
    for (int32_t before = 0; before != tree->generations;) {
        before = tree->generations;
        KITH_TRY(add_generation(context, tree, leaf));
    }
    return measure<real>(context, tree);
}

kith_status octree_build_cuda(kith_context *context, const struct sort_points *points,
                              const void *weight, int32_t leaf, struct octree_cuda *tree)
{
    tree->dtype = points->dtype;
    tree->dimensions = points->dimensions;
    tree->count = points->count;
    tree->cell_count = tree->generations = 0;
    if (points->count == 0)
        return KITH_OK;
    KITH_TRY(reserve_points(context, tree, points->count, kith_dtype_bytes(points->dtype)));
    KITH_TRY(reserve_cells(context, tree, 64 + 4 * points->count / leaf));
    return points->dtype == KITH_F64 ? build<double>(context, points, weight, leaf, tree)
                                     : build<float>(context, points, weight, leaf, tree);
}

void octree_free_cuda(kith_context *context, struct octree_cuda *tree)
{
    void *const memory[] = {tree->keys,       tree->order,      tree->scratch,
                            tree->point,      tree->cell,       tree->sphere,
                            tree->weight_sum, tree->net_weight, tree->grid};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++)
        cuda_release(context, memory[k]);
    *tree = {};
}
