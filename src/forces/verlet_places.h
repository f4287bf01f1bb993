#ifndef FORCES_VERLET_PLACES_H
#define FORCES_VERLET_PLACES_H

/* What is kept from call to call of verlet_forces_cpu, and the places of particles: rows of the
 * problem to slots of the list, which is made anew when it is used up. */

#include "device/threads.h"
#include "forces/tasks_ranks.h"
#include "forces/verlet.h"
#include "forces/verlet_list.h"

/* Positions as of a cutoff and a cell: x is rounded to whole grids, which are moved as integers. */
struct verlet_grid {
    double length; /* a power of two */
    int64_t cell[3][3];
};

struct verlet {
    kith_dtype dtype;
    double cutoff, skin;
    struct verlet_grid grid;
    struct verlet_list list;
    bool is_made;
    int64_t life;         /* evaluations by the list */
    uint64_t (*moves)[3]; /* of each slot: what wraps it */
    void *weight;
    unsigned long long **forces; /* of each thread */
    int64_t thread_room;
    int exponent;           /* of the largest force, as it was */
    struct tasks_part part; /* over ranks, by the entries of the list before */
};

/* Positions of the slots as they are now, in a list that is valid for them; *verlet is NULL at
 * first. *is_far is true if there is none, as positions are too large.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status verlet_take_places(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, const struct verlet_kernels *kernels,
                               struct verlet **verlet, bool *is_far);

/* Calls a task for each part of this many slots. */
enum { verlet_slots_a_part = 1 << 12 };
kith_status verlet_for_slots(kith_context *context, int64_t count, kith_task *task, void *argument);

static inline int64_t verlet_end_of_part(int64_t part, int64_t count)
{
    const int64_t end = (part + 1) * verlet_slots_a_part;
    return end < count ? end : count;
}

#endif
