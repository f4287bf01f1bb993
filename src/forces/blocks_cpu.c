#include "forces/blocks_cpu.h"

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/one_sided_slices.h"
#include "forces/targets_ranks.h"

/* Work that is not shared is done as a whole. */
static const double seconds_of_short_work = 0.01;

struct run {
    const struct forces_blocks *blocks;
    int64_t count, first; /* targets or systems; the first block */
};

void forces_compute_blocks(const struct forces_blocks *blocks, int64_t begin, int64_t end)
{
    if (blocks->law_kernel)
        blocks->law_kernel(blocks->sums, begin, end);
    else
        blocks->kernel(blocks->problem, begin, end);
}

static void compute_block(void *argument, int64_t block)
{
    const struct run *run = argument;
    const int64_t begin = (run->first + block) * kith_padding, left = run->count - begin;
    forces_compute_blocks(run->blocks, begin, begin + (left < kith_padding ? left : kith_padding));
}

kith_status forces_do_blocks(kith_context *context, const struct forces_blocks *blocks,
                             double seconds)
{
    const struct forces_problem *problem = blocks->problem;
    const bool in_systems = problem->system_count > 0;
    const int64_t count = in_systems ? problem->system_count : problem->target_count;
    if (problem->is_slice)
        return forces_one_sided_slices(context, blocks, seconds);
    const int32_t threads = kith_threads_for(context, seconds);
    if (threads == 1 && seconds < seconds_of_short_work && !context->ranks) {
        KITH_TRY(kith_context_check_cancelled(context));
        forces_compute_blocks(blocks, 0, count);
        return KITH_OK;
    }
    struct targets_part part = {0, kith_padded(count) / kith_padding, false};
    if (!in_systems)
        KITH_TRY(forces_divide_targets(context, problem, &part));
    struct run run = {blocks, count, part.first};
    KITH_TRY(kith_for_each(context, threads, part.end - part.first, compute_block, &run));
    forces_gather_targets(context, problem, part);
    return KITH_OK;
}
