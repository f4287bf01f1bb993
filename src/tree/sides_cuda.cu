/* Sides of the cells of a tree on a GPU, and their scales. This file is compiled without fused
 * operations, as they would change what the CPU's are. */

#include "device/architecture_80.cuh" /* nvcc writes another loop from 8.0 on */
#include "device/cuda_state.h"
#include "tree/walk_cuda.h"

enum { threads = 128 };

static unsigned blocks_for(int64_t items, int of_block)
{
    return (unsigned)((items + of_block - 1) / of_block);
}

/* Positive numbers have the order of their bits. */
static __device__ inline void lower(double *to, double value)
{
    if (*(volatile double *)to > value)
        atomicMin((unsigned long long *)to, (unsigned long long)__double_as_longlong(value));
}

/* A cell's scale is that of its weakest leaf, which takes its own to its ancestors. */
static __device__ inline void lower_ancestors(const struct octree_cell *cells, int32_t leaf,
                                              double field, double potential,
                                              struct tree_side *side)
{
    for (int32_t j = cells[leaf].parent; j >= 0; j = cells[j].parent) {
        lower(&side[j].field, field);
        lower(&side[j].potential, potential);
    }
}

/* A thread a leaf. */
static __global__ void __launch_bounds__(threads)
    find_scales(const struct octree_cell *cells, const struct tree_pull *pulls, int32_t count,
                struct tree_side *side)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x);
    if (k >= count || cells[k].children > 0)
        return;
    struct tree_side own = side[k];
    tree_scales_of_leaf(&pulls[k], &own);
    side[k].field = own.field;
    side[k].potential = own.potential;
    lower_ancestors(cells, k, own.field, own.potential, side);
}

static __global__ void __launch_bounds__(threads)
    find_leaf_scales(const struct octree_cell *cells, const struct tree_pull *pulls, int32_t count,
                     struct octree_range range, struct tree_side *side)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x);
    if (k >= count || cells[k].children > 0 || cells[k].first < range.first ||
        cells[k].first >= range.end)
        return;
    struct tree_side own = side[k];
    tree_scales_of_leaf(&pulls[k], &own);
    side[k].field = own.field;
    side[k].potential = own.potential;
}

static __global__ void __launch_bounds__(threads)
    gather_scales(const struct octree_cell *cells, int32_t count,
                  const struct tree_sides_of_devices devices, struct tree_side *side)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x);
    int32_t device = 0;
    if (k >= count || cells[k].children > 0)
        return;
    while (device + 1 < devices.count && cells[k].first >= devices.end[device])
        device++;
    const struct tree_side *from = &devices.side[device][k];
    const double field = from->field, potential = from->potential;
    if (device != devices.own) {
        side[k].field = field;
        side[k].potential = potential;
    }
    lower_ancestors(cells, k, field, potential, side);
}

/* A cell's unit of length follows from its ancestors' radii. */
static __global__ void __launch_bounds__(threads)
    make_sides(const struct octree_cell *cells, const struct octree_sphere *spheres,
               const double *weight_sum, int32_t count, bool has_scales, struct tree_side *sides)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x);
    int32_t path[octree_most_generations], length = 0;
    if (k >= count)
        return;
    for (int32_t j = k; j >= 0 && length < octree_most_generations; j = cells[j].parent)
        path[length++] = j;
    double size = 0;
    while (length > 0)
        size = expansion_size(spheres[path[--length]].radius, size);
    const struct octree_sphere sphere = spheres[k];
    struct tree_side side;
    for (int c = 0; c < 3; c++)
        side.center[c] = sphere.center[c];
    side.radius = sphere.radius;
    side.weight = weight_sum[k];
    side.size = size;
    side.field = side.potential = has_scales && cells[k].children > 0 ? INFINITY : 0.0;
    sides[k] = side;
}

kith_status tree_make_sides_cuda(kith_context *context, const struct octree_cuda *tree,
                                 bool has_scales, struct tree_side *side)
{
    const int32_t count = tree->cell_count;
    if (count == 0)
        return KITH_OK;
    make_sides<<<blocks_for(count, threads), threads, 0, cuda_stream(context)>>>(
        tree->cell, tree->sphere, tree->weight_sum, count, has_scales, side);
    return cuda_check_launch("measuring the cells of a tree");
}

kith_status tree_find_scales_cuda(kith_context *context, const struct octree_cuda *tree,
                                  const struct tree_pull *pulls, struct tree_side *side)
{
    const int32_t count = tree->cell_count;
    find_scales<<<blocks_for(count, threads), threads, 0, cuda_stream(context)>>>(tree->cell, pulls,
                                                                                  count, side);
    return cuda_check_launch("finding the field of a tree");
}

kith_status tree_find_leaf_scales_cuda(kith_context *context, const struct octree_cuda *tree,
                                       struct octree_range range, const struct tree_pull *pulls,
                                       struct tree_side *side)
{
    const int32_t count = tree->cell_count;
    find_leaf_scales<<<blocks_for(count, threads), threads, 0, cuda_stream(context)>>>(
        tree->cell, pulls, count, range, side);
    return cuda_check_launch("finding the field of a tree");
}

kith_status tree_gather_scales_cuda(kith_context *context, const struct octree_cuda *tree,
                                    const struct tree_sides_of_devices *devices,
                                    struct tree_side *side)
{
    const int32_t count = tree->cell_count;
    gather_scales<<<blocks_for(count, threads), threads, 0, cuda_stream(context)>>>(
        tree->cell, count, *devices, side);
    return cuda_check_launch("finding the field of a tree");
}
