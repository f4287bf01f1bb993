#include "forces/tasks_ranks.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"

kith_status tasks_create(kith_context *context, int64_t count, int64_t targets,
                         struct tasks_part *part)
{
    if (context->ranks && targets >= tasks_least_targets)
        return tasks_create_divided(context, count, part);
    *part = (struct tasks_part){.context = context, .count = count, .end = count};
    return KITH_OK;
}

kith_status tasks_create_divided(kith_context *context, int64_t count, struct tasks_part *part)
{
    static const char what[] = "tasks over ranks";
    *part =
        (struct tasks_part){.context = context, .count = count, .end = count, .is_divided = true};
    const int64_t ends = context->ranks->size + 1;
    KITH_TRY(kith_allocate(count, sizeof *part->work, what, &part->work));
    KITH_TRY(kith_allocate(ends, sizeof *part->firsts, what, &part->firsts));
    return kith_allocate(ends, sizeof *part->bounds, what, &part->bounds);
}

void tasks_free(struct tasks_part *part)
{
    free(part->work);
    free(part->firsts);
    free(part->bounds);
    *part = (struct tasks_part){0};
}

void tasks_divide(struct tasks_part *part)
{
    if (!part->is_divided)
        return;
    const struct ranks *ranks = part->context->ranks;
    ranks_divide(part->count, part->work, ranks->size, part->firsts);
    part->first = part->firsts[ranks->rank];
    part->end = part->firsts[ranks->rank + 1];
}

void tasks_gather(const struct tasks_part *part, void *data, int64_t element_bytes,
                  int64_t elements_a_task, int64_t elements)
{
    if (!part->is_divided)
        return;
    for (int32_t k = 0; k <= part->context->ranks->size; k++) {
        const int64_t bound = part->firsts[k] * elements_a_task;
        part->bounds[k] = bound < elements ? bound : elements;
    }
    ranks_gather_parts(part->context, data, element_bytes, part->bounds);
}
