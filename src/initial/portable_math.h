#ifndef INITIAL_PORTABLE_MATH_H
#define INITIAL_PORTABLE_MATH_H

#include <math.h>

/* The cube root of x > 0, the same bits on every machine, within 1e-15 of it, relative.
 *
 * x = m·8^k with 1/8 ≤ m < 1; a parabola through the cube root there is right to 3 %, and each of
 * Newton's steps squares the error, so that four leave nothing but rounding. */
static inline double portable_cbrt(double x)
{
    int exponent = 0;
    double m = frexp(x, &exponent);
    int thirds = exponent / 3;
    int rest = exponent % 3;
    if (rest > 0) {
        thirds++;
        rest -= 3;
    }
    m = ldexp(m, rest);
    double y = 0.4 + m * (0.95 - 0.35 * m);
    for (int step = 0; step < 4; step++)
        y -= (y - m / (y * y)) * (1.0 / 3.0);
    return ldexp(y, thirds);
}

#endif
