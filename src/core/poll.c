#include "core/poll.h"

#include "core/clock.h"

static const double seconds_between_polls = 0.05;

struct poll_state kith_poll_begin(kith_poll *poll, void *user)
{
    return (struct poll_state){poll, user, poll ? kith_clock() + seconds_between_polls : 0};
}

bool kith_poll_stops(struct poll_state *state)
{
    if (!state->poll || kith_clock() < state->next)
        return false;
    const bool stops = state->poll(state->user);
    state->next = kith_clock() + seconds_between_polls;
    return stops;
}

kith_status kith_check_poll(struct poll_state *state)
{
    return kith_poll_stops(state) ? kith_fail(KITH_CANCELLED, "cancelled") : KITH_OK;
}
