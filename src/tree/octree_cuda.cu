/* The tree on a GPU: sort, points, and cells, generation by generation in one launch. This file is
 * compiled without fused operations, as they would change keys. */

#include "tree/octree_cuda.h"

#include <cooperative_groups.h>

#include <string.h>

#include "device/cuda_peers.h"
#include "device/cuda_state.h"
#include "device/reals_cuda.cuh"
#include "device/warp.cuh"
#include "tree/memory_cuda.h"
#include "tree/octree_split.h"

enum { threads = 128, makers = 256, makers_per_multiprocessor = 2, most_readings = 4 };

/* Points for each block that makes cells: the more blocks there are, the longer they wait for each
 * other, and fewer have a round of cells of the largest generation. */
enum { points_of_makers = 1536 };

/* What making the cells leaves; sums of the children of each block's cells follow it. */
struct octree_made {
    int32_t cell_count, generations;
    int32_t generation[octree_most_generations + 1];
    int32_t wanted; /* cells that there was no room for; else 0 */
    int32_t of_block[];
};

/* Blocks that are resident together. */
static int most_makers(kith_context *context)
{
    return makers_per_multiprocessor * cuda_multiprocessors(context);
}

static unsigned blocks_for(int64_t items, int of_block)
{
    return (unsigned)((items + of_block - 1) / of_block);
}

static kith_status reserve_points(kith_context *context, struct octree_cuda *tree, int64_t count,
                                  int64_t real)
{
    if (count <= tree->room && real <= tree->real && tree->keys)
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
    if (!tree->made)
        KITH_TRY(cuda_allocate(context, 1,
                               (int64_t)sizeof *tree->made +
                                   most_makers(context) * (int64_t)sizeof(int32_t),
                               "cells of a tree", &tree->made));
    KITH_TRY(cuda_allocate(context, count, sizeof *tree->keys, "keys of a tree", &tree->keys));
    KITH_TRY(cuda_allocate(context, count, sizeof *tree->order, "order of a tree", &tree->order));
    const int64_t of_points = 4 * real * count, of_sort = sort_scratch_bytes_cuda(count);
    KITH_TRY(cuda_allocate(context, of_sort > of_points ? of_sort : of_points, 1, "a sort",
                           &tree->scratch));
    KITH_TRY(cuda_allocate(context, count, 4 * real, "points of a tree", &tree->point));
    tree->room = count;
    tree->real = real;
    return KITH_OK;
}

static kith_status reserve_cells(kith_context *context, struct octree_cuda *tree, int64_t count)
{
    if (count <= tree->cell_room)
        return KITH_OK;
    const int64_t wanted = 2 * tree->cell_room, room = count > wanted ? count : wanted;
    cuda_release(context, tree->sphere);
    cuda_release(context, tree->weight_sum);
    cuda_release(context, tree->net_weight);
    cuda_release(context, tree->measured);
    cuda_release(context, tree->cell);
    tree->sphere = NULL;
    tree->measured = NULL;
    tree->cell = NULL;
    tree->weight_sum = tree->net_weight = NULL;
    tree->cell_room = 0; /* until all of it is there */
    KITH_TRY(cuda_allocate(context, room, sizeof *tree->cell, "cells of a tree", &tree->cell));
    KITH_TRY(cuda_allocate(context, room + 1, sizeof *tree->measured, "cells of a tree",
                           &tree->measured));
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
static __device__ inline real4_of<real> point_of(const struct columns &columns, int64_t i)
{
    real4_of<real> p;
    p.x = ((const real *)columns.position[0])[i];
    p.y = ((const real *)columns.position[1])[i];
    p.z = columns.position[2] ? ((const real *)columns.position[2])[i] : (real)0;
    p.w = columns.weight ? ((const real *)columns.weight)[i] : (real)1;
    return p;
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    gather_points(int64_t count, const struct columns columns, const uint32_t *order,
                  real4_of<real> *point)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k >= count)
        return;
    point[k] = point_of<real>(columns, order[k]);
}

