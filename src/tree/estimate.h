#ifndef TREE_ESTIMATE_H
#define TREE_ESTIMATE_H

/* The error of a solution, estimated from a few of its targets, whose gradients are summed
 * directly: twelve times the rms of |Δ∇φ_i| / max(|∇φ_i|, 0.1 Σ_j |∇φ_ij|) of all targets that the
 * samples stand for. Twelve times, as the few targets with the largest errors may be missing: the
 * rms of samples is seldom below a thirtieth of that of all targets, or above 6 times it.
 *
 * Of targets in large leaves there are few, and these often have the largest errors. Samples are
 * therefore stratified by the Morton levels of the targets' leaves: as many of each level as of the
 * others, or all where there are fewer. On the CPU, targets that no far cell acts on, whose errors
 * are those of rounding alone, are a stratum of their own. */

#include <math.h>

#include "tree/acceptance.h"
#include "tree/octree.h"
#include "tree/samples.h"

/* By 1/s and the logarithm fewer, so that the estimate takes 1 to 6 % of a call. */
enum { tree_samples_of_inverse = 64 };

KITH_BOTH_SIDES static inline int32_t tree_samples_for(enum expansion_law law)
{
    return law == expansion_series ? (int32_t)tree_samples : (int32_t)tree_samples_of_inverse;
}

/* How many samples each stratum has: its samples come after first_of others. Stratum 0 has the
 * targets without far cells, on the CPU, 1 + level the others. */
struct tree_sampling {
    int64_t targets_of[tree_strata];
    int32_t samples_of[tree_strata], first_of[tree_strata];
    int64_t targets;
    int32_t samples;
};

/* At most this many samples. The strata with the fewest targets are served first, so that others
 * have what they leave. */
KITH_BOTH_SIDES static inline void tree_make_sampling(const unsigned long long count[tree_strata],
                                                      int32_t samples,
                                                      struct tree_sampling *sampling)
{
    int32_t stratum[tree_strata] = {0}, strata = 0;
    sampling->targets = 0;
    sampling->samples = 0;
    for (int32_t k = 0; k < tree_strata; k++) {
        int32_t place = strata;
        sampling->targets_of[k] = (int64_t)count[k];
        sampling->samples_of[k] = sampling->first_of[k] = 0;
        sampling->targets += (int64_t)count[k];
        if (count[k] == 0)
            continue;
        for (; place > 0 && count[stratum[place - 1]] > count[k]; place--)
            stratum[place] = stratum[place - 1];
        stratum[place] = k;
        strata++;
    }
    for (int32_t j = 0; j < strata; j++) {
        const int32_t k = stratum[j], share = (samples - sampling->samples) / (strata - j);
        sampling->samples_of[k] = (int64_t)count[k] < share ? (int32_t)count[k] : share;
        sampling->first_of[k] = sampling->samples;
        sampling->samples += sampling->samples_of[k];
    }
}

/* Target of sample k of the `samples` of a stratum, at equal steps. */
KITH_BOTH_SIDES static inline int64_t tree_sample(int64_t k, int64_t samples, int64_t targets)
{
    return (2 * k + 1) * targets / (2 * samples);
}

/* The stratum of a sample. */
KITH_BOTH_SIDES static inline int32_t tree_stratum_of(const struct tree_sampling *sampling,
                                                      int32_t sample)
{
    int32_t k = 0;
    while (sample - sampling->first_of[k] < 0 ||
           sample - sampling->first_of[k] >= sampling->samples_of[k])
        k++;
    return k;
}

/* The targets that a sample stands for. */
KITH_BOTH_SIDES static inline double tree_part(const struct tree_sampling *sampling, int32_t sample)
{
    const int32_t k = tree_stratum_of(sampling, sample);
    return (double)sampling->targets_of[k] / (double)sampling->samples_of[k];
}

/* (|Δ∇φ| / max(|∇φ|, scale))²; or |Δ∇φ|², where the scale is so small that in this precision
 * contributions to the field are 0. */
KITH_BOTH_SIDES static inline double tree_error2(kith_dtype dtype, const double found[3],
                                                 const double exact[3], double scale)
{
    double wrong2 = 0, exact2 = 0;
    for (int32_t c = 0; c < 3; c++) {
        wrong2 += (found[c] - exact[c]) * (found[c] - exact[c]);
        exact2 += exact[c] * exact[c];
    }
    const double scale2 = exact2 > scale * scale ? exact2 : scale * scale;
    return scale2 > (dtype == KITH_F32 ? 1e-60 : 0) ? wrong2 / scale2 : wrong2;
}

/* Of the sum over all targets, as far as samples stand for them. */
KITH_BOTH_SIDES static inline double tree_estimate(double sum_of_errors2, int64_t targets)
{
    return 12 * sqrt(sum_of_errors2 / (double)(targets > 0 ? targets : 1));
}

#endif
