/* Lists in parts. */

#include "tree/parts_cuda.h"

#include <cub/device/device_scan.cuh>

#include "device/cuda_state.h"

enum { threads = 128 };

struct add_parts {
    __host__ __device__ struct tree_parts_before operator()(const struct tree_parts_before &a,
                                                            const struct tree_parts_before &b) const
    {
        return {a.parts + b.parts, a.slots + b.slots};
    }
};

struct division {
    enum tree_list list;
    int32_t elements, first, end;
    const struct octree_cell *cells;
    const struct tree_lists *lists;
};

static __device__ inline int32_t length_of(const struct division &division, int32_t cell)
{
    return division.list == tree_list_far ? division.lists[cell].far_count
                                          : division.lists[cell].near_count;
}

static __global__ void __launch_bounds__(threads)
    count_parts(const struct division division, struct tree_parts_before *counts)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x), cell = division.first + k;
    if (cell >= division.end)
        return;
    const int64_t parts =
        ((int64_t)length_of(division, cell) + division.elements - 1) / division.elements;
    const int64_t each = division.list == tree_list_far ? 1 : division.cells[cell].count;
    counts[k] = {parts, parts > 1 ? parts * each : 0};
}

static __global__ void __launch_bounds__(threads)
    make_parts(const struct division division, const struct tree_parts_before *before,
               struct tree_part *parts)
{
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x), cell = division.first + k;
    if (cell >= division.end)
        return;
    const struct tree_parts_before from = before[k], to = before[k + 1];
    const int32_t length = length_of(division, cell);
    const int64_t count = to.parts - from.parts;
    for (int64_t j = 0; j < count; j++) {
        const int32_t first = (int32_t)j * division.elements, left = length - first;
        parts[from.parts + j] = {cell, first, left < division.elements ? left : division.elements,
                                 count > 1 ? from.slots + j * ((to.slots - from.slots) / count)
                                           : -1};
    }
}

kith_status tree_divide_cuda(kith_context *context, enum tree_list list, int32_t elements_of_part,
                             int64_t bytes_of_slot, const struct octree_cell *cells, int32_t first,
                             int32_t end, const struct tree_lists *lists,
                             struct tree_parts_memory *memory, struct tree_parts *parts)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct division division = {list, elements_of_part, first, end, cells, lists};
    const struct tree_parts_before zero = {0, 0};
    const int32_t count = end - first;
    const unsigned blocks = (unsigned)((count + threads - 1) / threads);
    const int64_t bytes = (count + 1) * (int64_t)sizeof zero;
    const char what[] = "the lists of a tree";
    struct tree_parts_before all;
    size_t scratch_bytes = 0;
    void *scratch = NULL;
    KITH_TRY(tree_reserve_cuda(context, bytes, what, &memory->counts));
    KITH_TRY(tree_reserve_cuda(context, bytes, what, &memory->before));
    struct tree_parts_before *counts = (struct tree_parts_before *)memory->counts.memory;
    struct tree_parts_before *before = (struct tree_parts_before *)memory->before.memory;
    count_parts<<<blocks, threads, 0, stream>>>(division, counts);
    KITH_TRY(cuda_check_launch("dividing lists"));
    KITH_TRY(cuda_check(cub::DeviceScan::ExclusiveScan(NULL, scratch_bytes, counts, before,
                                                       add_parts(), zero, count + 1, stream),
                        "dividing lists"));
    KITH_TRY(cuda_scratch(context, (int64_t)scratch_bytes, &scratch));
    KITH_TRY(cuda_check(cub::DeviceScan::ExclusiveScan(scratch, scratch_bytes, counts, before,
                                                       add_parts(), zero, count + 1, stream),
                        "dividing lists"));
    KITH_TRY(cuda_copy_out(context, &all, before + count, sizeof all));
    KITH_TRY(tree_reserve_cuda(context, all.parts * (int64_t)sizeof(struct tree_part), what,
                               &memory->parts));
    KITH_TRY(tree_reserve_cuda(context, all.slots * bytes_of_slot, what, &memory->sums));
    struct tree_part *made = (struct tree_part *)memory->parts.memory;
    make_parts<<<blocks, threads, 0, stream>>>(division, before, made);
    *parts = {first, end, all.parts, made, before, memory->sums.memory};
    return cuda_check_launch("dividing lists");
}

void tree_parts_free_cuda(kith_context *context, struct tree_parts_memory *memory)
{
    cuda_release(context, memory->counts.memory);
    cuda_release(context, memory->before.memory);
    cuda_release(context, memory->parts.memory);
    cuda_release(context, memory->sums.memory);
    *memory = {};
}
