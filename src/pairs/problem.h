#ifndef PAIRS_PROBLEM_H
#define PAIRS_PROBLEM_H

#include "kith/pairs.h"
#include "pairs/geometry.h"

/* One of the systems of a problem: a range of points and one of targets (the same range if there
 * are no queries). */
struct pairs_system {
    int64_t first_point, point_count;
    int64_t first_target, target_count;
    struct pairs_lattice lattice;
};

/* Pairs as a backend sees them. Targets are the rows of the list, i; points are the j.
 *
 * Arrays are the caller's: in the backend's memory, of any strides (except exclusions, which are
 * dense), in the caller's unit of length. All else is in units of `unit`, a power of two that makes
 * the cutoff about 1: a backend multiplies coordinates and radii by 1/unit as it reads them, and
 * what it lists by unit. Neither costs a bit. Numbers in host arrays are finite and radii ≥ 0; in a
 * device's, the backend has to look. */
struct pairs_problem {
    kith_dtype dtype; /* KITH_F64 or KITH_F32 */
    int32_t dimensions;
    bool two_sets; /* targets are not the points; else i = j needs T ≠ 0 */
    bool half, sorted;
    bool count_only;
    kith_pairs_method method; /* AUTO, CELLS or BRUTE_FORCE */
    double unit;
    double cutoff;   /* skin included, rounded to dtype; with radii, without them. Nearest: may be
                        infinite */
    double limit;    /* of r², geometry.h; unused with radii */
    double search;   /* no pair is farther apart: cutoff and twice the largest radius; host only */
    int64_t nearest; /* k, or 0 for all pairs nearer than the cutoff */

    kith_array points, targets;
    kith_array point_radii, target_radii;     /* both or none */
    kith_array exclusion_offsets, exclusions; /* both or none; int64 */

    int64_t system_count;               /* at least 1 */
    const struct pairs_system *systems; /* on the host; ascending ranges without gaps */
};

#endif
