#ifndef LAW_SERIES_H
#define LAW_SERIES_H

#include "law/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The Taylor series in s² of V of a central law, for weights of 1, about several points:
 *
 *     V((1 + t) s²) = Σ_k coefficients[k] t^k
 *
 * by the arithmetic of truncated series on the operations of the law's formula (Griewank & Walther
 * 2008, §13). Where the formula branches (?:, fmin, floor, …) the series is that of the branch at
 * the point.
 *
 *   count         points
 *   s2            their s² > 0
 *   terms         coefficients of a point, ≥ 1
 *   coefficients  [out] count × terms; not finite where V or a derivative is not
 *
 * Errors: KITH_OUT_OF_MEMORY.
 * Cost:   terms² multiply-adds for each operation of the formula and each point. */
kith_status law_series(const struct law_view *view, int64_t count, const double *s2, int32_t terms,
                       double *coefficients);

#ifdef __cplusplus
}
#endif

#endif
