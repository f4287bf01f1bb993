#ifndef FORCES_VERLET_PLACES_H
#define FORCES_VERLET_PLACES_H

/* What is kept from call to call of verlet_forces_cpu, and the places of particles: rows of the
 * problem to slots of the list, which is rebuilt when it is outdated. */

#include <stdatomic.h>

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
    double unit;  /* of the forces' sums, */
    int64_t sums; /* and arrays of these that are to be added up */
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
    bool is_of_domain;      /* the particles of one rank, with ghosts: domain.h */
};

/* Positions of the slots as they are now, in a list that is valid for them; *verlet is NULL at
 * first. *is_far is true if positions are too large for a list. What was found is forgotten
 * if a position has changed.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status verlet_take_places(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, const struct verlet_kernels *kernels,
                               struct verlet **verlet, bool *is_far);

/* The stages of that, which a domain has others between. */
struct verlet_placing {
    kith_context *context;
    const struct forces_problem *problem;
    const struct cutoff_law *law;
    struct verlet *verlet;
    const int64_t *numbers; /* of rows, among the particles of all ranks; NULL: the rows */
    atomic_bool is_far, is_used_up, has_moved;
};

/* Allocates one with no room yet. Errors: KITH_OUT_OF_MEMORY. */
kith_status verlet_create(const struct forces_problem *problem,
                          const struct verlet_kernels *kernels, struct verlet **verlet);

/* Makes room for count particles and a number of ghosts. Errors: KITH_OUT_OF_MEMORY. */
kith_status verlet_resize(const struct verlet_placing *placing, int64_t count, int64_t ghosts);

/* The grid, given how far positions reach where the cell is open. */
double verlet_open_extent(const struct forces_problem *problem);
void verlet_choose_grid(const struct forces_problem *problem, double open,
                        struct verlet_grid *grid);

/* Positions of the slots as they are now: sets is_far, is_used_up and has_moved. */
kith_status verlet_refresh(struct verlet_placing *placing);

/* Where row i is in the cell; false if that is too far away. */
bool verlet_wrap(const struct forces_problem *problem, const struct verlet_grid *grid, int64_t i,
                 double x[3]);

/* The skin of the next list, and the images within reach. Errors: KITH_OUT_OF_MEMORY. */
void verlet_choose_skin(const struct forces_problem *problem, struct verlet *verlet);
kith_status verlet_choose_images(const struct forces_problem *problem, double distance,
                                 struct verlet *verlet);

/* After points have their slots: what wraps them, and columns. */
kith_status verlet_place_rows(struct verlet_placing *placing);

/* The weights of a problem's particles as kernels take them; NULL: ones. */
static inline const void *verlet_weights(const struct forces_problem *problem,
                                         const struct cutoff_law *law)
{
    return law->view.weight == law_weight_charge ? law->source_charge : problem->source_mass;
}

const struct verlet_kernels *verlet_kernels_of(const kith_context *context, kith_dtype dtype);

/* verlet_forces_cpu at places as they are. */
kith_status verlet_forces_placed(kith_context *context, const struct forces_problem *problem,
                                 const struct cutoff_law *law, struct verlet *verlet, bool *done);

/* Calls a task for each part of this many slots. */
enum { verlet_slots_a_part = 1 << 12 };
kith_status verlet_for_slots(kith_context *context, int64_t count, kith_task *task, void *argument);

static inline int64_t verlet_end_of_part(int64_t part, int64_t count)
{
    const int64_t end = (part + 1) * verlet_slots_a_part;
    return end < count ? end : count;
}

#endif
