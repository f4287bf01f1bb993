#ifndef PAIRS_PROBLEM_H
#define PAIRS_PROBLEM_H

#include "cells/geometry.h"
#include "core/status.h"
#include "kith/pairs.h"

/* One of the systems of a problem: a range of points and one of targets (the same range if there
 * are no queries). */
struct pairs_system {
    int64_t first_point, point_count;
    int64_t first_target, target_count;
    struct pairs_lattice lattice;
};

/* Whether points are of the plane or of space: others have no cells, and no other backend than the
 * CPU has them. */
static inline bool pairs_have_cells(int64_t dimensions)
{
    return dimensions == 2 || dimensions == 3;
}

/* Takes the rows of a list, so that the list needs no memory. Threads call it at the same time,
 * each with a lane of its own, below the context's number of threads. */
struct pairs_visitor {
    void (*visit)(void *argument, int64_t lane, int64_t i, const int32_t *partners, int64_t count);
    void *argument;
};

/* Pairs as a backend sees them. Targets are the rows of the list, i; points are the j.
 *
 * Arrays are the caller's: in the backend's memory, of any strides (except exclusions, which are
 * dense), in the caller's unit of length. All else is in units of `unit`, a power of two that makes
 * the cutoff about 1: a backend multiplies coordinates and radii by 1/unit as it reads them, and
 * what it lists by unit. Neither costs a bit.
 *
 * The numbers are unchecked: a backend checks them, and gives the errors below. It finds the
 * largest radii too: no pair is farther apart than cutoff + radius + radius. */
struct pairs_problem {
    kith_dtype dtype; /* KITH_F64 or KITH_F32 */
    int32_t dimensions;
    bool two_sets; /* targets are not the points; else i = j needs T ≠ 0 */
    bool half, sorted;
    bool count_only;
    kith_pairs_method method; /* AUTO, CELLS or BRUTE_FORCE */
    double unit;
    double cutoff; /* skin included, rounded to dtype; with radii, without them. Nearest: may be
                      infinite */
    double limit; /* of r², geometry.h; with radii (r_i + r_j + cutoff)², each operation rounded, is
                     it */
    bool by_distance; /* the k nearest of each target, in order of distance, j, shift */
    int64_t nearest;  /* k; only with by_distance */

    kith_array points, targets;
    kith_array point_radii, target_radii;     /* both or none */
    kith_array exclusion_offsets, exclusions; /* both or none; int64 */

    const struct pairs_visitor *visitor; /* NULL: a list. Of points without cells only */

    int64_t system_count;               /* at least 1 */
    const struct pairs_system *systems; /* on the host; ascending ranges without gaps */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The errors for the first bad row of "positions", "queries", "radii", "query_radii": a number that
 * is not finite (or a radius < 0), a point that pairs_wrap refuses. */
kith_status pairs_fail_at_number(const char *name, int64_t row, double value, bool radius);
kith_status pairs_fail_at_far_point(const char *name, int64_t row);

#ifdef __cplusplus
}
#endif

#endif
