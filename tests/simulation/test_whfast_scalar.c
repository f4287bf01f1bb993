/* The Kepler step of whfast as the threads of a GPU have it, compiled for the host. */

#define SIMD_SCALAR

#include "kepler_drifts.h"

static void test_roots_and_quotients_are_rounded_correctly(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    for (int k = 0; k < 1000000; k++) {
        const double x = exp(random_uniform(&random, -200, 200));
        const double a = exp(random_uniform(&random, -200, 200));
        double inverse;
        assert_true(simd_roots(x, &inverse) == sqrt(x));
        assert_true(inverse == 1 / sqrt(x));
        assert_true(simd_quotient(a, x) == a / x);
        assert_true(fabs(simd_rough_reciprocal(x) * x - 1) < 0x1p-37);
    }
}

/* Steps of a twentieth of an orbit need no second try. */
static void test_usual_steps_are_solved_at_once(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    int64_t rest = 0, count = 100000;
    for (int64_t k = 0; k < count; k++) {
        const kith_orbit orbit = {.a = 1,
                                  .e = random_uniform(&random, 0, 0.25),
                                  .omega = random_uniform(&random, 0, 6),
                                  .M = random_uniform(&random, 0, 6.28)};
        double x[3], v[3];
        assert_ok(kith_orbit_place(1, &orbit, x, v));
        const struct whfast_start start = whfast_begin(1, 2 * pi / 20, x, v);
        struct whfast_functions at;
        double g0, d;
        rest += whfast_try(&start, &at, &g0, &d) == 0;
    }
    print_message("%lld of %lld\n", (long long)rest, (long long)count);
    assert_true(rest == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_and_quotients_are_rounded_correctly),
        cmocka_unit_test(test_usual_steps_are_solved_at_once),
        cmocka_unit_test(test_drifts_follow_kepler_to_rounding_at_any_eccentricity),
    };
    return cmocka_run_group_tests_name("whfast_scalar", tests, NULL, NULL);
}
