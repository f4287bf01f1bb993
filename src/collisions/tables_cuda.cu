/* Linear, hash, small and automatic counts on a GPU: launches of what the headers have. */

#include "collisions/cuda_methods.h"
#include "collisions/partition_cuda.cuh"
#include "collisions/small_cuda.cuh"
#include "collisions/table_cuda.cuh"

static_assert(sizeof(struct counting) <= collisions_counting_bytes, "room for what is shared");

/* A partition's pieces: mean beads, at most, and slots of their tables; tile: beads of a block. On
 * an H200, walks of 10^7 and 10^8 beads, milliseconds: 0.232 and 3.17 with the first (32 768
 * pieces), 0.251 and 2.38 with the second; of tiles of 16 384 beads 0.26 and 2.65. */
enum {
    small_mean = 3072,
    small_table = 8192,
    large_mean = 8192,
    large_table = 16384,
    tile = 8192,
    few_pieces = 1 << 14,
    most_pieces = 1 << 15 /* as many counters as fit shared memory */
};

kith_status collisions_linear_cuda(kith_context *context, const struct collisions_problem *problem,
                                   struct counting *counting)
{
    struct table_slot *table = NULL;
    const int64_t bytes = table_slots(problem->count) * (int64_t)sizeof *table;
    KITH_TRY(cuda_scratch(context, bytes, (void **)&table));
    const cudaStream_t stream = cuda_stream(context);
    start_counting(stream, cuda_multiprocessors(context), *problem, counting);
    count_by_table(stream, cuda_multiprocessors(context), *problem, counting, table, false);
    return cuda_check_launch("counting in a table");
}

/* What gives up (a box of more than 2^64 sites, many beads at few sites) is counted in the table,
 * in the same memory. */
kith_status collisions_hash_cuda(kith_context *context, const struct collisions_problem *problem,
                                 struct counting *counting)
{
    const bool is_small = problem->count <= (int64_t)few_pieces * small_mean;
    if (problem->count > (int64_t)most_pieces * large_mean)
        return collisions_linear_cuda(context, problem, counting);
    const struct partition_plan plan =
        plan_partition(problem->count, is_small ? small_mean : large_mean,
                       is_small ? small_table : large_table, tile);
    const int64_t of_pieces = plan.pieces * (plan.capacity * (int64_t)sizeof(uint64_t));
    const int64_t of_table = table_slots(problem->count) * (int64_t)sizeof(struct table_slot);
    const int64_t larger = of_pieces > of_table ? of_pieces : of_table;
    char *memory = NULL;
    KITH_TRY(
        cuda_scratch(context, larger + plan.pieces * (int64_t)sizeof(unsigned), (void **)&memory));
    const cudaStream_t stream = cuda_stream(context);
    const int multiprocessors = cuda_multiprocessors(context);
    start_counting(stream, multiprocessors, *problem, counting);
    count_by_partition(stream, multiprocessors, *problem, counting, plan,
                       (unsigned *)(memory + larger), memory);
    count_by_table(stream, multiprocessors, *problem, counting, (struct table_slot *)memory, true);
    return cuda_check_launch("counting by a partition");
}

kith_collisions_method collisions_choose_cuda(int64_t count)
{
    return count <= small_most ? KITH_COLLISIONS_LINEAR : KITH_COLLISIONS_HASH;
}

kith_status collisions_auto_cuda(kith_context *context, const struct collisions_problem *problem,
                                 struct counting *counting)
{
    if (collisions_choose_cuda(problem->count) == KITH_COLLISIONS_HASH)
        return collisions_hash_cuda(context, problem, counting);
    count_few(cuda_stream(context), *problem, counting);
    return cuda_check_launch("counting a few beads");
}

unsigned long long *collisions_number_of(struct counting *counting)
{
    return &counting->collisions;
}
