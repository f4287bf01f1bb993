/* Columns of slices, and of all bodies where a solver needs those. */

#include "forces/slice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/cutoff_slices.h"
#include "forces/direct.h"
#include "forces/excluded.h"
#include "ranks/bodies.h"
#include "ranks/ranks.h"

/* The memory of fewer does not matter; every rank has some. */
enum { fewest_bodies = 1024, fewest_of_rank = 64 };

/* Numbers of a body in the memory of a GPU that has all: about 62 of a tree with its lists, its
 * sources and its results, and 16 columns of a run. */
enum { numbers_of_body = 80 };

/* Of ranks with a GPU each: whether all bodies do not fit into the smallest memory of these. */
static bool exceed_memory(const kith_context *context, kith_dtype dtype, int64_t all)
{
    const double bytes = (double)all * numbers_of_body * (double)kith_dtype_bytes(dtype);
    kith_device_info info;
    const bool is_known = context->services->describe(context->device.index, &info) == KITH_OK;
    double least = is_known ? -(double)info.memory_bytes : -(double)INFINITY; /* its opposite */
    ranks_maximum(context, &least, 1);
    return bytes > -least;
}

bool forces_can_be_sliced(const kith_context *context, kith_dtype dtype, int64_t all)
{
    if (!context->ranks || context->ranks->size < 2 || all < fewest_bodies ||
        all / fewest_of_rank < context->ranks->size)
        return false;
    return context->device.kind == KITH_CPU || exceed_memory(context, dtype, all);
}

bool forces_solver_is_tree(const kith_solver *solver)
{
    return solver == &forces_solver_tree || solver == &forces_solver_fmm;
}

bool forces_takes_slices(const kith_context *context, const kith_solver *solver,
                         const struct forces_problem *own)
{
    if (solver == &forces_solver_auto)
        return forces_direct_takes_slices(context, own);
    if (solver == &forces_solver_cutoff)
        return context->device.kind != KITH_CPU || cutoff_takes_slices(own);
    if (forces_solver_is_tree(solver))
        return context->device.kind == KITH_CPU || !own->law;
    return solver == &forces_solver_direct && forces_direct_takes_slices(context, own);
}

/* The problem's columns of one number a body, the outputs last. */
static void list_scalars(struct forces_problem *problem, const void **list[forces_wide_scalars])
{
    const void **const columns[forces_wide_scalars] = {
        &problem->source_mass,
        &problem->target_mass,
        &problem->target_weight,
        &problem->target_charge,
        &problem->source_charge,
        &problem->target_half_softening2,
        &problem->source_half_softening2,
        (const void **)&problem->potential,
        (const void **)&problem->potential_rate,
    };
    memcpy(list, columns, sizeof columns);
}

/* Bodies of all ranks that such a column is of. */
static int64_t rows_of_scalar(const struct forces_problem *own, int k)
{
    const bool is_of_sources = k == 0 || k == 4 || k == 6;
    return is_of_sources ? own->source_count : own->target_count;
}

/* The first of the columns that are the same memory as column k. */
static int same_as(const void *const own[forces_wide_scalars], int k)
{
    int first = 0;
    while (own[first] != own[k])
        first++;
    return first;
}

static void allocate(kith_context *context, int64_t all, int64_t components, void **memory,
                     bool *is_new, kith_status *status)
{
    static const char what[] = "columns of all bodies";
    const int64_t bytes = components * (int64_t)sizeof(double);
    if (*memory)
        return;
    *is_new = true;
    if (*status == KITH_OK)
        *status = context->device.kind == KITH_CPU
                      ? kith_allocate_unset(kith_padded(all), bytes, what, memory)
                      : context->services->allocate(context, kith_padded(all), bytes, what, memory);
}

static kith_status allocate_columns(kith_context *context, const struct forces_problem *own,
                                    const void *const scalars[forces_wide_scalars],
                                    struct forces_wide *wide)
{
    const int64_t sources = own->source_count, targets = own->target_count;
    kith_status status = KITH_OK;
    bool is_new = false;
    if (own->source_position[0])
        allocate(context, sources, own->dimensions, &wide->position, &is_new, &status);
    if (own->target_position[0] && !own->self)
        allocate(context, targets, own->dimensions, &wide->target_position, &is_new, &status);
    if (own->source_velocity[0])
        allocate(context, sources, own->dimensions, &wide->velocity, &is_new, &status);
    if (own->acceleration[0])
        allocate(context, targets, own->dimensions, &wide->acceleration, &is_new, &status);
    if (own->jerk[0])
        allocate(context, targets, own->dimensions, &wide->jerk, &is_new, &status);
    for (int k = 0; k < forces_wide_scalars; k++)
        if (scalars[k] && same_as(scalars, k) == k)
            allocate(context, rows_of_scalar(own, k), 1, &wide->scalar[k], &is_new, &status);
    return is_new ? ranks_agree(context, status) : KITH_OK;
}

