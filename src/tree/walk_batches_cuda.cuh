#ifndef TREE_WALK_BATCHES_CUDA_CUH
#define TREE_WALK_BATCHES_CUDA_CUH

/* Targets whose lists have room together, where there is not enough for all (walk_cuda.cu). */

#include "tree/walk_cuda.h"

/* Elements of the lists of targets, of which a batch has room. */
struct list_counts {
    int64_t far, near, near_targets;
};

struct add_list_counts {
    __host__ __device__ struct list_counts operator()(const struct list_counts &a,
                                                      const struct list_counts &b) const
    {
        return {a.far + b.far, a.near + b.near, a.near_targets + b.near_targets};
    }
};

static __global__ void count_lists(const struct octree_cell *cells, const struct tree_lists *lists,
                                   int32_t count, struct list_counts *counts)
{
    const int32_t k = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (k < count)
        counts[k] = {lists[k].far_count, lists[k].near_count,
                     (int64_t)lists[k].near_count * cells[k].count};
}

/* The targets first … end − 1, whose lists have room together, or one. */
struct walk_batch {
    int32_t first, end;
    struct list_counts counts;
};

/* One thread: *count batches. */
static __global__ void find_batches(const struct list_counts *before, int32_t cells, int64_t room,
                                    struct walk_batch *batches, int32_t *count)
{
    int32_t found = 0;
    for (int32_t first = 0; first < cells;) {
        const struct list_counts from = before[first];
        int32_t end = first + 1, beyond = cells + 1;
        while (beyond - end > 1) {
            const int32_t middle = end + (beyond - end) / 2;
            if (before[middle].far - from.far <= room && before[middle].near - from.near <= room)
                end = middle;
            else
                beyond = middle;
        }
        const struct list_counts to = before[end];
        batches[found++] = {
            first,
            end,
            {to.far - from.far, to.near - from.near, to.near_targets - from.near_targets}};
        first = end;
    }
    *count = found;
}

#endif
