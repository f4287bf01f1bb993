#ifndef TESTS_KEPLER_DRIFTS_H
#define TESTS_KEPLER_DRIFTS_H

/* The Kepler step of whfast against more digits, for vectors and, where SIMD_SCALAR is defined, for
 * the numbers of a GPU's threads. */

#include "random_numbers.h"
#include "simulating.h"
#include "simulation/whfast_kepler.h"

/* Motion on an orbit that is no parabola, in more digits. */
static inline void move_exactly(const double x[3], const double v[3], double t,
                                long double moved[3])
{
    long double r = 0, v2 = 0, rv = 0;
    for (int c = 0; c < 3; c++) {
        r += (long double)x[c] * x[c];
        v2 += (long double)v[c] * v[c];
        rv += (long double)x[c] * v[c];
    }
    r = sqrtl(r);
    const long double alpha = 2 / r - v2, a = 1 / fabsl(alpha), root = sqrtl(a);
    const long double n = 1 / (a * root), c_start = 1 - r * alpha, s_start = rv / root;
    const long double period = 2 * 3.14159265358979323846264338L;
    const long double wanted = alpha > 0 ? remainderl(n * t, period) : n * t;
    /* E − E_0 = D with D − c sin D + s (1 − cos D) = M − M_0, of a hyperbola c sinh D − D + …,
     * which grows with D. */
    long double low = -1, high = 1, D = 0;
    for (int k = 0; k < 100; k++) {
        const long double s = alpha > 0 ? sinl(D) : sinhl(D);
        const long double half = alpha > 0 ? sinl(D / 2) : sinhl(D / 2);
        const long double turned = 2 * half * half;
        const long double miss = alpha > 0 ? D - c_start * s + s_start * turned - wanted
                                           : c_start * s - D + s_start * turned - wanted;
        if (k == 0) {
            low = high = 0;
            *(wanted < 0 ? &low : &high) = alpha > 0    ? copysignl(period, wanted)
                                           : wanted < 0 ? -50
                                                        : 50;
        } else {
            *(miss > 0 ? &high : &low) = D;
        }
        D = (low + high) / 2;
    }
    const long double s = alpha > 0 ? sinl(D) : sinhl(D);
    const long double half = alpha > 0 ? sinl(D / 2) : sinhl(D / 2);
    const long double f = 1 - a / r * 2 * half * half;
    const long double g = alpha > 0 ? (wanted - D + s) / n : (wanted - s + D) / n;
    for (int c = 0; c < 3; c++)
        moved[c] = f * x[c] + g * v[c];
}

/* How far a Kepler step ends from there, in units of what rounding of its start makes of it: of
 * places, of the time by the relative error of the semi-major axis, and of directions. */
static inline double error_of_a_drift(const kith_orbit *start, double t)
{
    double x[3], v[3], off[3], found[3];
    long double exact[3];
    vdouble q[3], u[3], lost_q[3], lost_u[3];
    assert_ok(kith_orbit_place(1, start, x, v));
    move_exactly(x, v, t, exact);
    for (int c = 0; c < 3; c++) {
        q[c] = simd_all(x[c]);
        u[c] = simd_all(v[c]);
        lost_q[c] = lost_u[c] = simd_all(0.0);
    }
    whfast_kepler(simd_all(1.0), simd_all(t), q, u, lost_q, lost_u);
    for (int c = 0; c < 3; c++) {
        off[c] = (double)(SIMD_LANE(q[c], 0) - exact[c]);
        found[c] = SIMD_LANE(u[c], 0);
    }
    const double r = length_of(x),
                 end[3] = {SIMD_LANE(q[0], 0), SIMD_LANE(q[1], 0), SIMD_LANE(q[2], 0)};
    const double lag = fabs(t) * (1 + 3 * fabs(start->a) / r);
    const double turned = length_of(end) * (1 + r * length_of(v)); /* by the angular momentum's */
    return length_of(off) / (turned + r + length_of(found) * lag);
}

static inline void test_drifts_follow_kepler_to_rounding_at_any_eccentricity(void **state)
{
    (void)state;
    static const double eccentricities[] = {0,     1e-8,   0.1,    0.5,  0.9, 0.99,
                                            0.999, 0.9999, 1.0001, 1.01, 1.5, 10};
    struct random_numbers random = random_numbers_begin(__func__);
    double largest = 0;
    for (size_t k = 0; k < sizeof eccentricities / sizeof *eccentricities; k++)
        for (int n = 0; n < 600; n++) {
            const double e = eccentricities[k];
            const kith_orbit orbit = {.a = e < 1 ? 1 : -1,
                                      .e = e,
                                      .i = random_uniform(&random, 0, 3),
                                      .Omega = random_uniform(&random, 0, 6),
                                      .omega = random_uniform(&random, 0, 6),
                                      .M = random_uniform(&random, -3.1, 3.1)};
            const double longest = e < 1 ? 20 : 3, span = n % 3 == 0   ? 0.3
                                                          : n % 3 == 1 ? 3
                                                                       : longest;
            const double t = random_uniform(&random, -span, span);
            const double error = error_of_a_drift(&orbit, t);
            largest = worse_of(largest, error);
            if (!(error < (e < 1 ? 1e-14 : 1e-13)))
                fail_msg("e = %g, M = %.17g, t = %.17g: off by %g", e, orbit.M, t, error);
        }
    print_message("largest error %.2g\n", largest);
}

#endif
