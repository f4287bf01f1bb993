#ifndef SUMS_REDUCTION_H
#define SUMS_REDUCTION_H

/* The reductions of one value after the other, in double precision. */

#include <math.h>

#include "kith/sums.h"

/* The state of a reduction. logsumexp is value + log(rest), value the maximum so far. */
struct sums_reduced {
    double value, rest;
};

static inline struct sums_reduced sums_reduced_nothing(kith_sums_reduction reduction)
{
    switch (reduction) {
    case KITH_SUMS_MIN:
        return (struct sums_reduced){(double)INFINITY, 0};
    case KITH_SUMS_MAX:
    case KITH_SUMS_LOGSUMEXP:
        return (struct sums_reduced){-(double)INFINITY, 0};
    default:
        return (struct sums_reduced){0, 0};
    }
}

/* What exponents are taken relative to: a finite number near the maximum. */
static inline double sums_exponent_origin(double greatest)
{
    return isinf(greatest) ? 0 : greatest;
}

/* Joins two results of the same reduction. NaN wins. */
static inline struct sums_reduced sums_reduced_join(kith_sums_reduction reduction,
                                                    struct sums_reduced a, struct sums_reduced b)
{
    switch (reduction) {
    case KITH_SUMS_MIN:
        return b.value < a.value || isnan(b.value) ? b : a;
    case KITH_SUMS_MAX:
        return b.value > a.value || isnan(b.value) ? b : a;
    case KITH_SUMS_LOGSUMEXP: {
        const double greatest = b.value > a.value || isnan(b.value) ? b.value : a.value;
        const double origin = sums_exponent_origin(greatest);
        const double rest_a = a.rest > 0 ? a.rest * exp(a.value - origin) : a.rest;
        const double rest_b = b.rest > 0 ? b.rest * exp(b.value - origin) : b.rest;
        return (struct sums_reduced){greatest, rest_a + rest_b};
    }
    default:
        return (struct sums_reduced){a.value + b.value, 0};
    }
}

/* One value as a result. */
static inline struct sums_reduced sums_reduced_one(kith_sums_reduction reduction, double value)
{
    if (reduction == KITH_SUMS_COUNT)
        return (struct sums_reduced){value != 0 ? 1 : 0, 0};
    return (struct sums_reduced){value, 1};
}

static inline double sums_reduced_result(kith_sums_reduction reduction, struct sums_reduced reduced)
{
    if (reduction != KITH_SUMS_LOGSUMEXP || isinf(reduced.value) || isnan(reduced.value))
        return reduced.value;
    return reduced.value + log(reduced.rest);
}

#endif
