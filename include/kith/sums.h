#ifndef KITH_SUMS_H
#define KITH_SUMS_H

#include "kith/array.h"
#include "kith/cell.h"
#include "kith/context.h"
#include "kith/law.h"
#include "kith/pairs.h"
#include "kith/particles.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KITH_SUMS_MAX_OUTPUTS 32

/* How the values of a target's pairs are reduced, and the result without pairs. */
typedef enum kith_sums_reduction {
    KITH_SUMS_SUM = 0,  /* Σ f; 0 */
    KITH_SUMS_MIN,      /* the minimum of f; infinity */
    KITH_SUMS_MAX,      /* the maximum of f; −infinity */
    KITH_SUMS_COUNT,    /* number of f that are not 0; 0 */
    KITH_SUMS_LOGSUMEXP /* log Σ exp f, without overflow; −infinity */
} kith_sums_reduction;

typedef enum kith_sums_method {
    KITH_SUMS_AUTO = 0,  /* formulas compiled for vectors, as those of laws (kith/law.h) */
    KITH_SUMS_REFERENCE, /* every pair in double precision, operation by operation; one thread */
} kith_sums_method;

/* A formula with a name. */
typedef struct kith_named_formula {
    const char *name, *formula;
} kith_named_formula;

typedef struct kith_sums_options {
    double cutoff;         /* > 0: pairs at r < cutoff; 0: all pairs */
    const kith_cell *cell; /* NULL: open space. A periodic cell needs a cutoff */
    kith_sums_reduction reduction;
    bool include_self; /* the pair of a particle with itself, at r = 0 */

    /* NULL: kith finds the pairs. Otherwise a full list of the caller, of these targets and
     * sources, with j, and with shifts if the cell is periodic; on the host. Its pairs at r <
     * cutoff are summed, or all if cutoff is 0. */
    const kith_pairs *pairs;

    kith_sums_method method;

    int64_t let_count; /* named formulas, which later ones and the outputs can use */
    const kith_named_formula *lets;
    int64_t parameter_count;
    const kith_law_parameter *parameters;

    int64_t *pair_count; /* [out] number of pairs summed, or NULL */
} kith_sums_options;

/* Sums of pair functions: for each target i and each output k
 *
 *     results[i][k] = Σ_j f_k(i, j)    over j at r < cutoff, at every periodic image
 *
 * or another reduction of the f_k. d = x_j − x_i + S·cell, r = |d|, as kith_pairs_compute evaluates
 * and rounds it: the pairs are those of its full list. i = j is included only at an image S ≠ 0, or
 * with include_self. Without a cutoff j is every source. With a list, its pairs are used, with d
 * from the current positions.
 *
 * f_k is a formula (kith/law.h has the operators and functions, all numbers are real) in
 *
 *     r, r2            distance and its square
 *     dx, dy, dz       the components of d; dz = 0 in two dimensions
 *     NAME_i, NAME_j   column NAME of the target and of the source; m and q are 1 where absent
 *     pi, the parameters, and the lets above it
 *
 * All outputs are computed in one pass; common subexpressions are evaluated once per pair. If a
 * formula is not finite at r = 0 (with columns of 1), pairs at r = 0 are left out of it. A value
 * that is NaN makes its result NaN.
 *
 *   context       where to compute
 *   options       NULL: all pairs, summed
 *   targets       n particles; NULL: the sources
 *   sources       m particles, m × 1 to m × 16, with any named columns. A cell needs 2 or 3
 *                 dimensions, and on a GPU a cutoff or a list too; with more than three, formulas
 *                 are in r and r2, not in dx, dy and dz
 *   output_count  K, 1 to KITH_SUMS_MAX_OUTPUTS
 *   outputs       names (of letters, digits and _) and formulas
 *   results       [out] n × K, of the sources' dtype, any strides; must not overlap an input
 *
 * All arrays have one dtype and are on the host or on the context's device. The targets are the
 * sources also if their positions are absent or the same view of the same memory.
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, devices; cutoff < 0 or not finite, or missing in a
 *         periodic cell; periodic vectors that are linearly dependent; an invalid formula, or one
 *         with an absent column; a number that is not finite in a position or in a column that a
 *         formula uses: the message names the row; a list whose arrays do not match),
 *         KITH_UNSUPPORTED (no C compiler, or on a GPU no NVRTC; more than 2³¹ − 1 particles;
 *         KITH_SUMS_REFERENCE of arrays on a GPU), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 * Cost:   O(n + m + pairs), or n·m; about 100 bytes per particle and 8 per column, which the
 *         context keeps. A set of formulas is compiled at its first use, in about a second, and
 *         kept in the user's cache folder, from which later processes load it in milliseconds.
 * Error:  a few units in the last place of Σ|f|, times the condition of the formula; of a Gaussian
 *         e^{−x} over all pairs in float on a GPU 1e-6 + 3.5e-7 x of each |f|.
 * Bits:   the same on every run and for every number of threads.
 * Source: cell lists: Allen & Tildesley 2017, §5.3.2; k-d trees, of other than two or three
 *         dimensions: Friedman, Bentley & Finkel 1977. */
KITH_API kith_status kith_sums_compute(kith_context *context, const kith_sums_options *options,
                                       const kith_particles *targets, const kith_particles *sources,
                                       int64_t output_count, const kith_named_formula *outputs,
                                       kith_array results);

#ifdef __cplusplus
}
#endif

#endif
