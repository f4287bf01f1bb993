#ifndef CORE_POLL_H
#define CORE_POLL_H

#include <stdint.h>

#include "core/status.h"
#include "kith/context.h"

/* Asks the caller's function whether to stop, in loops of calls that have no context; poll may be
 * NULL. Contexts have the same (device/context.h). */
struct poll_state {
    kith_poll *poll;
    void *user;
    double next; /* seconds of kith_clock */
};

/* KITH_CANCELLED if the function says so; it is asked every 0.05 s. */
kith_status kith_check_poll(struct poll_state *state);

/* The same for iteration k of a long loop: every 2^12-th time, of about a microsecond each. */
static inline kith_status kith_check_poll_at(struct poll_state *state, int64_t k)
{
    return k % (1 << 12) == 0 ? kith_check_poll(state) : KITH_OK;
}

#endif
