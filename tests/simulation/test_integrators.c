#include "simulating.h"

static double error_after(kith_context *context, const char *integrator, int64_t steps)
{
    const double eccentricity = 0.5, until = 3;
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = eccentricity});
    kith_simulation *simulation =
        simulated(context, bodies,
                  (kith_simulation_options){.dt = until / (double)steps, .integrator = integrator});
    assert_ok(kith_simulation_run(simulation, until));
    kith_bodies *end = state_of(simulation, bodies);
    const double error = kepler_error(end, eccentricity, until);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_bodies_free(end);
    return error;
}

/* Small enough a step for the leading term of the error, and an error still far above rounding. */
static int64_t steps_for_order(int32_t order)
{
    const int64_t steps[] = {0, 1600, 1600, 3200, 800, 0, 100, 0, 32};
    return steps[order];
}

static void test_each_integrator_has_the_order_it_states(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    assert_int_equal(count, 16);
    for (int64_t k = 0; k < count; k++) {
        if (integrators[k].adaptive || integrators[k].central)
            continue;
        const int64_t steps = steps_for_order(integrators[k].order);
        const double coarse = error_after(context, integrators[k].name, steps);
        const double fine = error_after(context, integrators[k].name, 2 * steps);
        const double slope = log2(coarse / fine);
        print_message("%-17s order %d: slope %.3f, error %.2g with %lld steps\n",
                      integrators[k].name, (int)integrators[k].order, slope, fine,
                      2 * (long long)steps);
        if (!(fabs(slope - integrators[k].order) < 0.2))
            fail_msg("%s: the slope is %g", integrators[k].name, slope);
    }
    kith_context_free(context);
}

static void test_each_integrator_evaluates_forces_as_often_as_it_states(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++) {
        if (integrators[k].adaptive)
            continue;
        kith_simulation *simulation =
            simulated(context, bodies,
                      (kith_simulation_options){.dt = 0.01, .integrator = integrators[k].name});
        kith_checkpoint before = {0}, after = {0};
        assert_ok(kith_simulation_save(simulation, &before));
        assert_ok(kith_simulation_step(simulation, 10));
        assert_ok(kith_simulation_save(simulation, &after));
        assert_int_equal(after.evaluations - before.evaluations, 10 * integrators[k].evaluations);
        kith_checkpoint_free(&before);
        kith_checkpoint_free(&after);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_the_table_names_and_describes_each_integrator_once(void **state)
{
    (void)state;
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++) {
        assert_true(strlen(integrators[k].description) > 10);
        for (int64_t other = 0; other < k; other++)
            assert_string_not_equal(integrators[k].name, integrators[other].name);
    }
}

/* The largest |E − E_0| / |E_0| over the first tenth and over the last tenth of 200 orbits. */
static void energy_errors(kith_context *context, const char *integrator, double *first,
                          double *last)
{
    const int64_t samples = 2000, steps = 20;
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.5});
    kith_simulation *simulation =
        simulated(context, bodies,
                  (kith_simulation_options){.dt = 2 * pi * 200 / (double)(samples * steps),
                                            .integrator = integrator});
    const double start = diagnosed(simulation).total_energy;
    *first = *last = 0;
    for (int64_t k = 0; k < samples; k++) {
        assert_ok(kith_simulation_step(simulation, steps));
        const double error = fabs(diagnosed(simulation).total_energy / start - 1);
        if (k < samples / 10)
            *first = worse_of(*first, error);
        if (k >= samples - samples / 10)
            *last = worse_of(*last, error);
    }
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
}

static void test_the_energy_error_of_symplectic_integrators_does_not_grow(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++) {
        double first, last;
        if (!integrators[k].symplectic || integrators[k].central)
            continue; /* test_whfast.c */
        energy_errors(context, integrators[k].name, &first, &last);
        if (!(last < 1.5 * first))
            fail_msg("%s: energy error %g in the first tenth, %g in the last", integrators[k].name,
                     first, last);
    }
    kith_context_free(context);
}

static void test_the_energy_error_of_runge_kutta_grows_with_time(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    double first, last;
    energy_errors(context, "rk4", &first, &last);
    assert_true(last > 5 * first);
    kith_context_free(context);
}

/* Symmetric compositions undo themselves: forwards, then backwards with −dt. */
static void test_symmetric_integrators_return_to_the_start_when_run_backwards(void **state)
{
    (void)state;
    const char *const symmetric[] = {"leapfrog", "leapfrog-dkd", "forest-ruth", "yoshida4",
                                     "yoshida6", "yoshida8",     "mclachlan4",  "pefrl"};
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    for (size_t k = 0; k < sizeof symmetric / sizeof symmetric[0]; k++) {
        kith_simulation *simulation =
            simulated(context, bodies,
                      (kith_simulation_options){.dt = 200,
                                                .integrator = symmetric[k],
                                                .forces.gravitational_constant = g_of_gauss});
        assert_ok(kith_simulation_step(simulation, 500));
        kith_bodies *there = state_of(simulation, bodies);
        for (int step = 0; step < 500; step++)
            assert_ok(kith_simulation_step_by(simulation, -200));
        kith_bodies *back = state_of(simulation, bodies);
        assert_true(distance_of_states(there, bodies) > 1);
        if (!(distance_of_states(back, bodies) < 1e-10))
            fail_msg("%s: %g from the start", symmetric[k], distance_of_states(back, bodies));
        assert_true(fabs(kith_simulation_time(simulation)) == 0);
        kith_bodies_free(there);
        kith_bodies_free(back);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_leapfrog_is_the_default(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.3});
    kith_simulation *unnamed = simulated(context, bodies, (kith_simulation_options){.dt = 0.01});
    kith_simulation *named =
        simulated(context, bodies, (kith_simulation_options){.dt = 0.01, .integrator = "leapfrog"});
    assert_ok(kith_simulation_step(unnamed, 100));
    assert_ok(kith_simulation_step(named, 100));
    kith_bodies *a = state_of(unnamed, bodies), *b = state_of(named, bodies);
    assert_same_state(a, b);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(unnamed);
    kith_simulation_free(named);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_integrator_has_the_order_it_states),
        cmocka_unit_test(test_each_integrator_evaluates_forces_as_often_as_it_states),
        cmocka_unit_test(test_the_table_names_and_describes_each_integrator_once),
        cmocka_unit_test(test_the_energy_error_of_symplectic_integrators_does_not_grow),
        cmocka_unit_test(test_the_energy_error_of_runge_kutta_grows_with_time),
        cmocka_unit_test(test_symmetric_integrators_return_to_the_start_when_run_backwards),
        cmocka_unit_test(test_leapfrog_is_the_default),
    };
    return cmocka_run_group_tests_name("integrators", tests, NULL, NULL);
}
