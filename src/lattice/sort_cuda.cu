/* Keys of sites sorted by CUB, and runs of equal ones. */

#include "lattice/cuda_methods.h"
#include "lattice/table_cuda.cuh"
#include "sort/cub_cuda.h"

template <typename coordinate>
__global__ void __launch_bounds__(lattice_block)
    make_long_keys(const struct collisions_problem problem, struct counting *counting,
                   uint64_t *keys)
{
    const struct device_box box = box_of(counting);
    if (box.total_bits > 64) {
        counting->gave_up = 1;
        return;
    }
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < problem.count; i += step)
        keys[i] = key_of(box, load_site<coordinate>(problem, i));
}

/* Where a run that begins before i and has key i in it begins: by ever larger steps back, then
 * between the last two. */
__device__ __forceinline__ int64_t begin_of_run(const uint64_t *keys, int64_t i)
{
    int64_t step = 1, low = 0;
    int64_t high = i; /* in the run */
    while (high - step >= 0 && keys[high - step] == keys[i]) {
        high -= step;
        step *= 2;
    }
    low = high - step < 0 ? -1 : high - step; /* not in the run */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (keys[middle] == keys[i])
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The last bead of each run has the run's length. Without keys, clears a table in the
 * same memory. */
static __global__ void __launch_bounds__(lattice_block)
    count_runs(const uint64_t *keys, int64_t count, struct counting *counting,
               struct table_slot *table, int64_t slots)
{
    if (counting->gave_up) {
        clear_slots(table, slots);
        return;
    }
    unsigned long long collisions = 0;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        if (i > 0 && keys[i - 1] == keys[i] && (i + 1 == count || keys[i + 1] != keys[i]))
            collisions += (unsigned long long)collisions_of(i + 1 - begin_of_run(keys, i));
    add_of_block(collisions, counting);
}

kith_status collisions_sort_cuda(kith_context *context, const struct collisions_problem *problem,
                                 struct counting *counting)
{
    const int64_t n = problem->count, key_bytes = (n * 8 + 255) / 256 * 256;
    const int multiprocessors = cuda_multiprocessors(context);
    const cudaStream_t stream = cuda_stream(context);
    size_t sort_bytes = 0;
    KITH_TRY(cuda_check(sort_long_keys_cuda(NULL, sort_bytes, NULL, NULL, n, 64, stream),
                        "sorting the beads"));
    const int64_t slots = table_slots(n);
    const int64_t of_table = slots * (int64_t)sizeof(struct table_slot);
    const int64_t of_sort = 2 * key_bytes + (int64_t)sort_bytes;
    char *memory = NULL;
    KITH_TRY(cuda_scratch(context, of_sort > of_table ? of_sort : of_table, (void **)&memory));
    uint64_t *keys = (uint64_t *)memory, *sorted = (uint64_t *)(memory + key_bytes);

    struct table_slot *table = (struct table_slot *)memory;
    KITH_TRY(start_counting(context, *problem, counting));
    const unsigned blocks = lattice_blocks(multiprocessors, n, lattice_block);
    if (problem->dtype == KITH_I32)
        make_long_keys<int32_t><<<blocks, lattice_block, 0, stream>>>(*problem, counting, keys);
    else
        make_long_keys<int64_t><<<blocks, lattice_block, 0, stream>>>(*problem, counting, keys);
    KITH_TRY(cuda_check_launch("making the keys of the beads")); /* CUB would take it for its own */
    KITH_TRY(cuda_check(
        sort_long_keys_cuda(memory + 2 * key_bytes, sort_bytes, keys, sorted, n, 64, stream),
        "sorting the beads"));
    count_runs<<<blocks, lattice_block, 0, stream>>>(sorted, n, counting, table, slots);
    KITH_TRY(cuda_check_launch("counting sorted beads"));
    return count_by_table(context, *problem, counting, table, slots, true);
}
