#ifndef SIMULATION_WATCH_H
#define SIMULATION_WATCH_H

#include "kith/pairs.h"
#include "kith/simulation.h"

/* A pair that the integrator follows by steps of its own within the step: i before j, of those
 * left. touches, or has its nearest distance, at s of the step. */
struct watch_followed {
    int64_t i, j;
    bool touches;
    double s, distance, speed;
};

struct watch_followed_list {
    struct watch_followed *pair;
    int64_t count, room;
};

/* The data of a simulation on the CPU for collisions, encounters and escapes besides its state: the
 * remaining bodies, their current columns, their state at the start of the step, and events.
 *
 * Bodies that are removed leave the arrays of the simulation, whose count is of those left; row has
 * for each the row that it had at first, ascending. */
struct watch {
    kith_on_collision on_collision;
    double restitution, encounter, escape;
    int32_t dimensions;
    int64_t rows;                               /* N at first */
    int64_t *row;                               /* of each body left */
    bool has_changed;                           /* bodies have merged or escaped */
    double *mass, *charge, *radius, *softening; /* of all rows, as they are now */
    double *position[2], *velocity[2];          /* of those left, at the start and end of a step */
    bool knows_start;
    bool has_stopped;
    int64_t collisions;
    struct watch_events {
        kith_event *event;
        int64_t count, room;
    } events;
    struct contact_search *search; /* collide_find.c */
    /* Of the last step, instead of what the search would find of these pairs: all, ascending, and
     * what they did more than once, encounters and, if they touch, bounces. */
    struct watch_followed_list followed, passed;
};

/* Errors: KITH_INVALID_ARGUMENT (what kith_simulation_options do not allow). */
kith_status watch_check(const kith_simulation_options *options, const kith_bodies *bodies);

/* Whether bodies may collide, pass or escape. */
static inline bool watch_is_wanted(const kith_simulation_options *options)
{
    return options->on_collision != KITH_ON_COLLISION_PASS || options->encounter > 0 ||
           options->escape > 0;
}

/* NULL in *watch if there is nothing to follow. Free with watch_free.
 * Errors: KITH_UNSUPPORTED (an ensemble, a GPU), KITH_OUT_OF_MEMORY. */
kith_status watch_create(const kith_context *context, const kith_simulation_options *options,
                         bool is_ensemble, const kith_bodies *bodies, struct watch **watch);
void watch_free(struct watch *watch);

/* Before and after a step of h, which began at a time: its events are resolved, and the simulation
 * continues with the remaining bodies. Not cancelled. Errors: KITH_OUT_OF_MEMORY. */
kith_status watch_before_step(struct kith_simulation *simulation);
kith_status watch_after_step(struct kith_simulation *simulation, double time, double h);

/* Fills a simulation with some rows, from arrays of all of them; the integrator starts again.
 *
 *   position, velocity  of the `count` bodies that are to be left, whose rows are in watch->row */
kith_status watch_fill(struct kith_simulation *simulation, int64_t count, double *position,
                       double *velocity);

/* Takes bodies of which those removed have coordinates that are NaN; others are checked. */
kith_status watch_set_bodies(struct kith_simulation *simulation, const kith_bodies *bodies);

/* Vectors of those left, D numbers each, to all rows, in place: NaN where a body was removed. */
void watch_spread(const struct watch *watch, int64_t count, double *vectors);

/* Masses, charges and radii, where the bodies have these columns and they have changed. */
void watch_put_columns(const struct watch *watch, int64_t count, kith_bodies *bodies);

kith_status watch_add_event(struct watch *watch, const kith_event *event);

/* Appends to a list of pairs; that of a pair in an ascending one, or NULL. */
kith_status watch_add_followed(struct watch_followed_list *list, const struct watch_followed *pair);
struct watch_followed *watch_find_followed(const struct watch_followed_list *list, int64_t i,
                                           int64_t j);

/* Takes the events of a resumed run instead of its own. */
kith_status watch_take_events(struct watch *watch, const kith_event *events, int64_t count);

/* To and from a checkpoint. restore leaves vectors to be restored after it. */
kith_status watch_save(const struct watch *watch, int64_t count, kith_checkpoint *checkpoint);
kith_status watch_restore(struct kith_simulation *simulation, const kith_checkpoint *checkpoint);

/* collide_find.c, collide.c */
void contact_search_free(struct contact_search *search);

#endif