/* The same in two steps where the columns do not fit into the cache: with the numbers of a point
 * next to each other, one is read out of order instead of four. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    join_columns(int64_t count, const struct columns columns, real4_of<real> *joined)
{
    const int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (i < count)
        joined[i] = point_of<real>(columns, i);
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    gather_joined(int64_t count, const real4_of<real> *joined, const uint32_t *order,
                  real4_of<real> *point)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k < count)
        point[k] = joined[order[k]];
}

/* The points in the order of the tree. The scratch of the sort is free. */
template <typename real>
static kith_status gather_all(kith_context *context, int64_t count, const struct columns &columns,
                              const struct octree_cuda *tree)
{
    bool is_large = false;
    const unsigned blocks = blocks_for(count, threads);
    const cudaStream_t stream = cuda_stream(context);
    real4_of<real> *point = (real4_of<real> *)tree->point,
                   *joined = (real4_of<real> *)tree->scratch;
    KITH_TRY(tree_exceeds_cache_cuda(count * (int64_t)sizeof *point, &is_large));
    if (!is_large) {
        gather_points<real><<<blocks, threads, 0, stream>>>(count, columns, tree->order, point);
    } else {
        join_columns<real><<<blocks, threads, 0, stream>>>(count, columns, joined);
        gather_joined<real><<<blocks, threads, 0, stream>>>(count, joined, tree->order, point);
    }
    return cuda_check_launch("making the cells of a tree");
}

/* A generation of cells; of each the children are counted, and then made: eight lanes a cell, a
 * possible child a lane, as searching among many keys takes as long as they are waited for. */
enum { lanes_of_cell = 8, cells_of_round = makers / lanes_of_cell };

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

/* Sum over the block, in all threads; in *before that of the threads before. */
static __device__ inline int32_t sum_of_block(int32_t x, int32_t *before)
{
    __shared__ int32_t of_warp[makers / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int32_t sum = warp_sum_to(x);
    int32_t all = 0;
    __syncthreads(); /* the last sum is read */
    if (lane == 31)
        of_warp[warp] = sum;
    __syncthreads();
    *before = sum - x;
    for (int k = 0; k < makers / 32; k++) {
        *before += k < warp ? of_warp[k] : 0;
        all += of_warp[k];
    }
    return all;
}

struct making {
    int32_t dimensions, leaf, points;
    int64_t room;
    const uint64_t *keys;
    struct octree_cell *cells;
    struct octree_made *made;
};

/* Sum of the counts of the blocks, and of those before this one. */
static __device__ inline int32_t sum_of_blocks(const int32_t *of_block, int32_t *before)
{
    int32_t all = 0, mine = 0, unused;
    for (int32_t k = (int32_t)threadIdx.x; k < (int32_t)gridDim.x; k += makers) {
        all += of_block[k];
        mine += k < (int32_t)blockIdx.x ? of_block[k] : 0;
    }
    *before = sum_of_block(mine, &unused);
    return sum_of_block(all, &unused);
}

/* The cells first … end − 1 of a block: round by round eight lanes of each cell. *last is what the
 * last round found; if it was the only one, it is not searched for again. */
template <typename function>
static __device__ inline void for_each_round(const struct making &making, int32_t first,
                                             int32_t end, bool is_found, struct found_child *last,
                                             function f)
{
    for (int32_t begin = first; begin < end; begin += cells_of_round) {
        const int32_t at = begin + (int32_t)threadIdx.x / lanes_of_cell;
        const bool is_cell = at < end;
        const int32_t index = is_cell ? at : first;
        if (!is_found)
            *last = find_child(making.dimensions, making.keys, making.cells[index], making.leaf);
        f(index, is_cell, *last);
    }
}

/* All cells. The blocks wait for each other twice a generation. */
static __global__ void __launch_bounds__(makers, makers_per_multiprocessor)
    make_cells(const struct making making)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    const bool leads = threadIdx.x % lanes_of_cell == 0;
    struct octree_made *made = making.made;
    int32_t first = 0, end = 1, generations = 1, wanted = 0;
    if (is_first) {
        making.cells[0] =
            octree_make_cell(making.dimensions, making.keys, NULL, -1, 0, making.points);
        made->generation[0] = 0;
        made->generation[1] = 1;
    }
    grid.sync();
    for (;;) {
        const int32_t each = (end - first + (int32_t)gridDim.x - 1) / (int32_t)gridDim.x;
        const int64_t from = first + (int64_t)each * blockIdx.x;
        const int32_t mine = (int32_t)(from < end ? from : end);
        const int32_t mine_end = end - mine < each ? end : mine + each;
        int32_t children = 0, before = 0, unused;
        struct found_child last = {};
        for_each_round(making, mine, mine_end, false, &last,
                       [&](int32_t, bool is_cell, const struct found_child &child) {
                           children += is_cell && leads ? child.siblings : 0;
                       });
        children = sum_of_block(children, &unused);
        if (threadIdx.x == 0)
            made->of_block[blockIdx.x] = children;
        grid.sync();
        const int32_t added = sum_of_blocks(made->of_block, &before);
        wanted = end + (int64_t)added > making.room ? end + added : 0;
        if (added == 0 || wanted > 0)
            break;
        int32_t next = end + before;
        for_each_round(making, mine, mine_end, mine_end - mine <= cells_of_round, &last,
                       [&](int32_t index, bool is_cell, const struct found_child &child) {
                           int32_t place = 0;
                           const int32_t of_round =
                               sum_of_block(is_cell && leads ? child.siblings : 0, &place);
                           const int32_t child_first =
                               next + __shfl_sync(0xffffffffu, place, 0, lanes_of_cell);
                           next += of_round;
                           if (is_cell && leads) {
                               making.cells[index].children = child.siblings;
                               making.cells[index].child = child.siblings > 0 ? child_first : 0;
                           }
                           if (is_cell && child.begin < child.end)
                               making.cells[child_first + child.before] =
                                   octree_make_cell(making.dimensions, making.keys, making.cells,
                                                    index, child.begin, child.end);
                       });
        first = end;
        end += added;
        generations++;
        if (is_first)
            made->generation[generations] = end;
        grid.sync();
    }
    if (is_first) {
        made->cell_count = end;
        made->generations = generations;
        made->wanted = wanted;
    }
}

