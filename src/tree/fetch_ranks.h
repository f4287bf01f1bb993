#ifndef TREE_FETCH_RANKS_H
#define TREE_FETCH_RANKS_H

#include "ranks/parcels.h"
#include "tree/essential_ranks.h"

/* Requests of a rank for data of other ranks' cells, and theirs for data of its own. */
struct tree_fetch {
    int64_t count;
    int32_t *cell;                /* requested, those of one rank after those of another */
    int32_t *asked;               /* of this rank, for others, one of these after another */
    struct ranks_parcels parcels; /* of the questions, then of the answers: sent and received */
};

/* Collective: requests the cells of other ranks that are flagged, of those from `first` on. Free
 * with tree_fetch_free, after an error too. Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status tree_fetch_ask(const struct tree_essential *essential, const uint8_t *flags,
                           int32_t first, struct tree_fetch *fetch);
void tree_fetch_free(struct tree_fetch *fetch);

/* The answer for a cell: a number of elements, which both ranks know, and their bytes. */
typedef int64_t tree_fetch_elements(const struct tree_essential *essential, int32_t cell);
typedef void tree_fetch_write(const struct tree_essential *essential, const void *user,
                              int32_t cell, char *to);

/* In first[rank] where the elements begin of the cells of each rank, which begin at
 * first_cell[rank], and last the number of all. */
void tree_fetch_count(const struct tree_essential *essential, const int32_t *cell,
                      const int64_t *first_cell, tree_fetch_elements *elements, int64_t *first);

/* Collective: answers, and gets answers: in *received, in the order of fetch->cell; free it with
 * free(), after an error too. Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status tree_fetch_answer(const struct tree_essential *essential, struct tree_fetch *fetch,
                              int64_t element_bytes, tree_fetch_elements *elements,
                              tree_fetch_write *write, const void *user, char **received);

#endif