/* How many pairs each rank gives, to where they begin among all. */
static kith_status find_begin(kith_context *context, kith_status status, int64_t count,
                              int64_t **begin)
{
    const struct ranks *ranks = context->ranks;
    unsigned long long *counts = NULL;
    int64_t *first = NULL;
    if (status == KITH_OK)
        status = kith_allocate(ranks->size, sizeof *counts, "excluded pairs", &counts);
    if (status == KITH_OK)
        status = kith_allocate(ranks->size + 1, sizeof *first, "excluded pairs", &first);
    status = ranks_agree(context, status);
    if (status == KITH_OK && counts && first) {
        counts[ranks->rank] = (unsigned long long)count;
        ranks_add(context, counts, ranks->size);
        for (int32_t k = 0; k < ranks->size; k++)
            first[k + 1] = first[k] + (int64_t)counts[k];
    }
    free(counts);
    *begin = first;
    return status;
}

/* Of the pairs with a row of this rank's, those whose first row it is, up front. */
static int64_t take_first_rows(kith_context *context, const struct forces_problem *own,
                               kith_array pairs)
{
    int64_t(*rows)[2] = pairs.data, first = 0, count = 0, taken = 0;
    ranks_rows(context, own->source_count, &first, &count);
    for (int64_t k = 0; k < excluded_count(own); k++)
        if (rows[k][0] >= first && rows[k][0] < first + count)
            memmove(rows[taken++], rows[k], sizeof *rows);
    return taken;
}

/* Excluded pairs of all ranks, to all. */
static kith_status unite_excluded(kith_context *context, const struct forces_problem *own,
                                  struct forces_wide *wide)
{
    kith_array pairs;
    int64_t count = 0, *begin = NULL;
    kith_status status = excluded_copy(own->space.exclusions, &pairs);
    if (status == KITH_OK)
        count = take_first_rows(context, own, pairs);
    status = find_begin(context, status, count, &begin);
    if (status == KITH_OK && begin) {
        wide->excluded_count = begin[context->ranks->size];
        status = ranks_agree(context, kith_allocate(wide->excluded_count, sizeof *wide->excluded,
                                                    "excluded pairs", &wide->excluded));
    }
    if (status == KITH_OK && begin) {
        if (count > 0)
            memcpy(wide->excluded[begin[context->ranks->rank]], pairs.data,
                   (size_t)count * sizeof *wide->excluded);
        ranks_gather_parts(context, wide->excluded, sizeof *wide->excluded, begin);
    }
    free(pairs.data);
    free(begin);
    return status;
}

#ifdef KITH_HAS_CUDA
/* In the memory of a device. */
static kith_status gather_column_there(kith_context *context, const struct forces_problem *own,
                                       int64_t all, const void *rows, char *column)
{
    const int64_t real = kith_dtype_bytes(own->dtype);
    const double one = 1;
    int64_t first = 0, count = 0;
    ranks_rows(context, all, &first, &count);
    const kith_status status = context->services->combine(context, own->dtype, count, 1, &one,
                                                          &rows, column + first * real);
    return ranks_gather_on_device(context, status, column, all, real);
}
#endif

/* This rank's part of a column of all bodies, and those of the others. */
static kith_status gather_column(kith_context *context, const struct forces_problem *own,
                                 int64_t all, const void *rows, char *column)
{
#ifdef KITH_HAS_CUDA
    if (context->device.kind != KITH_CPU)
        return gather_column_there(context, own, all, rows, column);
#endif
    const int64_t real = kith_dtype_bytes(own->dtype);
    int64_t first = 0, count = 0;
    ranks_rows(context, all, &first, &count);
    if (count > 0)
        memcpy(column + first * real, rows, (size_t)(count * real));
    memset(column + all * real, 0, (size_t)((kith_padded(all) - all) * real));
    ranks_gather(context, column, real, all, 1);
    return KITH_OK;
}

