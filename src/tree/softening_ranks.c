/* The softenings of a tree over ranks: of the points and cells that each has. */

#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "ranks/ranks.h"
#include "tree/essential_ranks.h"

static const char what[] = "softenings of a tree";

/* Collective: of this rank's points, from a column by the rows of the slice. */
static kith_status send_points(struct tree_essential *e, const void *of_slice)
{
    const struct octree *own = &e->own;
    const int64_t room = kith_padded(own->count + kith_padding);
    KITH_TRY(ranks_agree(e->division->context, kith_allocate(room, kith_dtype_bytes(own->dtype),
                                                             what, &e->softenings.of_point)));
    return tree_division_send_column(e->division, own, of_slice, e->softenings.of_point);
}

/* Collective: of this rank's cells, then of all branches, then of what is above them. */
static void sum_cells(struct tree_essential *e, struct tree_softening_sums *sums,
                      struct tree_softening_sums *of_branches)
{
    const struct tree_division *division = e->division;
    const void *of_point = e->softenings.of_point;
    for (int32_t k = e->base - 1; k >= 0; k--)
        if (e->kind[k] == tree_own)
            sums[k] = tree_softening_sum(&e->own, of_point, sums, k);
    for (int64_t k = 0; k < division->branch_count; k++)
        of_branches[k] = sums[division->branch[k]];
    tree_division_gather(division, of_branches, sizeof *of_branches);
    for (int64_t k = 0; k < division->branch_count; k++)
        sums[division->branch[k]] = of_branches[k];
    for (int32_t k = division->count - 1; k >= 0; k--)
        if (division->cell[k].children > 0)
            sums[k] = tree_softening_sum(&e->own, of_point, sums, k);
    for (int32_t k = 0; k < e->base; k++)
        e->softenings.of_cell[k] = tree_softening_of(&sums[k]);
}

kith_status tree_essential_soften(struct tree_essential *e, const void *of_slice)
{
    struct tree_softening_sums *sums = NULL, *of_branches = NULL;
    KITH_TRY(send_points(e, of_slice));
    kith_status status =
        kith_allocate(e->room, sizeof *e->softenings.of_cell, what, &e->softenings.of_cell);
    if (status == KITH_OK)
        status = kith_allocate(e->base, sizeof *sums, what, &sums);
    if (status == KITH_OK)
        status = kith_allocate(e->division->branch_count, sizeof *of_branches, what, &of_branches);
    status = ranks_agree(e->division->context, status);
    if (status == KITH_OK && sums && of_branches) /* always; for the static analyzer */
        sum_cells(e, sums, of_branches);
    free(sums);
    free(of_branches);
    return status;
}
