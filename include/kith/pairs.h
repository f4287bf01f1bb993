#ifndef KITH_PAIRS_H
#define KITH_PAIRS_H

#include "kith/array.h"
#include "kith/cell.h"
#include "kith/context.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to list for each pair; flags. */
typedef enum kith_pairs_quantity {
    KITH_PAIRS_I = 1,          /* row of the first point */
    KITH_PAIRS_J = 2,          /* row of the second point */
    KITH_PAIRS_SHIFTS = 4,     /* S, an integer for each cell vector */
    KITH_PAIRS_VECTORS = 8,    /* x_j − x_i + S·cell */
    KITH_PAIRS_DISTANCES = 16, /* the vector's length */
    KITH_PAIRS_COUNTS = 32     /* only the number of pairs of each point */
} kith_pairs_quantity;

typedef enum kith_pairs_method {
    KITH_PAIRS_AUTO = 0,
    KITH_PAIRS_CELLS,       /* points sorted into cells of about the cutoff */
    KITH_PAIRS_BRUTE_FORCE, /* every point with every image of every other; on a GPU as auto */
    KITH_PAIRS_REFERENCE    /* the same, in double precision and plain C; one thread, host arrays */
} kith_pairs_method;

typedef struct kith_pairs_options {
    double cutoff;       /* > 0, or ≥ 0 with radii */
    double skin;         /* ≥ 0, added to the cutoff: see kith_pairs_update */
    unsigned quantities; /* kith_pairs_quantity; 0 means I and J */
    bool half;           /* each pair once: see below */
    bool unsorted;       /* the pairs of one i in any order (the same on every run) */
    bool narrow;         /* i and j as int32 instead of int64 */

    kith_array queries; /* m × D: i is one of these and j one of the positions; none: both are the
                           positions */
    kith_array radii;   /* n: a pair is nearer than cutoff + radius_i + radius_j; none: 0 */
    kith_array query_radii; /* m; both or neither, if there are queries */

    /* Points excluded as partners of i, at any image: exclusions[exclusion_offsets[i]] …
     * exclusions[exclusion_offsets[i + 1] − 1], in any order. Both int64; m + 1 offsets (n + 1
     * without queries). */
    kith_array exclusion_offsets, exclusions;

    /* Many systems in one call: system s has the rows offsets[s] … offsets[s + 1] − 1 of the
     * positions, and of the queries; int64 on the host, ascending from 0 to n (m). Absent: one
     * system. There are no pairs between systems. */
    kith_array system_offsets, query_system_offsets;

    int64_t memory_limit; /* maximum bytes of a list; 0: the available memory */
    kith_pairs_method method;
} kith_pairs_options;

/* A list of pairs, by rows: the pairs of i have the indices offsets[i] … offsets[i + 1] − 1.
 *
 * Arrays are on the device of the positions; those not requested are absent. The list owns them;
 * they are valid until its next use by kith. */
typedef struct kith_pairs {
    int64_t row_count;                /* n, or the number of queries */
    int64_t count;                    /* pairs */
    kith_array offsets;               /* row_count + 1, int64 */
    kith_array i, j;                  /* count, int64 or int32 */
    kith_array shifts;                /* count × D, int32 */
    kith_array vectors;               /* count × D, in the dtype of the positions */
    kith_array distances;             /* count */
    struct kith_pairs_memory *memory; /* internal */
} kith_pairs;

