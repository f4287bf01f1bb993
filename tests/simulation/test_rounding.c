/* Rounding in many steps of integrators of fixed steps: sums of positions and velocities are
 * compensated. */

#include "rounding.h"

static void check(kith_context *context, const char *integrator, kith_dtype precision,
                  int64_t count, int64_t systems)
{
    double expected[3];
    place_after_many_steps(context, integrator, KITH_F64, count, 0, expected);
    const double off =
        rounding_of_many_steps(context, integrator, precision, count, systems, expected);
    assert_true(off <= (precision == KITH_F64 ? 5e-14 : 5e-5));
}

static void test_only_forces_round_in_many_steps(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    int64_t integrators = 0;
    const kith_integrator *list = kith_integrator_list(&integrators);
    for (int64_t k = 0; k < integrators; k++) {
        if (list[k].adaptive || list[k].central)
            continue;
        check(context, list[k].name, KITH_F64, 3, 2);
        check(context, list[k].name, KITH_F64, 9, 2);
        check(context, list[k].name, KITH_F32, 2, 3);
        check(context, list[k].name, KITH_F32, 18, 0);
    }
    kith_context_free(context);
}

static void test_energies_of_an_ensemble_err_by_the_root_of_time(void **state)
{
    (void)state;
    kith_context *context = cpu_context(0);
    double rms[3];
    rms_by_decades(context, 64, 3, rms);
    const double exponent = log10(rms[2] / rms[0]) / 2;
    print_message("exponent %.3g\n", exponent);
    assert_true(rms[2] < 4e-15);
    assert_true(exponent <= 0.6);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_forces_round_in_many_steps),
        cmocka_unit_test(test_energies_of_an_ensemble_err_by_the_root_of_time),
    };
    return cmocka_run_group_tests_name("rounding", tests, NULL, NULL);
}
