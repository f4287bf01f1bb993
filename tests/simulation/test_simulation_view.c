#include "simulating.h"

#include <string.h>

static kith_array viewed(const kith_simulation *simulation, kith_simulation_column column)
{
    kith_array view;
    assert_ok(kith_simulation_view(simulation, column, &view));
    return view;
}

static double number_of(kith_array view, int64_t i, int64_t k)
{
    const int64_t at = i * view.strides[0] + (view.ndim > 1 ? k * view.strides[1] : 0);
    return view.dtype == KITH_F64 ? ((const double *)view.data)[at]
                                  : (double)((const float *)view.data)[at];
}

static void assert_shows(kith_simulation *simulation, const kith_bodies *like)
{
    kith_bodies *now = state_of(simulation, like);
    const kith_array position = viewed(simulation, KITH_SIMULATION_POSITION);
    const kith_array velocity = viewed(simulation, KITH_SIMULATION_VELOCITY);
    assert_int_equal(position.shape[0], like->count);
    assert_int_equal(position.shape[1], like->dimensions);
    for (int64_t i = 0; i < like->count; i++)
        for (int32_t k = 0; k < like->dimensions; k++) {
            const int64_t at = i * like->dimensions + k;
            assert_true(number_of(position, i, k) == now->position[at]);
            assert_true(number_of(velocity, i, k) == now->velocity[at]);
        }
    kith_bodies_free(now);
}

static void test_a_view_shows_the_state_after_each_step_without_moving(void **state)
{
    (void)state;
    kith_context *context = cpu_context(2);
    kith_bodies *bodies = made("six", (kith_initial_options){0});
    for (int k = 0; k < 2; k++) {
        kith_simulation *simulation = simulated(
            context, bodies,
            (kith_simulation_options){.dt = 1e-3, .precision = k == 0 ? KITH_F64 : KITH_F32});
        const kith_array view = viewed(simulation, KITH_SIMULATION_POSITION);
        const double before = number_of(view, 0, 0);
        for (int step = 0; step < 3; step++) {
            assert_ok(kith_simulation_step(simulation, 5));
            assert_shows(simulation, bodies);
        }
        assert_true(number_of(view, 0, 0) != before);
        assert_ptr_equal(viewed(simulation, KITH_SIMULATION_POSITION).data, view.data);
        const kith_array mass = viewed(simulation, KITH_SIMULATION_MASS);
        assert_int_equal(mass.ndim, 1);
        for (int64_t i = 0; i < bodies->count; i++)
            assert_true(fabs(number_of(mass, i, 0) - bodies->mass[i]) <= 1e-7 * bodies->mass[i]);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_a_view_of_an_ensemble_has_an_axis_of_systems(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("six", (kith_initial_options){0});
    kith_simulation *simulation = NULL;
    const kith_simulation_options options = {.dt = 1e-3};
    assert_ok(kith_simulation_create_ensemble(context, &options, 3, bodies, &simulation));
    const kith_array view = viewed(simulation, KITH_SIMULATION_POSITION);
    assert_int_equal(view.ndim, 3);
    assert_int_equal(view.shape[0], 3);
    assert_int_equal(view.shape[1], bodies->count / 3);
    for (int64_t s = 0, row = 0; s < 3; s++)
        for (int64_t i = 0; i < view.shape[1]; i++, row++)
            for (int32_t k = 0; k < 3; k++) {
                const int64_t at = s * view.strides[0] + i * view.strides[1] + k * view.strides[2];
                assert_true(((const double *)view.data)[at] == bodies->position[3 * row + k]);
            }
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_lengths_in_other_units_cannot_be_viewed(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    for (int64_t k = 0; k < bodies->count * bodies->dimensions; k++)
        bodies->position[k] *= 1e40;
    kith_simulation *simulation = simulated(context, bodies, (kith_simulation_options){.dt = 1e30});
    kith_array view;
    assert_fails(kith_simulation_view(simulation, KITH_SIMULATION_POSITION, &view),
                 KITH_UNSUPPORTED, "instead");
    assert_true(kith_array_is_none(view));
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* What was copied out and set again goes on as if nothing had been done. */
static void test_bodies_set_go_on_as_from_a_start_bit_for_bit(void **state)
{
    (void)state;
    const char *const integrators[] = {"leapfrog", "hermite4", "yoshida4"};
    kith_context *context = cpu_context(2);
    kith_bodies *bodies = made("six", (kith_initial_options){0});
    for (int k = 0; k < 3; k++) {
        const kith_simulation_options options = {.dt = 1.0 / 1024, .integrator = integrators[k]};
        kith_simulation *parts = simulated(context, bodies, options);
        assert_ok(kith_simulation_step(parts, 8));
        kith_bodies *now = state_of(parts, bodies);
        assert_ok(kith_bodies_add_columns(now, KITH_MASS));
        memcpy(now->mass, bodies->mass, sizeof *now->mass * (size_t)now->count);
        kith_simulation *whole = simulated(context, now, options);
        assert_ok(kith_simulation_step(whole, 12));
        assert_ok(kith_simulation_step(parts, 3)); /* is undone */
        assert_ok(kith_simulation_set_bodies(parts, now));
        assert_ok(kith_simulation_step(parts, 12));
        assert_int_equal(kith_simulation_steps(parts), 8 + 3 + 12);
        kith_bodies *a = state_of(whole, bodies), *b = state_of(parts, bodies);
        assert_same_state(a, b);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_bodies_free(now);
        kith_simulation_free(whole);
        kith_simulation_free(parts);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_bodies_set_may_have_other_masses_and_be_at_rest(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_simulation *simulation = simulated(context, bodies, (kith_simulation_options){.dt = 1e-3});
    const double potential = diagnosed(simulation).potential_energy;
    kith_bodies other = *bodies;
    double mass[2] = {3 * bodies->mass[0], bodies->mass[1]};
    other.velocity = NULL;
    other.mass = mass;
    other.time = 7;
    assert_ok(kith_simulation_set_bodies(simulation, &other));
    assert_true(kith_simulation_time(simulation) == 7);
    assert_true(fabs(diagnosed(simulation).potential_energy - 3 * potential) <= 1e-12);
    assert_true(diagnosed(simulation).kinetic_energy == 0);

    other.count = 1;
    assert_fails(kith_simulation_set_bodies(simulation, &other), KITH_INVALID_ARGUMENT,
                 "simulation bodies 1 3 2");
    other.count = 2;
    mass[1] = -1;
    assert_fails(kith_simulation_set_bodies(simulation, &other), KITH_INVALID_ARGUMENT, "body 1");
    assert_true(fabs(diagnosed(simulation).potential_energy - 3 * potential) <= 1e-12);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_view_shows_the_state_after_each_step_without_moving),
        cmocka_unit_test(test_a_view_of_an_ensemble_has_an_axis_of_systems),
        cmocka_unit_test(test_lengths_in_other_units_cannot_be_viewed),
        cmocka_unit_test(test_bodies_set_go_on_as_from_a_start_bit_for_bit),
        cmocka_unit_test(test_bodies_set_may_have_other_masses_and_be_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