/* Pairs of points nearer to each other than a cutoff.
 *
 *     |x_j − x_i + S·cell| < cutoff,    S·cell = Σ_k S_k vectors[k],  S_k = 0 where not periodic
 *
 * strictly, for every i, j and S; i = j only with S ≠ 0. Different points at the same position are
 * a pair. Positions may lie outside the cell; S belongs to the positions as given (the convention
 * of vesin). If the cutoff is larger than the cell, several images of a point, and images of i
 * itself, are listed.
 *
 * The full list has (i, j, S) and (j, i, −S). The half list has the one with i < j, or with i = j
 * and the first nonzero component of S positive. Pairs are sorted by i, then j, then S (its first
 * component first).
 *
 * The criterion is evaluated in the positions' dtype, with each operation rounded and none fused,
 * and with the cutoff rounded to it: listed distances are less than that, and CPU and GPU list the
 * same pairs. With radii it is r² < (radius_i + radius_j + cutoff)².
 *
 *   context    where to compute
 *   options    not NULL: a cutoff must be given
 *   positions  n × 1 to n × 16, float or double, any strides, host or device; radii, queries and
 *              exclusions are on the same device, radii and queries of the same dtype. Shapes other
 *              than n × 2 and n × 3 only in open space and on the host, with r² summed from the
 *              first coordinate to the last
 *   cell       one for each system; NULL for open space
 *   pairs      [in, out] NULL: a new list, owned by the caller; free with kith_pairs_free.
 *              Otherwise the list's memory is reused. Unchanged or empty on failure. A kith_pairs
 *              made by the caller is not a list
 *
 * Errors: KITH_INVALID_ARGUMENT (cutoff not positive or not finite; shapes, dtypes, devices;
 *         periodic vectors that are linearly dependent; a number that is not finite, or a point
 *         more than 2³⁰ cells away: the message names the row), KITH_OUT_OF_MEMORY (the list needs
 *         more than memory_limit, than kith_memory_available (kith/build.h) or than a GPU has free;
 *         the message states the number of pairs; on the host nothing is allocated before),
 *         KITH_UNSUPPORTED (more than 2³¹ − 1 points, points of other than 2 or 3 dimensions on a
 *         GPU), KITH_CANCELLED.
 * Cost:   O(n + pairs), with 1 or more than 3 dimensions O(n log n) at best and up to O(n²) as
 *         dimensions grow; 8 (n + 1) bytes and 16 bytes per pair (8 if narrow), 4 D more for
 *         shifts, D + 1 reals more for vectors and distances; about 80 n bytes for the search,
 *         which the list keeps. Empty space and distant points cost no memory. A second call with
 *         the same list, context and sizes allocates nothing.
 * Bits:   the same on every run and for every number of threads.
 * Source: cell lists: Allen & Tildesley 2017, §5.3.2; k-d trees, for other than 2 or 3 dimensions:
 *         Friedman, Bentley & Finkel 1977. */
KITH_API kith_status kith_pairs_compute(kith_context *context, const kith_pairs_options *options,
                                        kith_array positions, const kith_cell *cell,
                                        kith_pairs **pairs);

/* As kith_pairs_compute, but keeps the list as long as it includes all pairs within the cutoff: a
 * list is made with cutoff + skin, and rebuilt only after a point has moved by more than skin/2
 * since then, or if the number of points, the cell or the options have changed (Verlet 1967). The
 * list thus has pairs at distances up to cutoff + skin, and later at larger ones. Vectors and
 * distances of a kept list are updated (and unspecified if that is cancelled); exclusions and radii
 * are assumed to be the same.
 *
 *   rebuilt  [out] whether the list was rebuilt; may be NULL
 *
 * Cost: O(n) for a kept list, O(pairs) if it has vectors or distances; memory of D n reals. */
KITH_API kith_status kith_pairs_update(kith_context *context, const kith_pairs_options *options,
                                       kith_array positions, const kith_cell *cell,
                                       kith_pairs **pairs, bool *rebuilt);

/* The k nearest points of every point, by distance, then j, then S.
 *
 * As kith_pairs_compute, except that a row has its first k pairs only, in that order, or fewer if
 * there are fewer. A cutoff of 0 means no cutoff; half, skin, radii and exclusions must not be
 * given. In a periodic cell images count as separate points, including those of i. Distances are
 * compared as listed, after rounding.
 *
 * Errors: as kith_pairs_compute. KITH_INVALID_ARGUMENT also if points of 1 or more than 3
 *         dimensions, without a cutoff, have coordinates above half of the largest number of their
 *         dtype. KITH_UNSUPPORTED also if points are so far apart along open axes, and the periodic
 *         cell is so small, that more than 2^30 images may be as near as the k-th point. */
KITH_API kith_status kith_pairs_nearest(kith_context *context, const kith_pairs_options *options,
                                        kith_array positions, const kith_cell *cell, int64_t k,
                                        kith_pairs **pairs);

/* Frees a list, before its context; NULL is fine, and a struct of zeros is ignored. */
KITH_API void kith_pairs_free(kith_pairs *pairs);

#ifdef __cplusplus
}
#endif

#endif
