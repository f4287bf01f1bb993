#include "forces/verlet_excluded.h"

#include <stdlib.h>

#include "cells/geometry.h"
#include "core/memory.h"
#include "forces/excluded.h"

bool verlet_excluded_suits(const struct forces_problem *problem)
{
    const struct pairs_lattice *lattice = problem->space.lattice;
    for (int k = 0; k < 3 && excluded_any(problem); k++)
        if (lattice->periodic[k] &&
            2 * problem->space.cutoff > lattice->height[k] * (1 - 0x1p-20)) /* rounded positions */
            return false;
    return true;
}

/* While partners are filled in, begin[k] of what is requested is at k + 1. */
static void fill_in(const int64_t (*pairs)[2], int64_t pair_count, int64_t count,
                    struct verlet_excluded *excluded)
{
    int64_t *begin = excluded->begin;
    for (int64_t k = 0; k < pair_count; k++)
        for (int c = 0; c < 2; c++)
            begin[pairs[k][c] + 2]++;
    for (int64_t k = 2; k < count + 2; k++)
        begin[k] += begin[k - 1];
    for (int64_t k = 0; k < pair_count; k++)
        for (int c = 0; c < 2; c++)
            excluded->partners[begin[pairs[k][c] + 1]++] = (int32_t)pairs[k][1 - c];
}

kith_status verlet_excluded_take(const struct forces_problem *problem,
                                 struct verlet_excluded *excluded)
{
    static const char what[] = "excluded pairs";
    const int64_t count = problem->target_count;
    kith_array pairs;
    if (!excluded_any(problem))
        return KITH_OK;
    KITH_TRY(excluded_check_rows(problem));
    const int64_t pair_count = problem->space.exclusions.shape[0];
    KITH_TRY(kith_allocate(count + 2, sizeof *excluded->begin, what, &excluded->begin));
    KITH_TRY(kith_allocate(2 * pair_count, sizeof *excluded->partners, what, &excluded->partners));
    KITH_TRY(kith_allocate(count, sizeof *excluded->slot, what, &excluded->slot));
    KITH_TRY(excluded_copy(problem->space.exclusions, &pairs));
    fill_in((const int64_t(*)[2])pairs.data, pair_count, count, excluded);
    free(pairs.data);
    return KITH_OK;
}

void verlet_excluded_free(struct verlet_excluded *excluded)
{
    free(excluded->begin);
    free(excluded->partners);
    free(excluded->slot);
}
