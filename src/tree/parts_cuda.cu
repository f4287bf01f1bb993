/* Lists in parts. */

#include "tree/parts_cuda.h"

#include "device/cuda_state.h"
#include "device/warp.cuh"

enum { threads = 128 };

struct division {
    enum tree_list list;
    int32_t elements, first, end;
    const struct octree_cell *cells;
    const struct tree_lists *lists;
    unsigned long long *part_count, *slot_count;
    struct tree_part *parts;
    struct tree_part_sums *sums;
};

/* Room for x of each lane, at the end of what *count says is there. */
static __device__ inline int64_t take_places(int64_t x, int lane, unsigned long long *count)
{
    const int64_t to_here = warp_sum_to(x), all = __shfl_sync(whole_warp, to_here, 31);
    int64_t first = 0;
    if (lane == 0 && all > 0)
        first = (int64_t)atomicAdd(count, (unsigned long long)all);
    return __shfl_sync(whole_warp, first, 0) + to_here - x;
}

/* A thread a cell. */
static __global__ void __launch_bounds__(threads) make_parts(const struct division division)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x), cell = division.first + k;
    const int lane = threadIdx.x % 32;
    const bool is = cell < division.end;
    int32_t length = 0, each = 1;
    if (is && division.list == tree_list_far)
        length = division.lists[cell].far_count;
    if (is && division.list == tree_list_near) {
        length = division.lists[cell].near_count;
        each = division.cells[cell].count;
    }
    const int32_t count = length / division.elements + (length % division.elements > 0);
    const int64_t slots = count > 1 ? (int64_t)count * each : 0;
    const int64_t part = take_places(count, lane, division.part_count);
    const int64_t slot = take_places(slots, lane, division.slot_count);
    if (is)
        division.sums[k] = {slot, slots > 0 ? count : 0};
    for (int32_t j = 0; j < count; j++) {
        const int32_t first = j * division.elements, left = length - first;
        division.parts[part + j] = {cell, first,
                                    left < division.elements ? left : division.elements,
                                    slots > 0 ? slot + (int64_t)j * each : -1};
    }
}

kith_status tree_divide_cuda(kith_context *context, enum tree_list list, int32_t elements_of_part,
                             int64_t bytes_of_slot, const struct octree_cell *cells,
                             const struct tree_batch *batch, struct tree_parts_memory *memory,
                             struct tree_parts *parts)
{
    const cudaStream_t stream = cuda_stream(context);
    const int32_t count = batch->end - batch->first;
    const bool is_far = list == tree_list_far;
    const int64_t elements = is_far ? batch->far_count : batch->near_count;
    const int64_t targets = is_far ? batch->far_count : batch->near_targets;
    /* A cell has at most one part that is not full; two and more parts are at least half full. */
    const int64_t most = count + elements / elements_of_part;
    const int64_t slots = 2 * targets / elements_of_part;
    const char what[] = "the lists of a tree";
    const size_t of_counts = 2 * sizeof(unsigned long long);
    KITH_TRY(tree_reserve_cuda(context, (int64_t)of_counts, what, &memory->counts));
    KITH_TRY(tree_reserve_cuda(context, count * (int64_t)sizeof(struct tree_part_sums), what,
                               &memory->of_cells));
    KITH_TRY(
        tree_reserve_cuda(context, most * (int64_t)sizeof(struct tree_part), what, &memory->parts));
    KITH_TRY(tree_reserve_cuda(context, slots * bytes_of_slot, what, &memory->sums));
    unsigned long long *counts = (unsigned long long *)memory->counts.memory;
    const struct division division = {list,
                                      elements_of_part,
                                      batch->first,
                                      batch->end,
                                      cells,
                                      batch->lists,
                                      counts,
                                      counts + 1,
                                      (struct tree_part *)memory->parts.memory,
                                      (struct tree_part_sums *)memory->of_cells.memory};
    KITH_TRY(cuda_check(cudaMemsetAsync(counts, 0, of_counts, stream), "dividing lists"));
    make_parts<<<(unsigned)((count + threads - 1) / threads), threads, 0, stream>>>(division);
    *parts = {batch->first,  batch->end,         most, counts, division.parts,
              division.sums, memory->sums.memory};
    return cuda_check_launch("dividing lists");
}

void tree_parts_free_cuda(kith_context *context, struct tree_parts_memory *memory)
{
    cuda_release(context, memory->counts.memory);
    cuda_release(context, memory->of_cells.memory);
    cuda_release(context, memory->parts.memory);
    cuda_release(context, memory->sums.memory);
    *memory = {};
}
