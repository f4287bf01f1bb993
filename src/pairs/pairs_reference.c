#include "pairs/pairs_reference.h"

#include <stdlib.h>
#include <string.h>

#include "cells/lattice.h"
#include "core/memory.h"
#include "device/context.h"
#include "kith/particles.h"
#include "pairs/arguments.h"
#include "pairs/list.h"

struct hit {
    int64_t j;
    int32_t shift[3];
    double vector[KITH_MAX_COORDINATES];
    double distance;
};

/* The hits of a row, found one after the other: by j, then shift. */
struct row {
    struct hit *hits;
    int64_t count, capacity;
};

static kith_status add_hit(struct row *row, struct hit hit)
{
    if (row->count == row->capacity) {
        const int64_t capacity = 2 * row->capacity + 64;
        struct hit *larger = NULL;
        KITH_TRY(kith_allocate(capacity, sizeof hit, "a row of the reference", &larger));
        if (row->count > 0)
            memcpy(larger, row->hits, (size_t)row->count * sizeof hit);
        free(row->hits);
        row->hits = larger;
        row->capacity = capacity;
    }
    row->hits[row->count++] = hit;
    return KITH_OK;
}

/* A row of an array of D columns in units, padded with zeros. */
static void point_of(const struct pairs_problem *problem, kith_array array, int64_t row,
                     double x[KITH_MAX_COORDINATES])
{
    for (int32_t c = 0; c < KITH_MAX_COORDINATES; c++)
        x[c] = c < problem->dimensions ? pairs_get(array, row, c) / problem->unit : 0;
}

static bool is_excluded(const struct pairs_problem *problem, int64_t i, int64_t j)
{
    if (kith_array_is_none(problem->exclusions))
        return false;
    const int64_t *offsets = problem->exclusion_offsets.data, *rows = problem->exclusions.data;
    for (int64_t p = offsets[i]; p < offsets[i + 1]; p++)
        if (rows[p] == j)
            return true;
    return false;
}

static bool comes_first(const int32_t shift[3])
{
    for (int k = 0; k < 3; k++)
        if (shift[k] != 0)
            return shift[k] > 0;
    return false;
}

static bool is_wanted(const struct pairs_problem *problem, int64_t i, int64_t j,
                      const int32_t shift[3])
{
    const bool moved = shift[0] != 0 || shift[1] != 0 || shift[2] != 0;
    if (problem->two_sets)
        return true;
    if (!problem->half)
        return i != j || moved;
    return i < j || (i == j && comes_first(shift));
}

/* Adds the images of j within the radius. Along axis k only shifts bring it near that make the
 * difference of the components in the basis less than radius / height. */
static kith_status add_images(const struct pairs_problem *problem,
                              const struct pairs_lattice *lattice, int64_t i, int64_t j,
                              double radius, struct row *row)
{
    double xi[KITH_MAX_COORDINATES], xj[KITH_MAX_COORDINATES], difference[KITH_MAX_COORDINATES];
    double first[3], last[3];
    KITH_TRY(pairs_check_images(lattice, radius, problem->unit));
    point_of(problem, problem->targets, i, xi);
    point_of(problem, problem->points, j, xj);
    for (int k = 0; k < KITH_MAX_COORDINATES; k++)
        difference[k] = xj[k] - xi[k];
    for (int k = 0; k < 3; k++) {
        const double f = pairs_fraction(lattice, difference, k);
        const double most = radius * (1 + 1e-6) / lattice->height[k];
        if (lattice->periodic[k] && !(fabs(f) < PAIRS_MOST_CELLS_AWAY))
            return pairs_fail_at_far_point("positions", j);
        first[k] = lattice->periodic[k] ? ceil(-most - f - 1e-6) : 0;
        last[k] = lattice->periodic[k] ? floor(most - f + 1e-6) : 0;
    }
    struct hit hit = {.j = j};
    for (hit.shift[0] = (int32_t)first[0]; hit.shift[0] <= (int32_t)last[0]; hit.shift[0]++)
        for (hit.shift[1] = (int32_t)first[1]; hit.shift[1] <= (int32_t)last[1]; hit.shift[1]++)
            for (hit.shift[2] = (int32_t)first[2]; hit.shift[2] <= (int32_t)last[2];
                 hit.shift[2]++) {
                double r2 = 0;
                for (int c = 0; c < KITH_MAX_COORDINATES; c++) {
                    const double moved = c < 3 ? pairs_translation(lattice, hit.shift, c) : 0;
                    hit.vector[c] = difference[c] + moved;
                    r2 += hit.vector[c] * hit.vector[c];
                }
                hit.distance = sqrt(r2);
                if (hit.distance < radius && is_wanted(problem, i, j, hit.shift))
                    KITH_TRY(add_hit(row, hit));
            }
    return KITH_OK;
}

static double radius_of(const struct pairs_problem *problem, int64_t i, int64_t j)
{
    if (kith_array_is_none(problem->point_radii))
        return problem->cutoff;
    return (pairs_get(problem->target_radii, i, 0) + pairs_get(problem->point_radii, j, 0)) /
               problem->unit +
           problem->cutoff;
}