static kith_status start_making(kith_context *context, struct octree_cuda *tree)
{
    struct making making = {tree->dimensions, tree->leaf, (int32_t)tree->count,
                            tree->cell_room,  tree->keys, tree->cell,
                            tree->made};
    void *arguments[] = {&making};
    const int64_t needed = 1 + tree->count / points_of_makers;
    const int most = most_makers(context);
    return cuda_check(cudaLaunchCooperativeKernel((const void *)make_cells,
                                                  dim3((unsigned)(needed < most ? needed : most)),
                                                  dim3(makers), arguments, 0, cuda_stream(context)),
                      "making the cells of a tree");
}

/* The points by their keys, which have been made. */
static kith_status sort_all(kith_context *context, const struct sort_points *points,
                            const void *weight, struct octree_cuda *tree)
{
    const struct columns columns = {{points->position[0], points->position[1],
                                     points->dimensions == 3 ? points->position[2] : NULL},
                                    weight};
    KITH_TRY(sort_keys_cuda(context, points->count, morton_bits(points->dimensions), tree->keys,
                            tree->order, tree->scratch));
    return points->dtype == KITH_F64 ? gather_all<double>(context, points->count, columns, tree)
                                     : gather_all<float>(context, points->count, columns, tree);
}

static kith_status take_points(kith_context *context, const struct sort_points *points,
                               struct octree_cuda *tree)
{
    tree->dtype = points->dtype;
    tree->dimensions = points->dimensions;
    tree->count = points->count;
    tree->cell_count = tree->generations = 0;
    return points->count == 0
               ? KITH_OK
               : reserve_points(context, tree, points->count, kith_dtype_bytes(points->dtype));
}

kith_status octree_sort_in_grid_cuda(kith_context *context, const struct sort_points *points,
                                     const void *weight, const struct morton_grid *grid,
                                     struct octree_cuda *tree)
{
    KITH_TRY(take_points(context, points, tree));
    if (points->count == 0)
        return KITH_OK;
    KITH_TRY(sort_keys_in_grid_cuda(context, points, grid, tree->keys));
    return sort_all(context, points, weight, tree);
}

