#include "core/poll.h"

#include "core/clock.h"

static const double seconds_between_polls = 0.05;

kith_status kith_check_poll(struct poll_state *state)
{
    if (!state->poll)
        return KITH_OK;
    const double now = kith_clock();
    if (now < state->next)
        return KITH_OK;
    const bool stops = state->poll(state->user);
    state->next = kith_clock() + seconds_between_polls;
    return stops ? kith_fail(KITH_CANCELLED, "cancelled") : KITH_OK;
}
