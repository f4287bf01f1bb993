#ifndef FORCES_EXCLUDED_CUDA_H
#define FORCES_EXCLUDED_CUDA_H

#include "core/both_sides.h"
#include "forces/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pairs that do not interact, in the memory of a GPU: the partners of row k are partner[begin[k]] …
 * partner[begin[k + 1] − 1], each pair from both sides. */
struct excluded_cuda {
    const int64_t *begin; /* NULL without exclusions */
    const int32_t *partner;
};

/* Copies the excluded pairs of a problem, unless those of a run are there.
 *
 * Errors: as excluded_check_rows; KITH_OUT_OF_MEMORY. */
kith_status excluded_take_cuda(kith_context *context, const struct forces_problem *problem,
                               struct excluded_cuda *excluded);
void excluded_free_cuda(kith_context *context, struct excluded_cuda *excluded);

/* Whether rows i and j are a pair. Cost: O(partners of i). */
KITH_BOTH_SIDES static inline bool excluded_cuda_has(const struct excluded_cuda *excluded,
                                                     int64_t i, int64_t j)
{
    if (!excluded->begin)
        return false;
    for (int64_t k = excluded->begin[i]; k < excluded->begin[i + 1]; k++)
        if (excluded->partner[k] == j)
            return true;
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
