#ifndef FORCES_EXCLUDED_H
#define FORCES_EXCLUDED_H

/* Pairs that do not interact within a cutoff: each at its nearest image, as in ewald and pme.
 * Kernels never evaluate them, so that the huge force of two bonded particles does not affect the
 * digits of the others. */

#include "core/status.h"
#include "forces/cutoff_kernel.h"
#include "forces/problem.h"

/* A particle that is left out of the sum of another, at the image with x_j − x_i + image · cell,
 * both wrapped. */
struct excluded_image {
    int32_t slot, image[3];
};

/* Those of particle k are entries[begin[k]] … entries[begin[k + 1] − 1]. */
struct excluded {
    int64_t *begin; /* NULL without exclusions */
    struct excluded_image *entries;
};

/* Candidates that were gathered together: slots first … first + count − 1 at one image. */
struct excluded_run {
    int32_t image[3];
    int64_t first, count, at; /* at: of the first among the candidates */
};

int64_t excluded_count(const struct forces_problem *problem);

/* Row 0 or 1 of pair k of such an array. */
static inline int64_t excluded_row(kith_array exclusions, int64_t k, int c)
{
    return (
        (const int64_t *)exclusions.data)[k * exclusions.strides[0] + c * exclusions.strides[1]];
}

/* Of a slice: of any rank. */
bool excluded_any(const struct forces_problem *problem);

/* The rows of an array of pairs, in memory that is freed with free(copy->data); NULL for no pairs.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status excluded_copy(kith_array exclusions, kith_array *copy);

/* The same of those with a row from `first` to end − 1. */
kith_status excluded_copy_own(kith_array exclusions, int64_t first, int64_t end, kith_array *copy);

/* Errors: KITH_INVALID_ARGUMENT: there are excluded pairs, but the solver sums all pairs of open
 * space. */
kith_status excluded_check(kith_array exclusions, const struct kith_solver *solver, double cutoff);

/* Errors: KITH_INVALID_ARGUMENT (a row that is not two different ones of `count` particles). */
kith_status excluded_check_pairs(kith_array exclusions, int64_t count);

/* The same of the particles of a problem. Errors: also KITH_UNSUPPORTED (targets of their own). */
kith_status excluded_check_rows(const struct forces_problem *problem);

/* Finds the images.
 *
 *   order     the row of a slot; NULL: slots are rows
 *   excluded  [out] free with excluded_free
 *
 * Errors: KITH_INVALID_ARGUMENT (rows that are not there), KITH_UNSUPPORTED (targets of their own),
 *         KITH_OUT_OF_MEMORY. */
kith_status excluded_find(const struct forces_problem *problem, const uint32_t *order,
                          struct excluded *excluded);
void excluded_free(struct excluded *excluded);

/* Whether j is left out of the sum of i at an image. */
bool excluded_has(const struct excluded *excluded, int64_t i, int64_t j, const int32_t image[3]);

/* Calls the kernel as usual, but without the excluded candidates of each target. */
void excluded_sum(const struct excluded *excluded, cutoff_kernel *kernel,
                  const struct cutoff_problem *problem, kith_dtype dtype,
                  const struct cutoff_candidates *candidates, const struct excluded_run *runs,
                  int64_t run_count, int64_t begin, int64_t end, double *totals);

#endif
