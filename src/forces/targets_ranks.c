#include "forces/targets_ranks.h"

#include "core/memory.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"

/* Fewer pairs take less time than their results take to come. */
static const double least_pairs = 1 << 20;

kith_status forces_divide_targets(kith_context *context, const struct forces_problem *problem,
                                  struct targets_part *part)
{
    const struct ranks *ranks = context->ranks;
    const int64_t blocks = kith_padded(problem->target_count) / kith_padding;
    const double pairs = (double)problem->target_count * (double)problem->source_count;
    *part = (struct targets_part){0, blocks, false};
    if (!ranks || pairs < least_pairs)
        return KITH_OK;
    *part = (struct targets_part){ranks_first(blocks, ranks->size, ranks->rank),
                                  ranks_first(blocks, ranks->size, ranks->rank + 1), true};
    return ranks_agree(context, KITH_OK);
}

void forces_gather_targets(kith_context *context, const struct forces_problem *problem,
                           struct targets_part part)
{
    const int64_t bytes = kith_dtype_bytes(problem->dtype);
    void *outputs[] = {problem->acceleration[0], problem->acceleration[1], problem->acceleration[2],
                       problem->jerk[0],         problem->jerk[1],         problem->jerk[2],
                       problem->potential,       problem->potential_rate};
    for (size_t k = 0; part.is_divided && k < sizeof outputs / sizeof outputs[0]; k++)
        if (outputs[k])
            ranks_gather(context, outputs[k], bytes, problem->target_count, kith_padding);
}
