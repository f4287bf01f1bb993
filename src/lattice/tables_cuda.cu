/* Linear, hash, small and automatic counts on a GPU: launches of what the headers have. */

#include "lattice/cuda_methods.h"
#include "lattice/partition_cuda.cuh"
#include "lattice/small_cuda.cuh"
#include "lattice/table_cuda.cuh"

static_assert(sizeof(struct counting) <= collisions_counting_bytes, "room for what is shared");

/* A partition's pieces: mean beads, at most, and slots of their tables. From many beads on, large
 * pieces are faster: there are enough of them for all multiprocessors, two at a time. */
enum {
    small_mean = 3072,
    small_table = 8192,
    large_mean = 8192,
    large_table = 16384,
    few_beads = 1 << 16, /* for which a partition has too many kernels */
    many_beads = 1 << 22,
    sampled = 128,
    most_pieces = 1 << 15 /* as many counters as fit shared memory */
};

/* Linear and hashing count in a table of the device's memory. */
kith_status collisions_linear_cuda(kith_context *context, const struct collisions_problem *problem,
                                   struct counting *counting)
{
    struct table_slot *table = NULL;
    const int64_t slots = table_slots(problem->count);
    KITH_TRY(cuda_scratch(context, slots * (int64_t)sizeof *table, (void **)&table));
    const unsigned blocks = lattice_blocks(cuda_multiprocessors(context), slots, lattice_block);
    KITH_TRY(start_counting(context, *problem, counting));
    KITH_TRY(launch_overlapped(context, "clearing a table", blocks, lattice_block, clear_table,
                               table, slots));
    return count_by_table(context, *problem, counting, table, slots, false);
}

/* False if the current device has none for this many beads: there are too many, or shared
 * memory is too small. */
static bool choose_partition(int64_t count, struct partition_plan *plan)
{
    int device = 0, shared = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
            cudaSuccess)
        return false;
    for (int is_large = count >= many_beads; is_large >= 0; is_large--) {
        const int64_t mean = is_large ? large_mean : small_mean;
        if (count > most_pieces * mean)
            continue;
        *plan = plan_partition(count, mean, is_large ? large_table : small_table,
                               count >= many_beads ? sampled : 1);
        if (bytes_of_long(*plan) <= shared && bytes_of_counters(*plan) <= shared)
            return true;
    }
    return false;
}

/* What gives up (a box of more than 2^64 sites, many beads at few sites) is counted in the table,
 * in the same memory. */
kith_status collisions_hash_cuda(kith_context *context, const struct collisions_problem *problem,
                                 struct counting *counting)
{
    struct partition_plan plan;
    if (!choose_partition(problem->count, &plan))
        return collisions_linear_cuda(context, problem, counting);
    const int64_t slots = table_slots(problem->count);
    const int64_t of_pieces = plan.pieces * (plan.capacity * (int64_t)sizeof(uint64_t));
    const int64_t of_table = slots * (int64_t)sizeof(struct table_slot);
    const int64_t larger = of_pieces > of_table ? of_pieces : of_table;
    char *memory = NULL;
    KITH_TRY(cuda_scratch(context, larger + (plan.pieces + most_bins) * (int64_t)sizeof(unsigned),
                          (void **)&memory));
    unsigned *const filled = (unsigned *)(memory + larger);
    KITH_TRY(part_beads(context, *problem, counting, plan, filled, memory));
    KITH_TRY(count_parted(context, *problem, counting, plan, filled, memory, slots));
    return count_by_table(context, *problem, counting, (struct table_slot *)memory, slots, true);
}

kith_collisions_method collisions_choose_cuda(int64_t count)
{
    return count <= few_beads ? KITH_COLLISIONS_LINEAR : KITH_COLLISIONS_HASH;
}

kith_status collisions_auto_cuda(kith_context *context, const struct collisions_problem *problem,
                                 struct counting *counting)
{
    if (collisions_choose_cuda(problem->count) == KITH_COLLISIONS_HASH)
        return collisions_hash_cuda(context, problem, counting);
    if (problem->count > small_most)
        return collisions_linear_cuda(context, problem, counting);
    count_few(cuda_stream(context), *problem, counting);
    return cuda_check_launch("counting a few beads");
}

unsigned long long *collisions_number_of(struct counting *counting)
{
    return &counting->collisions;
}
