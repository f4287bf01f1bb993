#ifndef SUMS_PROBLEM_H
#define SUMS_PROBLEM_H

#include "cells/geometry.h"
#include "pairs/problem.h"
#include "sums/formulas.h"
#include "sums/sums_list.h"

/* Targets or sources: the columns that formulas use, by their index in the scope. */
struct sums_side {
    const char *name; /* "targets" */
    int64_t count;
    kith_array positions;
    kith_array column[formula_most_columns]; /* none where not used */
};

enum { sums_list_offsets, sums_list_j, sums_list_shifts, sums_list_array_count };

/* A call as a backend sees it: all arguments are checked, but not the numbers in arrays. */
struct sums_problem {
    kith_dtype dtype;
    int32_t dimensions; /* of more than 3, formulas have r alone */
    const struct sums_formulas *formulas;
    kith_sums_reduction reduction;
    bool same;         /* the targets are the sources */
    bool include_self; /* only if they are */
    double cutoff;     /* rounded to the dtype; 0: all pairs */
    double limit;      /* of r² (geometry.h) */
    struct pairs_lattice lattice;
    struct sums_side targets, sources;
    struct sums_list list; /* offsets NULL: none; its numbers are checked if they are the host's */
    kith_array list_arrays[sums_list_array_count];
    kith_array results;
    bool wants_pair_count;
    int64_t pair_count; /* [out] */
};

/* Whether the pairs within the cutoff are rows of a k-d tree: of points that have no cells. */
static inline bool sums_has_rows(const struct sums_problem *problem)
{
    return problem->cutoff > 0 && !problem->list.offsets && !pairs_have_cells(problem->dimensions);
}

/* Whether all candidates for pairs within the cutoff are evaluated (flat_kernel_body.h): on a plane
 * most are pairs, and in double precision an evaluation takes about as long as a choice. */
static inline bool sums_is_flat(const struct sums_problem *problem)
{
    return problem->cutoff > 0 && !problem->list.offsets && problem->dimensions == 2 &&
           problem->dtype == KITH_F32 && problem->formulas->take_little;
}

/* The axes up to the third, which records have first. */
static inline int32_t sums_coordinates(const struct sums_problem *problem)
{
    return problem->dimensions < 3 ? (int32_t)problem->dimensions : 3;
}

/* The axes from the fourth on. */
static inline int32_t sums_more_axes(const struct sums_problem *problem)
{
    return problem->dimensions > 3 ? problem->dimensions - 3 : 0;
}

/* One of those, as a column. */
static inline kith_array sums_axis(const struct sums_side *side, int32_t axis)
{
    const kith_array x = side->positions;
    const int64_t offset = (3 + axis) * x.strides[1] * kith_dtype_bytes(x.dtype);
    return (kith_array){.data = (char *)x.data + offset,
                        .device = x.device,
                        .ndim = 1,
                        .dtype = x.dtype,
                        .shape = {x.shape[0]},
                        .strides = {x.strides[0]}};
}

/* Whether j, at image 0, is left out of the sum of target i. */
static inline bool sums_leaves_out(const struct sums_problem *problem, int64_t i, int64_t j)
{
    return problem->same && !problem->include_self && i == j;
}

static inline double sums_get(kith_array array, int64_t row, int64_t column)
{
    const int64_t at = row * array.strides[0] + (array.ndim == 2 ? column * array.strides[1] : 0);
    return array.dtype == KITH_F32 ? (double)((const float *)array.data)[at]
                                   : ((const double *)array.data)[at];
}

static inline void sums_put(kith_array array, int64_t row, int64_t column, double value)
{
    const int64_t at = row * array.strides[0] + column * array.strides[1];
    if (array.dtype == KITH_F32)
        ((float *)array.data)[at] = (float)value;
    else
        ((double *)array.data)[at] = value;
}

/* The errors for a number that is not finite, for a point too many cells away, and for points so
 * far apart that r² of all pairs overflows, where the formulas need it. */
kith_status sums_fail_at_row(const struct sums_side *side, int64_t row);
kith_status sums_check_columns(const struct sums_problem *problem, const struct sums_side *side);
double sums_largest_coordinate(const struct sums_problem *problem);
kith_status sums_check_distances(const struct sums_problem *problem);

#endif
