/* What happened to bodies, applied to their columns. */

#include "io/events.h"

#include <stddef.h>

static const char *const names[] = {[KITH_EVENT_MERGE] = "merge",
                                    [KITH_EVENT_BOUNCE] = "bounce",
                                    [KITH_EVENT_STOP] = "stop",
                                    [KITH_EVENT_ENCOUNTER] = "encounter",
                                    [KITH_EVENT_ESCAPE] = "escape"};

const char *kith_event_name(kith_event_kind kind)
{
    return kind >= KITH_EVENT_MERGE && kind <= KITH_EVENT_ESCAPE ? names[kind] : NULL;
}

static void clear_row(kith_bodies *bodies, int64_t row)
{
    double *const cleared[] = {bodies->mass, bodies->charge, bodies->radius};
    for (int k = 0; k < 3; k++)
        if (cleared[k])
            cleared[k][row] = 0;
}

void events_apply(const kith_event *events, int64_t count, int64_t step, kith_bodies *bodies)
{
    for (int64_t k = 0; k < count; k++) {
        const kith_event *event = &events[k];
        if (event->step > step)
            continue;
        if (event->kind == KITH_EVENT_ESCAPE)
            clear_row(bodies, event->body);
        if (event->kind != KITH_EVENT_MERGE)
            continue;
        if (bodies->mass)
            bodies->mass[event->body] = event->mass;
        if (bodies->radius)
            bodies->radius[event->body] = event->radius;
        if (bodies->charge)
            bodies->charge[event->body] += bodies->charge[event->other];
        clear_row(bodies, event->other);
    }
}
