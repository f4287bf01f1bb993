#ifndef TREE_ESSENTIAL_RANKS_H
#define TREE_ESSENTIAL_RANKS_H

#include "tree/division_ranks.h"
#include "tree/softening.h"
#include "tree/walk.h"

/* The locally essential tree of a rank (Warren & Salmon 1993; Dubinski 1996): of the tree of all
 * points, the cells that its walk visits, with the multipoles and points that it sums.
 *
 * It begins with the top (tree/division_ranks.h) and the cells below this rank's branches. A walk
 * of the targets over the sources of other ranks alone finds the cells that it would split
 * but whose children are not there. These come from their ranks, and the walk goes on there, until
 * none is missing: what comes is what is needed, by any rule of acceptance. A round adds a
 * generation of cells below branches. Cells are then those of one process, in another
 * order, and so are all lists that a walk makes of them, and the bits of their sums.
 *
 * Where the targets are not the sources they have a tree of their own, which begins alike, and to
 * which no cells of others are added.
 *
 * Cells of other ranks are added at the end: parents still come before children, and those next to
 * each other. What stands for a cell's place in the tree of one process is its number. */

enum tree_kind {
    tree_above_own,    /* a cell of the top that has branches of this rank below it */
    tree_above_others, /* and one that has none: no target */
    tree_own,          /* of this rank's branches */
    tree_other         /* of other ranks' */
};

struct tree_essential {
    struct tree_division *division;
    struct octree own;         /* this rank's points; its cells are the first of the tree */
    struct octree tree;        /* cells, which belong to this struct, and the columns of `own` */
    int32_t base, room;        /* cells of `own`; room for cells */
    int32_t terms;             /* of a row of powers */
    int32_t first_root, roots; /* where the walk of the sources begins */
    int64_t first_number;      /* tree_first_number */
    uint8_t *kind;             /* an enum tree_kind */
    bool *counts_here;         /* of the top: what a walk finds there is counted by this rank */
    int64_t *number;           /* the generation · 2^32 + the first point, among all */
    int32_t *owner, *there;    /* of cells of other ranks: whose, and which cell that is there */
    struct tree_side *side;
    double *power;
    struct tree_softenings softenings; /* of this rank's points, and of all cells; or zeros */
    uint8_t *wanted;                   /* by a walk: children; */
    uint8_t *far, *near;               /* multipoles and points */
    /* Memory; of other ranks' points x, y, z, weight, and the half softening or NULL. */
    void *columns, *others[5];
};

/* What is added to the numbers of another rank's cells: where numbers are those of each rank, cells
 * of lower ranks come before the own ones, and those of higher ranks after them. */
static inline int64_t tree_first_number(const struct tree_essential *essential, int32_t owner)
{
    const bool is_lower = owner < essential->division->context->ranks->rank;
    return is_lower ? -essential->first_number : essential->first_number;
}

/* Where a walk begins to count the points of other ranks: not next to this rank's. */
static inline int64_t tree_first_other(const struct tree_essential *essential)
{
    return essential->own.count + 1;
}

/* Collective: the tree of this rank, after tree_division_send: cells below its branches, spheres
 * and sides of these and the top. Free with tree_essential_free, after an error too. Errors:
 * KITH_OUT_OF_MEMORY, those of ranks_agree.
 *
 * tree_essential_soften adds softenings, from a column of half softenings by the rows of the slice.
 */
kith_status tree_essential_create(struct tree_division *division, int32_t leaf,
                                  struct tree_essential *essential);
kith_status tree_essential_soften(struct tree_essential *essential, const void *of_slice);
void tree_essential_free(struct tree_essential *essential);

/* Room for this many cells. Errors: KITH_OUT_OF_MEMORY, KITH_UNSUPPORTED (2^31 or more). */
kith_status tree_essential_reserve(struct tree_essential *essential, int64_t cells);

/* Collective: adds the cells of other ranks that a walk of the targets, which may be the same tree,
 * visits by a rule; those that it takes as far and near are flagged. Errors: KITH_OUT_OF_MEMORY,
 * those of ranks_agree. */
kith_status tree_essential_complete(struct tree_essential *essential,
                                    const struct tree_essential *targets,
                                    const struct tree_rule *rule);

/* Collective: from now on cells have rows of `terms` powers, and scales. Those of the top and of
 * this rank's cells are there: powers in `power`, which is this struct's afterwards, scales in the
 * sides. Those of other cells are received. */
kith_status tree_essential_take_powers(struct tree_essential *essential, int32_t terms,
                                       double *power);

/* Collective: the multipoles of far cells, into their records, and the points of near ones come.
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status tree_essential_fetch(struct tree_essential *essential, int64_t record_bytes,
                                 void *records);

/* Collective: what a walk has counted in each of this rank's branches, for division->counts, and
 * its own sums, which become those of all ranks. */
void tree_essential_count(const struct tree_essential *essential,
                          const struct tree_counts *of_branches, struct tree_counts *sums);

/* Collective: the cells of the tree of all points. */
int64_t tree_essential_cells(const struct tree_essential *essential);

/* Where a pair goes, as in the trees of one process. */
static inline enum tree_place tree_essential_place(const struct tree_essential *targets,
                                                   int32_t target,
                                                   const struct tree_essential *sources,
                                                   int32_t source, enum tree_verdict verdict)
{
    const bool self = targets == sources;
    return tree_place_pair(&targets->side[target], self ? targets->number[target] : 0,
                           targets->tree.cell[target].children, &sources->side[source],
                           self ? sources->number[source] : 0, sources->tree.cell[source].children,
                           verdict);
}

/* A side of a walk. */
static inline struct tree_sides tree_essential_sides(const struct tree_essential *essential)
{
    return (struct tree_sides){&essential->tree, essential->side, essential->power};
}

#endif
