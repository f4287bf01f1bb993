#include "orbits/kepler.h"

#include <float.h>
#include <math.h>

#include "core/arguments.h"
#include "kith/orbits.h"

#define TWO_PI 6.283185307179586476925

/* x³/6 − x⁵/120 + … = x − sin x for sign −1, sinh x − x for sign 1, for |x| < 2. */
static double tail_of_sine(double x, double sign)
{
    const double square = sign * x * x;
    double sum = 1;
    for (int k = 11; k >= 1; k--)
        sum = 1 + square / ((2 * k + 2) * (2 * k + 3)) * sum;
    return x * x * x / 6 * sum;
}

static double minus_sine(double x)
{
    return fabs(x) < 2 ? tail_of_sine(x, -1) : x - sin(x);
}

static double sine_minus(double x)
{
    return fabs(x) < 2 ? tail_of_sine(x, 1) : sinh(x) - x;
}

double kepler_mean_of_ellipse(double e, double one_minus_e, double E)
{
    return one_minus_e * E + e * minus_sine(E);
}

double kepler_mean_of_hyperbola(double e, double e_minus_one, double H)
{
    return e_minus_one * H + e * sine_minus(H);
}

/* The root x ≥ 0 of gap x + e x³/6 = M, which Kepler's equation is for small anomalies; gap is
 * |1 − e|. By Cardano's formula, without its difference of cube roots. */
static double root_of_cubic(double e, double gap, double M)
{
    const double c = 2 * gap / e, d = 3 * M / e;
    const double s = cbrt(d + hypot(d, c * sqrt(c)));
    return s > 0 ? 2 * d / (s * s + c + c / s * (c / s)) : 0;
}

/* A step of fourth order towards the root of f, whose first three derivatives are given (Danby &
 * Burkardt 1983). */
static double step_of(double f, double f1, double f2, double f3)
{
    const double newton = -f / f1;
    const double halley = -f / (f1 + newton * f2 / 2);
    return -f / (f1 + halley * (f2 / 2 + halley * f3 / 6));
}

enum { most_steps = 20 }; /* 4 are enough; rounding may go back and forth */

static int is_rounding(double step, double value)
{
    return fabs(step) <= DBL_EPSILON / 2 * value;
}

double kepler_ellipse(double e, double one_minus_e, double M)
{
    if (M == 0 || e == 0)
        return M;
    double E = e < 0.1 ? M + e * sin(M) : fmin(root_of_cubic(e, one_minus_e, M), TWO_PI / 2);
    for (int k = 0; k < most_steps; k++) {
        const double half = sin(E / 2), f2 = e * sin(E);
        const double f = kepler_mean_of_ellipse(e, one_minus_e, E) - M;
        const double step = step_of(f, one_minus_e + 2 * e * half * half, f2, e * cos(E));
        E = fmax(fmin(E + step, TWO_PI / 2), 0);
        if (is_rounding(step, E))
            break;
    }
    return E;
}

double kepler_hyperbola(double e, double e_minus_one, double M)
{
    const double far = 1e20; /* where H is below the rounding of M */
    if (M == 0)
        return 0;
    if (M / e > far)
        return asinh(M / e);
    const double cubic = root_of_cubic(e, e_minus_one, M); /* sinh H ≥ H + H³/6: not below H, */
    double H = fmin(cubic, asinh((M + cubic) / e));        /* and neither is this */
    for (int k = 0; k < most_steps; k++) {
        const double half = sinh(H / 2), f2 = e * sinh(H);
        const double f = kepler_mean_of_hyperbola(e, e_minus_one, H) - M;
        const double step = step_of(f, e_minus_one + 2 * e * half * half, f2, e * cosh(H));
        H = fmax(H + step, 0);
        if (is_rounding(step, H))
            break;
    }
    return H;
}

/* D³ + 3D = 3M is 4 sinh³ + 3 sinh for D = 2 sinh; a step of Newton's for the rounding of large M.
 */
double kepler_parabola(double M)
{
    const double D = 2 * sinh(asinh(1.5 * M) / 3);
    return D - (D + D * D * D / 3 - M) / (1 + D * D);
}

kith_status kith_kepler_solve(double e, double M, double *anomaly)
{
    KITH_TRY(kith_check_pointer(anomaly, "anomaly"));
    if (!(e >= 0) || isinf(e))
        return kith_fail(KITH_INVALID_ARGUMENT, "e is %g; give an eccentricity of at least 0", e);
    if (!isfinite(M))
        return kith_fail(KITH_INVALID_ARGUMENT, "M is %g; give a finite mean anomaly", M);
    if (e < 1) {
        const double rest = remainder(M, TWO_PI);
        *anomaly = M - rest + copysign(kepler_ellipse(e, 1 - e, fabs(rest)), rest);
    } else if (e > 1) {
        *anomaly = copysign(kepler_hyperbola(e, e - 1, fabs(M)), M);
    } else {
        *anomaly = kepler_parabola(M);
    }
    return KITH_OK;
}
