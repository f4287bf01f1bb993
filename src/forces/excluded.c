#include "forces/excluded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cells/geometry.h"
#include "cells/lattice.h"
#include "core/memory.h"
#include "core/reals.h"
#include "forces/solver.h"

static int64_t count_of(kith_array exclusions)
{
    return kith_array_is_none(exclusions) ? 0 : exclusions.shape[0];
}

int64_t excluded_count(const struct forces_problem *problem)
{
    return count_of(problem->space.exclusions);
}

bool excluded_any(const struct forces_problem *problem)
{
    return problem->space.has_exclusions || count_of(problem->space.exclusions) > 0;
}

kith_status excluded_check(kith_array exclusions, const struct kith_solver *solver, double cutoff)
{
    if (count_of(exclusions) == 0 || solver->is_periodic || cutoff > 0)
        return KITH_OK;
    return kith_fail(
        KITH_INVALID_ARGUMENT,
        "exclusions are given, and the solver %s sums all pairs; give a cutoff, or the "
        "solver ewald or pme in a periodic cell",
        solver->name);
}

kith_status excluded_copy(kith_array exclusions, kith_array *copy)
{
    const int64_t count = count_of(exclusions);
    int64_t(*rows)[2] = NULL;
    *copy = kith_array_none();
    if (count == 0)
        return KITH_OK;
    KITH_TRY(kith_allocate(count, sizeof *rows, "excluded pairs", &rows));
    for (int64_t k = 0; k < count; k++)
        for (int c = 0; c < 2; c++)
            rows[k][c] = excluded_row(exclusions, k, c);
    *copy = kith_array_matrix(rows, KITH_I64, count, 2);
    return KITH_OK;
}

kith_status excluded_copy_own(kith_array exclusions, int64_t first, int64_t end, kith_array *copy)
{
    int64_t(*rows)[2] = NULL, count = 0;
    *copy = kith_array_none();
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1)
            KITH_TRY(kith_allocate(count, sizeof *rows, "excluded pairs", &rows));
        count = 0;
        for (int64_t k = 0; k < count_of(exclusions); k++) {
            const int64_t i = excluded_row(exclusions, k, 0), j = excluded_row(exclusions, k, 1);
            if (!(i >= first && i < end) && !(j >= first && j < end))
                continue;
            if (rows)
                memcpy(rows[count], (const int64_t[2]){i, j}, sizeof *rows);
            count++;
        }
    }
    *copy = kith_array_matrix(rows, KITH_I64, count, 2);
    return KITH_OK;
}

kith_status excluded_check_pairs(kith_array exclusions, int64_t count)
{
    for (int64_t k = 0; k < count_of(exclusions); k++) {
        const int64_t i = excluded_row(exclusions, k, 0), j = excluded_row(exclusions, k, 1);
        if (i < 0 || j < 0 || i >= count || j >= count || i == j)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "row %lld of the excluded pairs is %lld, %lld; give two different "
                             "particles of 0 to %lld",
                             (long long)k, (long long)i, (long long)j, (long long)count - 1);
    }
    return KITH_OK;
}

kith_status excluded_check_rows(const struct forces_problem *problem)
{
    if (excluded_any(problem) && !problem->self)
        return kith_fail(KITH_UNSUPPORTED,
                         "exclusions and separate targets are given; leave one of them out");
    return excluded_check_pairs(problem->space.exclusions, problem->target_count);
}

/* A row wrapped as the points of the cells are; one too far away has been refused before. */
static void wrap(const struct forces_problem *problem, int64_t row, double x[3])
{
    int32_t wraps[3];
    x[0] = x[1] = x[2] = 0;
    for (int c = 0; c < problem->dimensions; c++)
        x[c] = real_get(problem->dtype, problem->source_position[c], row);
    pairs_wrap(problem->space.lattice, x, wraps);
}

static kith_status allocate(const struct forces_problem *problem, kith_array exclusions,
                            struct excluded *excluded)
{
    KITH_TRY(kith_allocate(problem->target_count + 2, sizeof *excluded->begin, "excluded pairs",
                           &excluded->begin));
    return kith_allocate(2 * exclusions.shape[0], sizeof *excluded->entries, "excluded pairs",
                         &excluded->entries);
}

static void put(struct excluded *excluded, int64_t of, int64_t other, const int32_t image[3],
                int sign)
{
    struct excluded_image *entry = &excluded->entries[excluded->begin[of + 1]++];
    entry->slot = (int32_t)other;
    for (int k = 0; k < 3; k++)
        entry->image[k] = sign * image[k];
}

/* Both rows of a pair have an entry, in the order of the slots. While they are filled in, begin[k]
 * of what is requested is at k + 1. */
