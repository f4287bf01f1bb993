#ifndef FORCES_RING_LAUNCH_CUDA_CUH
#define FORCES_RING_LAUNCH_CUDA_CUH

/* The launches of one variant of the symmetric kernel. */

#include "device/cuda.h"
#include "forces/ring_sum_cuda.cuh"

/* Memory for the sources' sums between two kernels. A chunk of the ring has as many offsets as go
 * into it (one at least: `values` reals per body). The sums of the targets come on top, and with
 * more than one chunk the totals, `values` doubles per body. */
constexpr int64_t ring_row_bytes = 256 << 20;

struct ring_plan {
    int64_t tiles, padded;
    int64_t offsets, chunks; /* of the whole ring */
    int64_t blocks;
};

/* Bodies with those that fill up the last tile. */
template <typename variant> int64_t ring_padded(int64_t count)
{
    return (count + variant::tile - 1) / variant::tile * variant::tile;
}

template <typename variant> struct ring_plan ring_plan_for(kith_context *context, int64_t count)
{
    struct ring_plan plan;
    plan.padded = ring_padded<variant>(count);
    plan.tiles = plan.padded / variant::tile;
    plan.offsets = ring_offsets(plan.tiles);
    const int64_t row = plan.padded * variant::values * (int64_t)sizeof(typename variant::real);
    const int64_t rows = row < ring_row_bytes ? ring_row_bytes / row : 1;
    plan.chunks = (plan.offsets + rows - 1) / rows;
    plan.blocks = (int64_t)cuda_multiprocessors(context) * variant::blocks_per_multiprocessor;
    return plan;
}

static inline struct ring_chunk ring_chunk_of(const struct ring_plan *plan, int64_t k)
{
    return {plan->tiles, share_begin(plan->offsets, plan->chunks, k),
            share_begin(plan->offsets, plan->chunks, k + 1)};
}

template <typename variant>
int64_t ring_blocks(const struct ring_plan *plan, struct ring_chunk chunk)
{
    const int64_t most = ring_most_shares(chunk, variant::steps);
    return most < plan->blocks ? most : plan->blocks;
}

/* Blocks that share a tile's targets, at most. */
template <typename variant>
int64_t ring_parts(const struct ring_plan *plan, struct ring_chunk chunk)
{
    const int64_t least_share =
        ring_cost(chunk, variant::steps) / ring_blocks<variant>(plan, chunk);
    const int64_t of_tile = ring_cost_before(chunk, variant::steps, 1);
    return (of_tile + least_share - 1) / least_share + 1;
}

/* What the kernels keep between them. */
template <typename real> struct ring_memory {
    struct ring_rows<real> rows;
    double *totals;
    bool *serve; /* what the masses allow: struct ring_choice */
};

/* Takes the scratch memory that the plan needs. */
template <typename variant>
kith_status ring_scratch(kith_context *context, const struct ring_plan *plan,
                         struct ring_memory<typename variant::real> *taken)
{
    typedef typename variant::real real;
    int64_t source_rows = 0, target_rows = 0;
    for (int64_t k = 0; k < plan->chunks; k++) {
        const struct ring_chunk chunk = ring_chunk_of(plan, k);
        const int64_t parts = ring_parts<variant>(plan, chunk);
        const int64_t offsets = chunk.end_offset - chunk.first_offset;
        source_rows = offsets > source_rows ? offsets : source_rows;
        target_rows = parts > target_rows ? parts : target_rows;
    }
    const int64_t row = plan->padded * variant::values;
    const int64_t doubles = (target_rows + (plan->chunks > 1 ? 1 : 0)) * row;
    const int64_t bytes =
        doubles * (int64_t)sizeof(double) + source_rows * row * (int64_t)sizeof(real);
    void *memory;
    KITH_TRY(cuda_scratch(context, bytes + most_choice_blocks, &memory));
    taken->rows.by_target = (double *)memory;
    taken->totals = taken->rows.by_target + target_rows * row;
    taken->rows.by_source = (real *)(taken->rows.by_target + doubles);
    taken->rows.padded = plan->padded;
    taken->serve = (bool *)memory + bytes;
    return KITH_OK;
}

/* The kernel of one variant for one chunk. */
template <typename variant>
kith_status ring_start(kith_context *context, const typename variant::pair::problem *problem,
                       struct ring_chunk chunk, int64_t blocks,
                       struct ring_rows<typename variant::real> rows, struct ring_choice choice)
{
    return launch_overlapped(context, "starting the kernel of symmetric forces",
                             dim3((unsigned)blocks), variant::warps * ring_lanes,
                             ring_kernel<variant>, *problem, chunk, rows, choice);
}

/* If the variant's sums are of forces, `otherwise` is the same one with sums of accelerations. The
 * masses are on the device and nothing waits for them: both kernels are started, and the one that
 * the masses do not call for returns immediately. */
template <typename variant, typename otherwise = variant>
kith_status ring_forces(kith_context *context, const typename variant::pair::problem *problem)
{
    constexpr bool by_masses = variant::pair::by_masses;
    static_assert(variant::tile == otherwise::tile && variant::steps == otherwise::steps &&
                      !otherwise::pair::by_masses,
                  "both share plan and sums");
    const struct ring_plan plan = ring_plan_for<variant>(context, problem->target_count);
    struct ring_memory<typename variant::real> memory;
    KITH_TRY(ring_scratch<variant>(context, &plan, &memory));
    const struct ring_choice choice = {memory.serve, by_masses ? most_choice_blocks : 0};
    if constexpr (by_masses)
        KITH_TRY(launch_overlapped(context, "starting the kernel that inspects the masses",
                                   dim3(most_choice_blocks), choice_threads,
                                   inspect_masses<typename variant::pair>, *problem, choice));

    const int64_t sum_blocks = (problem->target_count + ring_sum_threads - 1) / ring_sum_threads;
    const dim3 sum_grid((unsigned)sum_blocks, variant::values);
    for (int64_t k = 0; k < plan.chunks; k++) {
        const struct ring_chunk chunk = ring_chunk_of(&plan, k);
        const int64_t blocks = ring_blocks<variant>(&plan, chunk);
        KITH_TRY(ring_start<variant>(context, problem, chunk, blocks, memory.rows, choice));
        if (by_masses)
            KITH_TRY(ring_start<otherwise>(context, problem, chunk, blocks, memory.rows, choice));
        const struct ring_sum_place place = {blocks, k == 0, k == plan.chunks - 1};
        KITH_TRY(launch_overlapped(context, "starting the kernel that adds symmetric forces",
                                   sum_grid, ring_sum_threads, ring_sum_kernel<variant>, *problem,
                                   chunk, memory.rows, place, memory.totals, choice));
    }
    return KITH_OK;
}

#endif