static kith_status find_row(const struct pairs_problem *problem, const struct pairs_system *system,
                            int64_t i, double most, struct row *row)
{
    row->count = 0;
    for (int64_t j = system->first_point; j < system->first_point + system->point_count; j++)
        if (!is_excluded(problem, i, j))
            KITH_TRY(add_images(problem, &system->lattice, i, j,
                                fmin(most, radius_of(problem, i, j)), row));
    return KITH_OK;
}

static int by_distance(const void *a, const void *b)
{
    const struct hit *first = a, *second = b;
    if (first->distance != second->distance)
        return first->distance < second->distance ? -1 : 1;
    if (first->j != second->j)
        return first->j < second->j ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (first->shift[k] != second->shift[k])
            return first->shift[k] < second->shift[k] ? -1 : 1;
    return 0;
}

/* All within a radius that grows until there are k, or no more. */
static kith_status find_nearest(const struct pairs_problem *problem,
                                const struct pairs_system *system, int64_t i, struct row *row)
{
    const bool *periodic = system->lattice.periodic;
    const bool endless = (periodic[0] || periodic[1] || periodic[2]) && system->point_count > 0;
    double radius = endless ? fmin(system->lattice.height[0],
                                   fmin(system->lattice.height[1], system->lattice.height[2]))
                            : problem->cutoff;
    row->count = 0;
    if (problem->nearest == 0)
        return KITH_OK;
    for (int turn = 0; turn < 40; turn++) {
        KITH_TRY(find_row(problem, system, i, radius, row));
        if (row->count >= problem->nearest || radius >= problem->cutoff)
            break;
        radius *= 1.5;
    }
    if (row->count > 0)
        qsort(row->hits, (size_t)row->count, sizeof *row->hits, by_distance);
    if (row->count > problem->nearest)
        row->count = problem->nearest;
    return KITH_OK;
}

static void store_real(kith_array array, int64_t at, double value)
{
    if (kith_array_is_none(array))
        return;
    if (array.dtype == KITH_F32)
        ((float *)array.data)[at] = (float)value;
    else
        ((double *)array.data)[at] = value;
}

static void store_index(kith_array array, int64_t at, int64_t value)
{
    if (kith_array_is_none(array))
        return;
    if (array.dtype == KITH_I32)
        ((int32_t *)array.data)[at] = (int32_t)value;
    else
        ((int64_t *)array.data)[at] = value;
}

static void store_row(const struct pairs_problem *problem, int64_t i, const struct row *row,
                      kith_pairs *pairs)
{
    const int64_t begin = ((const int64_t *)pairs->offsets.data)[i];
    const int32_t dimensions = problem->dimensions;
    for (int64_t p = 0; p < row->count; p++) {
        const struct hit *hit = &row->hits[p];
        store_index(pairs->i, begin + p, i);
        store_index(pairs->j, begin + p, hit->j);
        for (int32_t k = 0; k < dimensions; k++) {
            if (!kith_array_is_none(pairs->shifts))
                ((int32_t *)pairs->shifts.data)[(begin + p) * dimensions + k] =
                    k < 3 ? hit->shift[k] : 0;
            store_real(pairs->vectors, (begin + p) * dimensions + k,
                       hit->vector[k] * problem->unit);
        }
        store_real(pairs->distances, begin + p, hit->distance * problem->unit);
    }
}

/* Finds all rows, to count them (fill false) or to store them. */
static kith_status each_row(const kith_context *context, const struct pairs_problem *problem,
                            bool fill, struct row *row, kith_pairs *pairs)
{
    int64_t *offsets = pairs->offsets.data;
    offsets[0] = 0;
    for (int64_t s = 0; s < problem->system_count; s++) {
        const struct pairs_system *system = &problem->systems[s];
        const int64_t end = system->first_target + system->target_count;
        for (int64_t i = system->first_target; i < end; i++) {
            KITH_TRY(kith_context_check_cancelled(context));
            KITH_TRY(problem->by_distance ? find_nearest(problem, system, i, row)
                                          : find_row(problem, system, i, INFINITY, row));
            if (fill)
                store_row(problem, i, row, pairs);
            else
                offsets[i + 1] = offsets[i] + row->count;
        }
    }
    return KITH_OK;
}

kith_status pairs_reference(const kith_context *context, const struct pairs_problem *problem,
                            kith_pairs *pairs)
{
    struct row row = {0};
    KITH_TRY(pairs_check_numbers("positions", problem->points, false));
    KITH_TRY(pairs_check_numbers("queries", problem->targets, false));
    KITH_TRY(pairs_check_numbers("radii", problem->point_radii, true));
    KITH_TRY(pairs_check_numbers("query_radii", problem->target_radii, true));
    KITH_TRY(pairs_list_begin(problem, pairs));
    kith_status status = each_row(context, problem, false, &row, pairs);
    if (status == KITH_OK)
        status =
            pairs_list_reserve(((const int64_t *)pairs->offsets.data)[pairs->row_count], pairs);
    if (status == KITH_OK)
        status = each_row(context, problem, true, &row, pairs);
    free(row.hits);
    return status;
}
