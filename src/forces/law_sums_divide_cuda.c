/* How sums by a law are divided among the blocks of a GPU. */

#include "core/memory.h"
#include "device/cuda.h"
#include "forces/law_sums_cuda.h"

enum { least_sources = 32 }; /* worth a block */

struct law_sums_plan law_sums_divide(kith_context *context, const struct forces_problem *problem,
                                     int32_t block, int64_t targets_of_block, int64_t wanted_blocks)
{
    struct law_sums_plan plan = {.block = block, .room = kith_padded(problem->target_count)};
    const int64_t tiles = (problem->source_count + least_sources - 1) / least_sources;
    const int64_t wanted = (int64_t)cuda_multiprocessors(context) * wanted_blocks;
    plan.blocks = (problem->target_count + targets_of_block - 1) / targets_of_block;
    plan.parts = wanted / plan.blocks;
    plan.parts = plan.parts > tiles ? tiles : plan.parts;
    plan.parts = plan.parts > 1 ? plan.parts : 1;
    plan.part_sources = (tiles + plan.parts - 1) / plan.parts * least_sources;
    if (plan.part_sources > block) /* of long parts whole tiles */
        plan.part_sources = (plan.part_sources + block - 1) / block * block;
    plan.parts = plan.part_sources > 0
                     ? (problem->source_count + plan.part_sources - 1) / plan.part_sources
                     : 1;
    plan.parts = plan.parts > 1 ? plan.parts : 1;
    return plan;
}
