/* Kepler's equation, at every eccentricity and mean anomaly. */
#include "testing.h"

#include "testing_initial.h"

#include "random_numbers.h"

/* E − sin E, or sinh H − H for sign 1, in long double without cancellation. */
static long double tail(long double x, int sign)
{
    if (fabsl(x) > 2)
        return sign < 0 ? x - sinl(x) : sinhl(x) - x;
    long double term = x, sum = 0;
    for (int k = 1; k < 20; k++) {
        term *= sign * x * x / ((2 * k) * (2 * k + 1));
        sum += sign * term;
    }
    return sum;
}

/* The residual of Kepler's equation over M, and over what the rounding of a large H makes of it. */
static double relative_residual(double e, double M)
{
    double anomaly = NAN;
    assert_ok(kith_kepler_solve(e, M, &anomaly));
    const int sign = e < 1 ? -1 : 1;
    const long double first = sign * ((long double)e - 1) * (long double)anomaly;
    const long double residual = first + e * tail(anomaly, sign) - (long double)M;
    const double rounding = e > 1 ? fmax(1, fabs(anomaly) / 3) : 1;
    return (double)fabsl(residual / (long double)M) / rounding;
}

static const double eccentricities[] = {
    0,         1e-300,      1e-10,       0.01,      0.0999999, 0.1,      0.3,      0.5,
    0.7,       0.9,         0.97,        0.99,      0.999,     0.9999,   0.999999, 1 - 1e-9,
    1 - 1e-15, 1 - 0x1p-53, 1 + 0x1p-52, 1 + 1e-15, 1 + 1e-9,  1.000001, 1.0001,   1.01,
    1.3,       2,           5,           30,        1e5,       1e15};
enum { count_of_eccentricities = sizeof eccentricities / sizeof eccentricities[0] };

static void test_keplers_equation_is_solved_to_rounding_at_every_e_and_m(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("kepler");
    double worst = 0;
    for (int k = 0; k < count_of_eccentricities; k++)
        for (int sample = 0; sample < 4000; sample++) {
            const double e = eccentricities[k];
            const double M = sample % 2 ? pow(10, random_uniform(&numbers, -18, e < 1 ? 0.5 : 15))
                                        : random_uniform(&numbers, 1e-3, 3.1415926);
            const double residual = worse_of(relative_residual(e, M), relative_residual(e, -M));
            if (!(residual <= 1e-15))
                fail_msg("e %.17g, M %.17g: residual %g", e, M, residual);
            worst = worse_of(worst, residual);
        }
    print_message("Kepler's equation: largest relative residual %.2g\n", worst);
}

static void test_anomalies_are_on_the_revolution_of_the_mean_anomaly(void **state)
{
    (void)state;
    const double revolution = 2 * acos(-1);
    for (int turn = -3; turn <= 3; turn++)
        for (int k = 0; k < 8; k++) {
            double E = NAN;
            const double M = turn * revolution + k * revolution / 8;
            assert_ok(kith_kepler_solve(0.6, M, &E));
            assert_near(E - 0.6 * sin(E), M, 1e-14, "M", 0);
        }
}

/* The parabola is the limit of both, and has D + D³/3 = M. */
static void test_barkers_equation_is_solved_to_rounding(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("kepler");
    for (int sample = 0; sample < 20000; sample++) {
        const double M = pow(10, random_uniform(&numbers, -18, 18));
        double D = NAN, minus = NAN;
        assert_ok(kith_kepler_solve(1, M, &D));
        assert_ok(kith_kepler_solve(1, -M, &minus));
        assert_near(D + D * D * D / 3, M, 2e-15 * M, "M of Barker's equation", 0);
        assert_true(minus == -D);
    }
}

static void test_anomalies_at_zero_and_at_apocentre_are_exact(void **state)
{
    (void)state;
    for (int k = 0; k < count_of_eccentricities; k++) {
        double anomaly = NAN;
        assert_ok(kith_kepler_solve(eccentricities[k], 0, &anomaly));
        assert_true(anomaly == 0);
        if (eccentricities[k] >= 1)
            continue;
        assert_ok(kith_kepler_solve(eccentricities[k], acos(-1), &anomaly));
        assert_near(anomaly, acos(-1), 5e-16, "E at apocenter", 0);
    }
}

/* e sinh H = M + H to the largest numbers there are. */
static void test_large_hyperbolic_anomalies_do_not_overflow(void **state)
{
    (void)state;
    const double large[] = {1e17, 1e20, 1e21, 1e22, 1e100, 1e300, 1.7e308};
    for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
        double H = NAN;
        assert_ok(kith_kepler_solve(1.5, large[k], &H));
        assert_near(H, asinh((large[k] + H) / 1.5), 2e-13, "H", 0);
    }
}

static void test_impossible_numbers_are_refused(void **state)
{
    (void)state;
    double E = 0;
    assert_fails(kith_kepler_solve(-0.1, 1, &E), KITH_INVALID_ARGUMENT, "e -0.1");
    assert_fails(kith_kepler_solve(NAN, 1, &E), KITH_INVALID_ARGUMENT, "e");
    assert_fails(kith_kepler_solve(INFINITY, 1, &E), KITH_INVALID_ARGUMENT, "e inf");
    assert_fails(kith_kepler_solve(0.5, INFINITY, &E), KITH_INVALID_ARGUMENT, "M inf");
    assert_fails(kith_kepler_solve(0.5, 1, NULL), KITH_INVALID_ARGUMENT, "anomaly");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keplers_equation_is_solved_to_rounding_at_every_e_and_m),
        cmocka_unit_test(test_anomalies_are_on_the_revolution_of_the_mean_anomaly),
        cmocka_unit_test(test_barkers_equation_is_solved_to_rounding),
        cmocka_unit_test(test_anomalies_at_zero_and_at_apocentre_are_exact),
        cmocka_unit_test(test_large_hyperbolic_anomalies_do_not_overflow),
        cmocka_unit_test(test_impossible_numbers_are_refused),
    };
    return cmocka_run_group_tests_name("kepler", tests, NULL, NULL);
}
