#ifndef SIMULATION_COLLIDE_H
#define SIMULATION_COLLIDE_H

/* Collisions within a step: collide_find.c finds which bodies touch, collide.c says what follows.
 */

#include <math.h>

#include "kith/pairs.h"
#include "simulation/contact.h"
#include "simulation/watch.h"

/* Ends of a step, of a watch's positions and velocities. */
enum { START, END };

/* Two bodies that touch in a step, i before j. */
struct contact {
    double s; /* of the step, where it begins */
    int64_t i, j;
};

/* The pairs of one step. A body's path is within reach of middle. */
struct contact_search {
    double *middle, *reach;
    kith_pairs *pairs;
    struct contact *contact;
    int64_t count, room;
};

/* A step that was done, of the bodies that were left when it began. */
struct done_step {
    struct kith_simulation *simulation;
    struct watch *watch;
    double time, h;
    int64_t count;
    bool *has_collided, *is_gone; /* in this step */
};

static inline double collide_length(const double vector[3])
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

/* The path of j relative to i. */
struct contact_path collide_path_of(const struct done_step *step, int64_t i, int64_t j);

/* The distance at which i and j touch; 0 if collisions are passed over. */
double collide_touching(const struct watch *watch, int64_t i, int64_t j);

/* Of j relative to i, at s of the step. */
kith_status collide_add_event(const struct done_step *step, kith_event_kind kind, double s,
                              int64_t i, int64_t j);

/* Memory for the pairs of a step, once. */
kith_status collide_make_search(struct watch *watch);

/* The contacts of a step, in the order of their times, to watch->search. Encounters become events.
 */
kith_status collide_find(const struct done_step *step);

#endif
