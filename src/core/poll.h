#ifndef CORE_POLL_H
#define CORE_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "kith/context.h"

/* Calls the caller's poll function, at most every 0.05 s; poll may be NULL. Calls that have a
 * context use kith_context_check_cancelled (device/context.h) instead. */
struct poll_state {
    kith_poll *poll;
    void *user;
    double next; /* not before this time of kith_clock, in seconds */
};

/* A poll function that is first called after 0.05 s. */
struct poll_state kith_poll_begin(kith_poll *poll, void *user);

/* Whether the function requests to stop; false if it is not called. */
bool kith_poll_stops(struct poll_state *state);

/* KITH_CANCELLED if it does. */
kith_status kith_check_poll(struct poll_state *state);

/* The same for iteration k of a long loop: every 2^12-th time, of about a microsecond each. */
static inline kith_status kith_check_poll_at(struct poll_state *state, int64_t k)
{
    return k % (1 << 12) == 0 ? kith_check_poll(state) : KITH_OK;
}

#endif
