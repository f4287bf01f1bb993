#ifndef LAW_LAW_MATH_SCALAR_H
#define LAW_LAW_MATH_SCALAR_H

/* The functions of law_body.h for one double: the C library's, for the reference. */

#include <math.h>

#define LAW_INLINE static inline __attribute__((unused))

LAW_INLINE double law_all(double x)
{
    return x;
}

LAW_INLINE double law_fma(double a, double b, double c)
{
    return a * b + c;
}

LAW_INLINE double law_reciprocal(double x)
{
    return 1 / x;
}

LAW_INLINE double law_rsqrt(double x)
{
    return 1 / sqrt(x);
}

LAW_INLINE double law_unless_equal(double a, double b, double value)
{
    return a != b ? value : 0;
}

LAW_INLINE double law_rsqrt3_scaled(double x)
{
    return law_rsqrt(x) * (1 / x);
}

LAW_INLINE double law_rsqrt_or_0_scaled(double x)
{
    return law_unless_equal(x, 0, law_rsqrt(x));
}

#define law_rsqrt3_unscaled(c)     (c)
#define law_rsqrt_or_0_unscaled(c) (c)

#define law_sqrt sqrt
#define law_exp2 exp2
#define law_log  log
#define law_log2 log2

#endif
