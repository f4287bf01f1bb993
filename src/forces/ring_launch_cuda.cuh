#ifndef FORCES_RING_LAUNCH_CUDA_CUH
#define FORCES_RING_LAUNCH_CUDA_CUH

/* The launches of one variant of the symmetric kernel. */

#include "cuda/cuda.h"
#include "forces/ring_sum_cuda.cuh"

/* Memory for the sources' sums between two kernels. A chunk of the ring has as many offsets as go
 * into it (one at least: `values` reals a body). The sums of the targets come on top, and with more
 * than one chunk the totals, `values` doubles a body. */
constexpr int64_t ring_row_bytes = 256 << 20;

struct ring_plan {
    int64_t tiles, padded;
    int64_t offsets, chunks; /* of the whole ring */
    int64_t blocks;
};

template <typename variant> struct ring_plan ring_plan_for(kith_context *context, int64_t count)
{
    struct ring_plan plan;
    plan.tiles = (count + variant::tile - 1) / variant::tile;
    plan.padded = plan.tiles * variant::tile;
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
    const int64_t steps = ring_meetings(chunk) * variant::steps;
    return steps < plan->blocks ? steps : plan->blocks;
}

/* Blocks that share a tile's targets, at most. */
template <typename variant>
int64_t ring_parts(const struct ring_plan *plan, struct ring_chunk chunk)
{
    const int64_t least_share =
        ring_meetings(chunk) * variant::steps / ring_blocks<variant>(plan, chunk);
    const int64_t of_tile = ring_first_meeting(chunk, 1) * variant::steps;
    return (of_tile + least_share - 1) / least_share + 1;
}

/* Takes the scratch memory that the plan needs. */
template <typename variant>
kith_status ring_scratch(kith_context *context, const struct ring_plan *plan,
                         struct ring_rows<typename variant::real> *rows, double **totals)
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
    const int64_t total_bytes = plan->chunks > 1 ? row * (int64_t)sizeof(double) : 0;
    void *memory;
    KITH_TRY(cuda_scratch(
        context, total_bytes + (source_rows + target_rows) * row * (int64_t)sizeof(real), &memory));
    *totals = (double *)memory;
    rows->by_source = (real *)((char *)memory + total_bytes);
    rows->by_target = rows->by_source + source_rows * row;
    rows->padded = plan->padded;
    return KITH_OK;
}

template <typename variant>
kith_status ring_forces(kith_context *context, const struct forces_problem *problem)
{
    const struct ring_plan plan = ring_plan_for<variant>(context, problem->target_count);
    struct ring_rows<typename variant::real> rows;
    double *totals;
    KITH_TRY(ring_scratch<variant>(context, &plan, &rows, &totals));

    const int64_t sum_blocks = (problem->target_count + ring_sum_threads - 1) / ring_sum_threads;
    const dim3 sum_grid((unsigned)sum_blocks, variant::values);
    for (int64_t k = 0; k < plan.chunks; k++) {
        const struct ring_chunk chunk = ring_chunk_of(&plan, k);
        const int64_t blocks = ring_blocks<variant>(&plan, chunk);
        ring_kernel<variant>
            <<<(unsigned)blocks, variant::warps * ring_lanes, 0, cuda_stream(context)>>>(
                *problem, chunk, rows);
        KITH_TRY(cuda_check_launch("starting the kernel of symmetric forces"));
        const struct ring_sum_place place = {blocks, k == 0, k == plan.chunks - 1};
        ring_sum_kernel<variant><<<sum_grid, ring_sum_threads, 0, cuda_stream(context)>>>(
            *problem, chunk, rows, place, totals);
        KITH_TRY(cuda_check_launch("starting the kernel that adds symmetric forces"));
    }
    return KITH_OK;
}

#endif