kith_status forces_widen(kith_context *context, const struct forces_problem *own,
                         struct forces_wide *wide, struct forces_problem *all)
{
    const int64_t real = kith_dtype_bytes(own->dtype), sources = own->source_count;
    const int64_t bytes = kith_padded(sources) * real;
    const int64_t target_bytes = kith_padded(own->target_count) * real;
    const void **scalar[forces_wide_scalars], *was[forces_wide_scalars];
    *all = *own;
    all->is_slice = false;
    list_scalars(all, scalar);
    for (int k = 0; k < forces_wide_scalars; k++)
        was[k] = *scalar[k];
    KITH_TRY(allocate_columns(context, own, was, wide));
    if (excluded_any(own)) {
        if (!wide->excluded)
            KITH_TRY(unite_excluded(context, own, wide));
        all->space.exclusions =
            kith_array_matrix(wide->excluded, KITH_I64, wide->excluded_count, 2);
    }
    for (int c = 0; c < own->dimensions && own->source_position[0]; c++) {
        char *column = (char *)wide->position + c * bytes;
        KITH_TRY(gather_column(context, own, sources, own->source_position[c], column));
        all->source_position[c] = column;
        if (own->self)
            all->target_position[c] = column;
    }
    for (int c = 0; c < own->dimensions && own->target_position[0] && !own->self; c++) {
        char *column = (char *)wide->target_position + c * target_bytes;
        KITH_TRY(gather_column(context, own, own->target_count, own->target_position[c], column));
        all->target_position[c] = column;
    }
    for (int c = 0; c < own->dimensions && own->source_velocity[0]; c++) {
        char *column = (char *)wide->velocity + c * bytes;
        KITH_TRY(gather_column(context, own, sources, own->source_velocity[c], column));
        all->source_velocity[c] = all->target_velocity[c] = column;
    }
    for (int c = 0; c < own->dimensions; c++) {
        if (own->acceleration[0])
            all->acceleration[c] = (char *)wide->acceleration + c * target_bytes;
        if (own->jerk[0])
            all->jerk[c] = (char *)wide->jerk + c * target_bytes;
    }
    for (int k = 0; k < forces_wide_scalars; k++) {
        if (!was[k])
            continue;
        *scalar[k] = wide->scalar[same_as(was, k)];
        if (same_as(was, k) == k && k < forces_wide_scalars - forces_wide_outputs)
            KITH_TRY(gather_column(context, own, rows_of_scalar(own, k), was[k], wide->scalar[k]));
    }
    return KITH_OK;
}

kith_status forces_keep_own(kith_context *context, const struct forces_problem *all,
                            const struct forces_problem *own)
{
    const int64_t real = kith_dtype_bytes(own->dtype);
    const void *from[] = {all->acceleration[0], all->acceleration[1], all->acceleration[2],
                          all->jerk[0],         all->jerk[1],         all->jerk[2],
                          all->potential,       all->potential_rate};
    void *to[] = {own->acceleration[0], own->acceleration[1], own->acceleration[2],
                  own->jerk[0],         own->jerk[1],         own->jerk[2],
                  own->potential,       own->potential_rate};
    const double one = 1;
    int64_t first = 0, count = 0;
    ranks_rows(context, own->target_count, &first, &count);
    for (size_t k = 0; k < sizeof to / sizeof *to; k++) {
        const void *rows = (const char *)from[k] + first * real;
        if (!to[k] || count == 0)
            continue;
        if (context->device.kind == KITH_CPU)
            memcpy(to[k], rows, (size_t)(count * real));
        else
            KITH_TRY(context->services->combine(context, own->dtype, count, 1, &one, &rows, to[k]));
    }
    return KITH_OK;
}

static void release(kith_context *context, void *memory)
{
    if (context->device.kind == KITH_CPU)
        free(memory);
    else
        context->services->release(context, memory);
}

void forces_wide_free(kith_context *context, struct forces_wide *wide)
{
    for (int k = 0; k < forces_wide_scalars; k++)
        release(context, wide->scalar[k]);
    release(context, wide->position);
    release(context, wide->target_position);
    release(context, wide->velocity);
    release(context, wide->acceleration);
    release(context, wide->jerk);
    free(wide->excluded);
    *wide = (struct forces_wide){0};
}
