#include "forces/excluded_cuda.h"

#include "core/memory.h"
#include "device/context.h"
#include "forces/excluded.h"
#include "forces/verlet_excluded.h"

static kith_status copy(kith_context *context, const struct forces_problem *problem,
                        const struct verlet_excluded *from, struct excluded_cuda *to)
{
    const struct device_services *services = context->services;
    const int64_t begin_bytes =
        kith_padded((problem->target_count + 1) * (int64_t)sizeof *from->begin);
    const int64_t partner_bytes =
        from->begin[problem->target_count] * (int64_t)sizeof *from->partners;
    char *memory = NULL;
    KITH_TRY(
        services->allocate(context, begin_bytes + partner_bytes, 1, "excluded pairs", &memory));
    to->begin = (const int64_t *)(void *)memory;
    to->partner = (const int32_t *)(void *)(memory + begin_bytes);
    KITH_TRY(services->copy_in(context, memory, from->begin,
                               (problem->target_count + 1) * (int64_t)sizeof *from->begin));
    return services->copy_in(context, memory + begin_bytes, from->partners, partner_bytes);
}

kith_status excluded_take_cuda(kith_context *context, const struct forces_problem *problem,
                               struct excluded_cuda *excluded)
{
    struct verlet_excluded rows = {0};
    if (problem->space.repeats && excluded->begin)
        return KITH_OK;
    excluded_free_cuda(context, excluded);
    kith_status status = verlet_excluded_take(problem, &rows);
    if (status == KITH_OK && rows.begin)
        status = copy(context, problem, &rows, excluded);
    if (status != KITH_OK)
        excluded_free_cuda(context, excluded);
    verlet_excluded_free(&rows);
    return status;
}

void excluded_free_cuda(kith_context *context, struct excluded_cuda *excluded)
{
    context->services->release(context, (void *)excluded->begin);
    *excluded = (struct excluded_cuda){0};
}
