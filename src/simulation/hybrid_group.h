#ifndef SIMULATION_HYBRID_GROUP_H
#define SIMULATION_HYBRID_GROUP_H

#include "simulation/hybrid.h"

/* Bodies that hybrid follows together, by steps of their own: hybrid_group.c takes the steps,
 * hybrid_contacts.c finds what bodies that touch or pass each other do in one. */

/* Two bodies of a group that attract each other. */
struct hybrid_bond {
    int32_t a, b; /* in the group */
    double gm_a, gm_b;
    int64_t i, j;   /* bodies of the simulation */
    bool is_off;    /* they have merged */
    bool is_shared; /* with other groups: what they do is seen in another */
};

struct hybrid_group {
    struct hybrid_leg *leg;
    struct hybrid_bond *bond;
    int32_t *member; /* planets; −1: the star */
    double *array[RADAU_ARRAYS];
    double *start[RADAU_ACCELERATION]; /* of the step: the arrays before accelerations */
    int64_t count, bonds, stride;
    int64_t shared;   /* members with which the group begins, and which are not stored */
    double center_gm; /* of the star, if it is at the origin */
};

/* A bounce in a step: of a bond, or none, when the clock shows a time. */
struct hybrid_bounce {
    const struct hybrid_bond *bond;
    double time;
};

static inline bool hybrid_is_watched(const struct kith_simulation *simulation)
{
    const struct watch *watch = simulation->watch;
    return watch && (watch->on_collision != KITH_ON_COLLISION_PASS || watch->encounter > 0);
}

static inline bool hybrid_bounces(const struct kith_simulation *simulation)
{
    return simulation->watch && simulation->watch->on_collision == KITH_ON_COLLISION_BOUNCE;
}

/* Follows a group from the beginning of its leg to the end, from the planets' positions and
 * velocities to those of the leg.
 *
 * Errors: KITH_INVALID_ARGUMENT (a step too short: bodies collide), KITH_OUT_OF_MEMORY. */
kith_status hybrid_follow_group(struct hybrid_group *group);

/* Inspects the paths of all bonds in the last step, which ends where the clock is: pericenters and
 * contacts other than bounces go to the watch. *broke: bodies have merged.
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status hybrid_look(const struct hybrid_group *group, const struct radau_clock *clock,
                        bool *broke);

/* The first bounce in the last step. */
struct hybrid_bounce hybrid_find_bounce(const struct hybrid_group *group,
                                        const struct radau_clock *clock);

/* Turns the velocities of two bodies that touch now, if they approach each other.
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status hybrid_bounce(const struct hybrid_group *group, const struct hybrid_bond *bond,
                          const struct radau_clock *clock);

#endif
