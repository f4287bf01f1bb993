/* Lists in parts. */

#include "tree/parts_cuda.h"

#include "device/cuda_state.h"
#include "device/warp.cuh"

enum { threads = 128 };

static const char what[] = "the lists of a tree";

/* Elements of a part. */
static __host__ __device__ inline int32_t elements_of(enum tree_list list)
{
    return list == tree_list_far ? tree_far_of_part : tree_near_of_part;
}

struct made_parts {
    int64_t room;
    struct tree_part *parts;
    struct tree_part_sums *sums;
};

struct making {
    struct tree_list_division division;
    struct made_parts of[tree_list_count];
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

/* A thread a cell; blocks of the second dimension divide the lists of one kind. */
static __global__ void __launch_bounds__(threads) make_parts(const struct making making)
{
    const struct tree_list_division &division = making.division;
    const enum tree_list list = (enum tree_list)blockIdx.y;
    const struct made_parts &made = making.of[list];
    const int32_t k = (int32_t)(blockIdx.x * threads + threadIdx.x), cell = division.first + k;
    const int32_t elements = elements_of(list);
    const int lane = threadIdx.x % 32;
    const bool is = cell < division.end;
    int32_t length = 0, each = 1;
    if (!division.has[list])
        return;
    if (is && list == tree_list_far)
        length = division.lists[cell].far_count;
    if (is && list == tree_list_near) {
        length = division.lists[cell].near_count;
        each = division.cells[cell].count;
    }
    const int32_t count = length / elements + (length % elements > 0);
    const int64_t slots = count > 1 ? (int64_t)count * each : 0;
    const int64_t part = take_places(count, lane, &division.counts[list].parts);
    const int64_t slot = take_places(slots, lane, &division.counts[list].slots);
    if (is)
        made.sums[k] = {slot, slots > 0 ? count : 0};
    for (int32_t j = 0; j < count && part + j < made.room; j++) {
        const int32_t first = j * elements, left = length - first;
        made.parts[part + j] = {cell, first, left < elements ? left : elements,
                                slots > 0 ? slot + (int64_t)j * each : -1};
    }
}

kith_status tree_divide_cuda(kith_context *context, const struct tree_list_division *division,
                             struct tree_parts_memory memory[tree_list_count],
                             struct tree_parts parts[tree_list_count])
{
    const int32_t cells = division->end - division->first;
    struct making making = {*division, {}};
    for (int k = 0; k < tree_list_count; k++) {
        /* A cell has at most one part that is not full. */
        const int64_t most = cells + division->elements[k] / elements_of((enum tree_list)k);
        parts[k] = {};
        if (!division->has[k])
            continue;
        KITH_TRY(tree_reserve_cuda(context, cells * (int64_t)sizeof(struct tree_part_sums), what,
                                   &memory[k].of_cells));
        KITH_TRY(tree_reserve_cuda(context, most * (int64_t)sizeof(struct tree_part), what,
                                   &memory[k].parts));
        making.of[k] = {most, (struct tree_part *)memory[k].parts.memory,
                        (struct tree_part_sums *)memory[k].of_cells.memory};
        parts[k].first = division->first;
        parts[k].end = division->end;
        parts[k].count = &division->counts[k].parts;
        parts[k].part = making.of[k].parts;
        parts[k].of_cell = making.of[k].sums;
    }
    const dim3 grid((unsigned)((cells + threads - 1) / threads), tree_list_count);
    make_parts<<<grid, threads, 0, cuda_stream(context)>>>(making);
    return cuda_check_launch("dividing lists");
}

kith_status tree_reserve_sums_cuda(kith_context *context, int64_t bytes_of_slot,
                                   struct tree_parts_memory *memory, struct tree_parts *parts)
{
    KITH_TRY(tree_reserve_cuda(context, parts->slots * bytes_of_slot, what, &memory->sums));
    parts->sums = memory->sums.memory;
    return KITH_OK;
}

void tree_parts_free_cuda(kith_context *context, struct tree_parts_memory *memory)
{
    cuda_release(context, memory->of_cells.memory);
    cuda_release(context, memory->parts.memory);
    cuda_release(context, memory->sums.memory);
    *memory = {};
}
