#ifndef TREE_LAW_BINS_H
#define TREE_LAW_BINS_H

/* A law other than 1/s and ln s as trees use it: Taylor series by bins of the distance, for the
 * expansions, and how fast they converge, for the acceptance of cells.
 *
 * With V(s) the value of a pair of weights 1, and w = r²/s², the potential at distance r (1 + τ) of
 * the direction μ is V((1 + w (2 μ τ + τ²)) s²) = Σ_n τ^n T_n(μ); for 1/s without softening T_n is
 * Legendre's P_n(μ) / r. What an expansion of order p of points within u r leaves out of the
 * potential of one of them is at most about u^{p + 1} A(u), with T_n the largest for all μ and
 *
 *     A(u) = Σ_{n > p} T_n u^{n − p − 1}
 *
 * Terms past those that are computed are bounded by what they are together toward the source. */

#include "tree/acceptance.h"
#include "tree/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tree_law_bins {
    struct expansion_bins bins;
    struct tree_decay decay;
    double *series; /* the rows of bins, in double */
    float *narrow;  /* the same, in single precision; or NULL */
    double *noise;  /* how wrong each series is at its ends */
    struct tree_decay_row *rows;
};

/* Makes the bins of a problem of distances up to `extent`.
 *
 *   bins  zeroed; free with tree_law_bins_free, after an error too
 *
 * Errors: KITH_UNSUPPORTED: the series do not converge at some distance, because V is not smooth
 *         there, or oscillates; KITH_OUT_OF_MEMORY.
 * Cost:   about two milliseconds. */
kith_status tree_law_bins_create(const struct tree_problem *problem, int32_t order, double extent,
                                 struct tree_law_bins *bins);
void tree_law_bins_free(struct tree_law_bins *bins);

/* Σ_k row[k] t^k, and its derivative. */
KITH_BOTH_SIDES static inline double tree_sum_of_series(const double *row, int32_t terms, double t,
                                                        double *slope)
{
    double sum = 0, derivative = 0;
    for (int32_t k = terms - 1; k >= 0; k--) {
        derivative = derivative * t + sum;
        sum = sum * t + row[k];
    }
    *slope = derivative;
    return sum;
}

/* V and (dV/ds)/s; outside of the bins those of the nearest. */
KITH_BOTH_SIDES static inline void tree_law_at(const struct tree_law_bins *bins, double s2,
                                               double *value, double *factor)
{
    const struct expansion_bins *all = &bins->bins;
    const double place = s2 * all->per_unit * all->per_unit;
    int64_t bin = expansion_bin_of(place) - all->first_double;
    const bool is_inside = bin >= 0 && bin < all->count;
    bin = bin < 0 ? 0 : bin < all->count ? bin : all->count - 1;
    const double middle = expansion_middle_of(all->first_double + bin);
    double slope;
    *value = tree_sum_of_series(bins->series + bin * all->terms, all->terms,
                                is_inside ? (place - middle) / middle : 0, &slope);
    *factor = 2 * slope * all->per_unit * all->per_unit / middle;
}

#ifdef __cplusplus
}
#endif

#endif