kith_status octree_sort_cuda(kith_context *context, const struct sort_points *points,
                             const void *weight, int32_t leaf, struct octree_cuda *tree)
{
    tree->leaf = leaf;
    KITH_TRY(take_points(context, points, tree));
    if (points->count == 0)
        return KITH_OK;
    KITH_TRY(reserve_cells(context, tree, 64 + 6 * points->count / leaf));
    KITH_TRY(sort_morton_keys_cuda(context, points, tree->keys, tree->grid));
    return sort_all(context, points, weight, tree);
}

/* Waits for the cells, which are made again where there was too little room. */
static kith_status finish_making(kith_context *context, const struct cuda_reading *also, int more,
                                 struct octree_cuda *tree)
{
    struct octree_made made = {};
    struct cuda_reading readings[1 + most_readings];
    int count = 0;
    if (tree->count > 0)
        readings[count++] = {&made, tree->made, sizeof made};
    for (int k = 0; k < more; k++)
        readings[count++] = also[k];
    if (count > 0)
        KITH_TRY(cuda_read(context, readings, count));
    if (tree->count == 0)
        return KITH_OK;
    while (made.wanted > 0) {
        KITH_TRY(reserve_cells(context, tree, made.wanted));
        KITH_TRY(start_making(context, tree));
        KITH_TRY(cuda_copy_out(context, &made, tree->made, sizeof made));
    }
    tree->cell_count = made.cell_count;
    tree->generations = made.generations;
    memcpy(tree->generation, made.generation, sizeof made.generation);
    return KITH_OK;
}

kith_status octree_make_cells_cuda(kith_context *context, struct octree_cuda *tree)
{
    if (tree->count == 0)
        return KITH_OK;
    KITH_TRY(start_making(context, tree));
    return finish_making(context, NULL, 0, tree);
}

kith_status octree_begin_cuda(kith_context *context, const struct sort_points *points,
                              const void *weight, int32_t leaf, struct octree_cuda *tree)
{
    KITH_TRY(octree_sort_cuda(context, points, weight, leaf, tree));
    return points->count > 0 ? start_making(context, tree) : KITH_OK;
}

kith_status octree_finish_cuda(kith_context *context, const struct cuda_reading *also, int more,
                               struct octree_cuda *tree)
{
    KITH_TRY(finish_making(context, also, more, tree));
    return tree->count > 0 ? octree_measure_cuda(context, tree) : KITH_OK;
}

kith_status octree_build_cuda(kith_context *context, const struct sort_points *points,
                              const void *weight, int32_t leaf, struct octree_cuda *tree)
{
    KITH_TRY(octree_begin_cuda(context, points, weight, leaf, tree));
    return octree_finish_cuda(context, NULL, 0, tree);
}

kith_status octree_copy_points_cuda(const struct cuda_part *part, const struct octree_cuda *from,
                                    struct octree_cuda *tree)
{
    const int64_t real = kith_dtype_bytes(from->dtype);
    tree->dtype = from->dtype;
    tree->dimensions = from->dimensions;
    tree->count = from->count;
    tree->leaf = from->leaf;
    tree->cell_count = tree->generations = 0;
    if (from->count > tree->room || real > tree->real) {
        cuda_release(part->context, tree->point);
        tree->point = NULL;
        tree->room = 0;
        KITH_TRY(
            cuda_allocate(part->context, from->count, 4 * real, "points of a tree", &tree->point));
        tree->room = from->count;
        tree->real = real;
    }
    return cuda_copy_to_part(part, tree->point, from->point, 4 * real * from->count);
}

kith_status octree_copy_cells_cuda(const struct cuda_part *part, const struct octree_cuda *from,
                                   struct octree_cuda *tree)
{
    KITH_TRY(reserve_cells(part->context, tree, from->cell_count));
    tree->cell_count = from->cell_count;
    tree->generations = from->generations;
    memcpy(tree->generation, from->generation, sizeof from->generation);
    return cuda_copy_to_part(part, tree->cell, from->cell,
                             from->cell_count * (int64_t)sizeof *from->cell);
}

void octree_free_cuda(kith_context *context, struct octree_cuda *tree)
{
    void *const memory[] = {tree->keys, tree->order,  tree->scratch,    tree->point,
                            tree->cell, tree->sphere, tree->weight_sum, tree->net_weight,
                            tree->grid, tree->made,   tree->measured};
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++)
        cuda_release(context, memory[k]);
    *tree = {};
}
