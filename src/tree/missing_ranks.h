#ifndef TREE_MISSING_RANKS_H
#define TREE_MISSING_RANKS_H

/* What a walk of this rank's targets meets of the sources of other ranks. */

#include "tree/essential_ranks.h"

struct tree_pair_list {
    struct tree_cell_pair {
        int32_t target, source;
    } * pair; /* those of one target next to each other, about */
    int64_t count, room;
};

/* Decides about pairs of this rank's targets and the sources of others, and about all pairs below
 * them, by the rule of a walk: sources->far and near flag the sources that are one or the other to
 * any target. Afterwards *pairs has those of which the source would be split, but its children are
 * absent: they are flagged in sources->wanted, and once they have come tree_pairs_descend replaces
 * the pairs by those of the children. No pair is decided about twice.
 *
 *   pairs  free its memory with free(pairs->pair), after an error too
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status tree_find_missing(kith_context *context, const struct tree_rule *rule,
                              const struct tree_essential *targets, struct tree_essential *sources,
                              struct tree_pair_list *pairs);

/* The pairs of the targets' root and the sources', where a walk begins. Errors: KITH_OUT_OF_MEMORY.
 */
kith_status tree_pairs_begin(const struct tree_essential *targets,
                             const struct tree_essential *sources, struct tree_pair_list *pairs);
kith_status tree_pairs_descend(const struct tree_essential *sources, struct tree_pair_list *pairs);

#endif
