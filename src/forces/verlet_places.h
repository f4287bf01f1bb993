#ifndef FORCES_VERLET_PLACES_H
#define FORCES_VERLET_PLACES_H

/* What is kept from call to call of verlet_forces_cpu, and the places of particles: rows of the
 * problem to slots of the list, which is rebuilt when it is outdated. */

#include "device/threads.h"
#include "forces/tasks_ranks.h"
#include "forces/verlet.h"
#include "forces/verlet_list.h"

/* Positions as of a cutoff and a cell: x is rounded to whole grids, which are moved as integers. */
struct verlet_grid {
    double length; /* a power of two */
    int64_t cell[3][3];
};

/* What the last pass over the list found, for the positions as they were then. */
struct verlet_found {
    bool is_there, has_totals;
    double unit;   /* of the forces' sums, */
    int64_t sums;  /* arrays of these that are to be added up, */
    uint64_t zero; /* and what each subtraction from a cluster has put in */
    kith_forces_totals totals;
};

struct verlet {
    kith_dtype dtype;
    double cutoff, skin;
    struct verlet_grid grid;
    struct verlet_list list;
    bool is_made;
    int64_t life;                /* evaluations by the list */
    uint64_t (*moves)[3];        /* of each slot: what wraps it */
    void *weight, *charge, *row; /* by slot; NULL: not of the law */
    unsigned long long **forces; /* of each thread */
    int64_t thread_room;
    int exponent, value_exponent; /* of the largest force and value of a pair, as they were */
    struct verlet_found found;
    /* Passes since totals were requested, and how many there were between the last two times: an
     * evaluation for which they are expected sums them, too. */
    int64_t passes, period;
    struct tasks_part part; /* over ranks, by the entries of the list before */
};

/* Positions of the slots as they are now, in a list that is valid for them; *verlet is NULL at
 * first. *is_far is true if there is none, as positions are too large. What was found is forgotten
 * if a position has changed.
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
