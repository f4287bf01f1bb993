#include "run/past_ranks.h"

#include "ranks/bodies.h"

/* What is in the past itself, without what it points to. */
static struct run_past without_memory(struct run_past past)
{
    past.start = NULL;
    past.exclusions = NULL; /* parameters.exclusions keeps its shape */
    past.checkpoint.state = NULL;
    past.first = past.last = NULL;
    past.largest_energy_error = NULL;
    return past;
}

static kith_status share(kith_context *context, struct run_past *past)
{
    struct run_past shared = without_memory(*past);
    ranks_broadcast(context, &shared, sizeof shared);
    if (!ranks_are_first(context))
        *past = shared;
    const int64_t systems = past->parameters.systems;
    KITH_TRY(ranks_share_bodies(context, KITH_OK, &past->start));
    kith_array *exclusions = &past->parameters.exclusions;
    if (!kith_array_is_none(*exclusions)) {
        KITH_TRY(ranks_share_memory(context, "excluded pairs",
                                    exclusions->shape[0] * (int64_t)sizeof *past->exclusions,
                                    &past->exclusions));
        exclusions->data = past->exclusions;
    }
    KITH_TRY(
        ranks_share_memory(context, "checkpoint", past->checkpoint.bytes, &past->checkpoint.state));
    KITH_TRY(ranks_share_memory(context, "observables", systems * (int64_t)sizeof *past->first,
                                &past->first));
    KITH_TRY(ranks_share_memory(context, "observables", systems * (int64_t)sizeof *past->last,
                                &past->last));
    return ranks_share_memory(context, "observables",
                              systems * (int64_t)sizeof *past->largest_energy_error,
                              &past->largest_energy_error);
}

kith_status run_past_read_by_first(kith_context *context, const char *output, struct run_past *past)
{
    kith_status status = KITH_OK;
    *past = (struct run_past){0};
    if (ranks_are_first(context))
        status = run_past_read(output, past);
    KITH_TRY(ranks_agree(context, status));
    return share(context, past);
}