static void fill_in(const struct forces_problem *problem, kith_array exclusions,
                    const int64_t *slot, struct excluded *excluded)
{
    const int64_t n = problem->target_count, pairs = exclusions.shape[0];
    int64_t *begin = excluded->begin;
    for (int64_t k = 0; k < pairs; k++)
        for (int c = 0; c < 2; c++)
            begin[slot[excluded_row(exclusions, k, c)] + 2]++;
    for (int64_t k = 2; k < n + 2; k++)
        begin[k] += begin[k - 1];
    for (int64_t k = 0; k < pairs; k++) {
        const int64_t a = excluded_row(exclusions, k, 0), b = excluded_row(exclusions, k, 1);
        const int64_t i = a < b ? a : b, j = a < b ? b : a; /* of equally near images the same */
        double from[3], to[3];
        int32_t image[3];
        wrap(problem, i, from);
        wrap(problem, j, to);
        pairs_nearest_image(problem->space.lattice, from, to, image);
        put(excluded, slot[i], slot[j], image, 1);
        put(excluded, slot[j], slot[i], image, -1);
    }
}

kith_status excluded_find(const struct forces_problem *problem, const uint32_t *order,
                          struct excluded *excluded)
{
    const kith_array exclusions = problem->space.exclusions;
    int64_t *slot = NULL;
    *excluded = (struct excluded){0};
    if (!excluded_any(problem))
        return KITH_OK;
    KITH_TRY(excluded_check_rows(problem));
    KITH_TRY(kith_allocate(problem->target_count, sizeof *slot, "excluded pairs", &slot));
    for (int64_t k = 0; k < problem->target_count; k++)
        slot[order ? order[k] : k] = k;
    const kith_status status = allocate(problem, exclusions, excluded);
    if (status == KITH_OK)
        fill_in(problem, exclusions, slot, excluded);
    else
        excluded_free(excluded);
    free(slot);
    return status;
}

void excluded_free(struct excluded *excluded)
{
    free(excluded->begin);
    free(excluded->entries);
    *excluded = (struct excluded){0};
}

bool excluded_has(const struct excluded *excluded, int64_t i, int64_t j, const int32_t image[3])
{
    for (int64_t k = excluded->begin ? excluded->begin[i] : 0;
         excluded->begin && k < excluded->begin[i + 1]; k++)
        if (excluded->entries[k].slot == j &&
            memcmp(excluded->entries[k].image, image, sizeof excluded->entries[k].image) == 0)
            return true;
    return false;
}

/* The index of an entry's candidate; −1: it is not a candidate. */
static int64_t candidate_of(const struct excluded_image *entry, const struct excluded_run *runs,
                            int64_t run_count)
{
    for (int64_t k = 0; k < run_count; k++)
        if (entry->slot >= runs[k].first && entry->slot < runs[k].first + runs[k].count &&
            memcmp(entry->image, runs[k].image, sizeof entry->image) == 0)
            return runs[k].at + entry->slot - runs[k].first;
    return -1;
}

/* Moves the excluded candidates of a target infinitely far away, or back to where their particles
 * are. */
static void set_far(const struct excluded *excluded, int64_t target,
                    const struct cutoff_problem *problem, kith_dtype dtype,
                    const struct cutoff_candidates *candidates, const struct excluded_run *runs,
                    int64_t run_count, bool is_far)
{
    for (int64_t k = excluded->begin[target]; k < excluded->begin[target + 1]; k++) {
        const struct excluded_image *entry = &excluded->entries[k];
        const int64_t at = candidate_of(entry, runs, run_count);
        if (at >= 0)
            real_set(dtype, candidates->position[0], at,
                     is_far ? (double)INFINITY
                            : real_get(dtype, problem->target_position[0], entry->slot));
    }
}

void excluded_sum(const struct excluded *excluded, cutoff_kernel *kernel,
                  const struct cutoff_problem *problem, kith_dtype dtype,
                  const struct cutoff_candidates *candidates, const struct excluded_run *runs,
                  int64_t run_count, int64_t begin, int64_t end, double *totals)
{
    while (begin < end) {
        int64_t next = begin;
        while (next < end && excluded->begin[next + 1] == excluded->begin[next])
            next++;
        if (next > begin)
            kernel(problem, candidates, begin, next, totals);
        if (next < end) {
            set_far(excluded, next, problem, dtype, candidates, runs, run_count, true);
            kernel(problem, candidates, next, next + 1, totals);
            set_far(excluded, next, problem, dtype, candidates, runs, run_count, false);
        }
        begin = next + 1;
    }
}
