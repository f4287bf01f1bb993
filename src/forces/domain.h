#ifndef FORCES_DOMAIN_H
#define FORCES_DOMAIN_H

/* Particles within a cutoff, divided among the ranks of a job by where they are: each rank has
 * those in its box of space (ranks/boxes.h), and of other ranks' the positions of ghosts, which are
 * within the cutoff and the skin of a Verlet list. When that list is outdated, particles that have
 * left the box go to the rank in whose box they are, with all their columns. A pair with a ghost is
 * evaluated by both ranks.
 *
 * Bits: those of one process, as the sums of verlet.h depend on positions alone. */

#include "forces/cutoff.h"
#include "ranks/boxes.h"
#include "ranks/parcels.h"

struct verlet;

enum { domain_most_columns = 24, domain_fields = 5 };

/* A particle of another rank. */
struct domain_ghost {
    int64_t number;
    double x[3], weight, charge;
};

/* Of pairs that do not interact: for each particle of a rank the numbers, among all, of those it is
 * in such a pair with. They move with the particle. */
struct domain_partners {
    bool are_there;           /* any rank's particles have some */
    int32_t *count;           /* of each particle, */
    int32_t *numbers, *moved; /* one particle's after the other's; and of particles that move */
    int64_t total, room;
    struct ranks_parcels moving;
};

struct domain {
    kith_context *context;
    int64_t all;   /* particles of all ranks */
    int64_t count; /* of this one */
    int64_t room;
    int64_t *numbers; /* of this rank's particles, among all */
    int32_t columns;
    void *column[domain_most_columns];        /* of this rank's particles, */
    const void *made_of[domain_most_columns]; /* and what they were made of */
    bool is_of_slice; /* those arrays have the particles that this rank started with, not all */
    int32_t field[domain_fields];  /* the columns of the problem's masses and charges, or −1 */
    struct forces_problem problem; /* of this rank's particles */
    struct cutoff_law law;
    struct verlet *verlet;
    struct ranks_boxes boxes;
    bool has_boxes;
    struct ranks_parcels moving, ghosts;
    struct domain_partners partners;

    /* For each particle: where it is in the cell, the work on it by the list before, room for its
     * new owner or place, and for a column. */
    double (*wrapped)[3];
    uint32_t *work;
    int32_t *order;
    void *scratch;

    int32_t *sent; /* particles that are ghosts of other ranks, by rank */
    int64_t sent_room, out_room, in_room;
    struct domain_ghost *out, *in; /* of `ghosts`, */
    int32_t *ghost_slot;           /* the slots of those in, */
    char *place_out, *place_in;    /* and three reals for each */
};

/* Whether the problem is one for a domain: for a Verlet list, of a job of several ranks. */
bool domain_suits(const kith_context *context, const struct forces_problem *problem);

/* Collective: a domain of the particles of a problem that is alike on all ranks; each takes as many
 * at first (ranks_first). The problem's positions are the first columns, and its accelerations the
 * next.
 *
 *   is_of_slice  columns of the problem have only those particles, instead of all
 *   domain       [out] free it with domain_free, after an error too
 *
 * Errors: those of ranks_agree, KITH_OUT_OF_MEMORY. */
kith_status domain_create(kith_context *context, const struct forces_problem *problem,
                          bool is_of_slice, struct domain *domain);
void domain_free(struct domain *domain);

/* A column of this rank's particles, made of an array like those of the problem; *column is the
 * same one if it was there. Errors: KITH_OUT_OF_MEMORY. */
kith_status domain_add_column(struct domain *domain, const void *made_of, int32_t *column);

/* Collective: columns of all particles come to the ranks that started with them, or, unless the
 * arrays are of slices, to all: each to the memory of which it was made, which the caller may
 * write. Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status domain_gather(const struct domain *domain, int32_t columns, const int32_t *column,
                          void *const *made_of);

/* Collective: the accelerations at the positions, and the totals of all particles, without the
 * tail, unless NULL: in double precision only. done is false, on all ranks, if positions or
 * forces are too large for a list. Errors: those of verlet_forces_cpu and ranks_agree. */
kith_status domain_evaluate(struct domain *domain, kith_forces_totals *totals, bool *done);

/* What domain_evaluate does for a new list, each of it collective. */

/* Makes room for count particles; existing ones are kept. */
kith_status domain_reserve(struct domain *domain, int64_t count);

/* Points the problem to the columns, as they are now. */
kith_status domain_point(struct domain *domain);

/* Gives particles to the ranks in whose boxes they are. New boxes are made where work is uneven. */
kith_status domain_move(struct domain *domain);

/* Finds the ghosts within a distance of this rank's particles, and those of the others. */
kith_status domain_find_ghosts(struct domain *domain, double distance);

/* After the list has slots for particles and ghosts: these have the places and columns of their
 * slots, and particles their slots' order. */
void domain_arrange(struct domain *domain);

/* The partners of the particles that the rank starts with, from the problem's excluded pairs.
 * Errors: KITH_INVALID_ARGUMENT (a row that is not there), KITH_OUT_OF_MEMORY. */
kith_status domain_take_partners(struct domain *domain);
void domain_free_partners(struct domain *domain);

/* Before and while particles move, whose new ranks are in `order`: how many partners move
 * (collective), room for them, the partners of those that stay, and those that come (collective).
 * Errors: KITH_OUT_OF_MEMORY. */
void domain_announce_partners(struct domain *domain);
kith_status domain_reserve_partners(struct domain *domain);
void domain_take_out_partners(struct domain *domain);
void domain_exchange_partners(struct domain *domain);

/* After domain_arrange: partners are in the order of the slots, and the list leaves out those that
 * are here, too. Errors: KITH_OUT_OF_MEMORY. */
kith_status domain_arrange_partners(struct domain *domain);

/* Posts the places of the ghosts, in batch 1; and what has come to their slots. */
void domain_post_ghosts(struct domain *domain);
void domain_take_ghosts(struct domain *domain);

#endif
