#include "forces_system.h"
#include "simulating.h"

static void assert_refused(const kith_bodies *bodies, kith_simulation_options options,
                           const char *words)
{
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = (kith_simulation *)&context;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, words);
    assert_null(simulation);
    kith_context_free(context);
}

static void test_a_simulation_refuses_what_it_cannot_take(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    assert_refused(bodies, (kith_simulation_options){.dt = 0}, "dt 0");
    assert_refused(bodies, (kith_simulation_options){.dt = -0.5}, "dt -0.5");
    assert_refused(bodies, (kith_simulation_options){.dt = (double)NAN}, "dt");
    assert_refused(bodies, (kith_simulation_options){.dt = (double)INFINITY}, "dt inf inf");
    assert_refused(bodies, (kith_simulation_options){.dt = 1, .forces.softening = -2},
                   "softening -2 0");
    assert_refused(bodies, (kith_simulation_options){.dt = 1, .forces.softening = (double)NAN},
                   "softening");
    assert_refused(
        bodies,
        (kith_simulation_options){.dt = 1, .forces.gravitational_constant = (double)INFINITY},
        "inf");
    assert_refused(bodies, (kith_simulation_options){.dt = 1, .precision = KITH_I64}, "precision");
    assert_refused(bodies, (kith_simulation_options){.dt = 1, .softening_of_bodies = true},
                   "softening");
    assert_refused(bodies, (kith_simulation_options){.dt = 1, .integrator = "euler"},
                   "integrator 'euler'");
    assert_true(has_fields(kith_error_message(), "rk4 hermite4"));
    kith_bodies_free(bodies);
}

static void test_bodies_in_a_periodic_cell_are_refused(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    const kith_simulation_options options = {.dt = 1};
    kith_simulation *simulation = NULL;
    bodies->has_cell = bodies->periodic[1] = true;
    for (int k = 0; k < 3; k++)
        bodies->cell[4 * k] = 10;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation), KITH_UNSUPPORTED,
                 "periodic");
    assert_null(simulation);
    bodies->periodic[1] = false;
    simulation = simulated(context, bodies, options);
    bodies->periodic[0] = true;
    assert_fails(kith_simulation_set_bodies(simulation, bodies), KITH_UNSUPPORTED, "periodic");
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_a_simulation_refuses_bad_bodies_and_names_the_row(void **state)
{
    (void)state;
    const kith_simulation_options options = {.dt = 1};
    kith_bodies *bodies = made("six", (kith_initial_options){0});
    const double mass = bodies->mass[3];
    bodies->mass[3] = -1;
    assert_refused(bodies, options, "body 3 -1");
    bodies->mass[3] = mass;
    bodies->velocity[14] = (double)INFINITY;
    assert_refused(bodies, options, "body 4 inf");
    bodies->velocity[14] = 0;
    bodies->position[0] = (double)NAN;
    assert_refused(bodies, options, "body 0");
    kith_bodies_free(bodies);

    double position[8] = {0};
    assert_refused(NULL, options, "bodies NULL");
    assert_refused(&(kith_bodies){.count = 2, .dimensions = 4, .position = position}, options,
                   "dimensions 4 2 3");
    assert_refused(&(kith_bodies){.count = -1, .dimensions = 3}, options, "count -1");
    assert_refused(&(kith_bodies){.count = 2, .dimensions = 3}, options, "position NULL");
}

static void test_a_simulation_refuses_to_go_back_or_nowhere(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_simulation *simulation = simulated(context, bodies, (kith_simulation_options){.dt = 0.01});
    assert_ok(kith_simulation_run(simulation, 1));
    assert_fails(kith_simulation_run(simulation, 0.5), KITH_INVALID_ARGUMENT, "until 0.5 1");
    assert_fails(kith_simulation_run(simulation, (double)NAN), KITH_INVALID_ARGUMENT, "until");
    assert_fails(kith_simulation_run(simulation, (double)INFINITY), KITH_INVALID_ARGUMENT,
                 "until inf inf");
    assert_fails(kith_simulation_run(simulation, 1e300), KITH_INVALID_ARGUMENT, "larger");
    assert_fails(kith_simulation_step(simulation, -1), KITH_INVALID_ARGUMENT, "steps -1");
    assert_fails(kith_simulation_step_by(simulation, (double)NAN), KITH_INVALID_ARGUMENT, "step");
    assert_int_equal(kith_simulation_steps(simulation), 100);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_none_and_one_body_are_simulated(void **state)
{
    (void)state;
    kith_context *context = cpu_context(2);
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++)
        for (int64_t n = 0; n < 2; n++) {
            kith_bodies *bodies = NULL;
            assert_ok(kith_bodies_create(n, 3, KITH_VELOCITY, &bodies));
            if (n == 1)
                bodies->velocity[1] = 0.5;
            kith_simulation *simulation =
                simulated(context, bodies,
                          (kith_simulation_options){.dt = 0.25, .integrator = integrators[k].name});
            assert_ok(kith_simulation_run(simulation, 4.125));
            kith_checkpoint checkpoint = {0};
            assert_ok(kith_simulation_save(simulation, &checkpoint));
            assert_ok(kith_simulation_restore(simulation, &checkpoint));
            kith_checkpoint_free(&checkpoint);
            kith_bodies *end = state_of(simulation, bodies);
            assert_true(end->time == 4.125);
            if (n == 1)
                assert_true(fabs(end->position[1] - 4.125 / 2) < 1e-14 && end->position[0] == 0);
            kith_simulation_free(simulation);
            kith_bodies_free(bodies);
            kith_bodies_free(end);
        }
    kith_context_free(context);
}

static void test_bodies_without_velocities_start_at_rest_with_mass_one(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(2, 2, 0, &bodies));
    bodies->position[2] = 1;
    kith_simulation *simulation = simulated(context, bodies, (kith_simulation_options){.dt = 1e-3});
    const kith_diagnostics diagnostics = diagnosed(simulation);
    assert_true(diagnostics.kinetic_energy == 0 && fabs(diagnostics.potential_energy + 1) < 1e-15);
    assert_ok(kith_simulation_step(simulation, 10));
    assert_ok(kith_simulation_get_bodies(simulation, bodies));
    assert_true(bodies->velocity[0] > 0 && bodies->velocity[2] == -bodies->velocity[0]);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_a_plane_of_bodies_moves_alike_in_two_and_three_dimensions(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++) {
        kith_bodies *ends[2];
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            kith_bodies *bodies = made(
                "two-body", (kith_initial_options){.dimensions = dimensions, .eccentricity = 0.4});
            kith_simulation *simulation =
                simulated(context, bodies,
                          (kith_simulation_options){.dt = 0.01, .integrator = integrators[k].name});
            assert_ok(kith_simulation_step(simulation, 200));
            ends[dimensions - 2] = state_of(simulation, bodies);
            kith_simulation_free(simulation);
            kith_bodies_free(bodies);
        }
        for (int i = 0; i < 2; i++) {
            for (int axis = 0; axis < 2; axis++)
                assert_true(fabs(ends[0]->position[2 * i + axis] -
                                 ends[1]->position[3 * i + axis]) < 1e-13);
            assert_true(ends[1]->position[3 * i + 2] == 0);
        }
        kith_bodies_free(ends[0]);
        kith_bodies_free(ends[1]);
    }
    kith_context_free(context);
}

static void test_time_is_a_count_of_steps(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1, 3, 0, &bodies));
    bodies->time = 10;
    kith_simulation *simulation = simulated(context, bodies, (kith_simulation_options){.dt = 0.1});
    assert_true(kith_simulation_time(simulation) == 10);
    assert_ok(kith_simulation_step(simulation, 1000000));
    assert_true(kith_simulation_time(simulation) == 10 + 1000000 * 0.1);
    assert_int_equal(kith_simulation_steps(simulation), 1000000);
    assert_ok(kith_simulation_step_by(simulation, -0.05));
    assert_true(fabs(kith_simulation_time(simulation) - (10 + 1e5 - 0.05)) < 1e-10);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_steps_of_any_length_add_up_to_the_time_exactly(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1, 3, 0, &bodies));
    bodies->time = 1e6;
    kith_simulation *simulation = simulated(context, bodies, (kith_simulation_options){.dt = 0.3});
    kith_checkpoint checkpoint = {0};
    for (int k = 0; k < 30000; k++) {
        assert_ok(kith_simulation_step_by(simulation, 0.1));
        assert_ok(kith_simulation_step(simulation, 2));
        if (k == 20000) {
            assert_ok(kith_simulation_save(simulation, &checkpoint));
            assert_ok(kith_simulation_step_by(simulation, 0.7));
            assert_ok(kith_simulation_restore(simulation, &checkpoint));
        }
    }
    assert_true(kith_simulation_time(simulation) == 1e6 + 21000);
    kith_checkpoint_free(&checkpoint);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_the_last_step_lands_on_until_exactly(void **state)
{
    (void)state;
    const struct {
        double start, until, dt;
        int64_t steps;
    } runs[] = {
        {0, 0, 0.1, 0},          {0, 0.3, 0.1, 3},       {0, 0.7, 0.1, 7},
        {0, 1, 0.3, 4},          {0, 1e-3, 0.3, 1},      {-1, 1, 0.125, 16},
        {0.1, 0.7, 0.1, 6},      {0, 5, 1.0 / 3, 15},    {2451545, 2451545.7, 0.1, 7},
        {0, 1 + 1e-12, 0.1, 10}, {0, 1 + 1e-6, 0.1, 11},
    };
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    for (size_t k = 0; k < sizeof runs / sizeof runs[0]; k++) {
        bodies->time = runs[k].start;
        kith_simulation *simulation =
            simulated(context, bodies, (kith_simulation_options){.dt = runs[k].dt});
        double rest = -1;
        const int64_t whole =
            kith_simulation_whole_steps(runs[k].start, runs[k].until, runs[k].dt, &rest);
        assert_ok(kith_simulation_run(simulation, runs[k].until));
        if (kith_simulation_time(simulation) != runs[k].until)
            fail_msg("run %d: time is %.17g", (int)k, kith_simulation_time(simulation));
        assert_int_equal(kith_simulation_steps(simulation), runs[k].steps);
        assert_int_equal(whole + (rest > 0), runs[k].steps);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_whole_steps_of_long_runs_are_counted_without_rounding(void **state)
{
    (void)state;
    double rest = -1;
    assert_int_equal(kith_simulation_whole_steps(0, 50, 1e-5, &rest), 5000000);
    assert_true(rest == 0);
    assert_int_equal(kith_simulation_whole_steps(0, 1e5, 1e-5, &rest), 10000000000);
    assert_true(rest == 0);
    /* 2451545.3 in binary is 2e-9 of this step too early */
    assert_int_equal(kith_simulation_whole_steps(2451545, 2451545.3, 0.1, &rest), 3);
    assert_true(rest == 0);
    assert_int_equal(kith_simulation_whole_steps(0, 10.25, 1, &rest), 10);
    assert_true(rest == 0.25);
    assert_int_equal(kith_simulation_whole_steps(3, 2, 1, &rest), 0);
    assert_true(rest == 0);
    assert_int_equal(kith_simulation_whole_steps(0, 1e300, 1, &rest), INT64_MAX);
}

static void test_a_short_last_step_ends_where_a_step_of_that_length_would(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.5});
    const kith_simulation_options options = {.dt = 0.01, .integrator = "yoshida8"};
    kith_simulation *simulation = simulated(context, bodies, options);
    assert_ok(kith_simulation_run(simulation, 1.2345));
    kith_bodies *end = state_of(simulation, bodies);
    assert_int_equal(kith_simulation_steps(simulation), 124);
    assert_true(kepler_error(end, 0.5, 1.2345) < 1e-12);
    kith_simulation_free(simulation);
    kith_bodies_free(end);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    const int32_t threads[] = {1, 2, 4, 7};
    const char *const integrators[] = {"leapfrog", "hermite4"};
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 517, .seed = 9});
    for (int k = 0; k < 4; k++) {
        kith_bodies *expected = NULL;
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            kith_context *context = cpu_context(threads[t]);
            kith_simulation *simulation =
                simulated(context, bodies,
                          (kith_simulation_options){.dt = 0.01,
                                                    .forces.softening = 0.01,
                                                    .integrator = integrators[k / 2],
                                                    .precision = k % 2 ? KITH_F32 : KITH_F64});
            assert_ok(kith_simulation_step(simulation, 20));
            kith_bodies *end = state_of(simulation, bodies);
            if (expected) {
                assert_same_state(expected, end);
                kith_bodies_free(end);
            } else {
                expected = end;
            }
            kith_simulation_free(simulation);
            kith_context_free(context);
        }
        kith_bodies_free(expected);
    }
    kith_bodies_free(bodies);
}

static void scale_lengths(kith_bodies *bodies, int power)
{
    for (int64_t k = 0; k < bodies->count * bodies->dimensions; k++) {
        bodies->position[k] = ldexp(bodies->position[k], power);
        bodies->velocity[k] = ldexp(bodies->velocity[k], power);
    }
}

/* Lengths, masses and G may be of any size: in other units by powers of two not one bit changes. */
static void test_units_change_no_bit(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    const int powers[][2] = {{300, 40}, {-300, -60}}; /* of two: length, mass */
    for (int k = 0; k < 4; k++) {
        kith_bodies *bodies = made("six", (kith_initial_options){.seed = 4});
        kith_simulation_options options = {.dt = 1e-3,
                                           .forces.softening = 0.1,
                                           .integrator = "hermite4",
                                           .precision = k / 2 ? KITH_F32 : KITH_F64};
        kith_simulation *simulation = simulated(context, bodies, options);
        assert_ok(kith_simulation_step(simulation, 100));
        kith_bodies *expected = state_of(simulation, bodies);
        kith_simulation_free(simulation);

        const int length = powers[k % 2][0], mass = powers[k % 2][1];
        scale_lengths(bodies, length);
        scale_lengths(expected, length);
        for (int i = 0; i < 6; i++)
            bodies->mass[i] = ldexp(bodies->mass[i], mass);
        options.forces.softening = ldexp(options.forces.softening, length);
        options.forces.gravitational_constant = ldexp(1, 3 * length - mass);
        simulation = simulated(context, bodies, options);
        assert_ok(kith_simulation_step(simulation, 100));
        kith_bodies *end = state_of(simulation, bodies);
        assert_same_state(expected, end);
        kith_bodies_free(end);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
        kith_bodies_free(expected);
    }
    kith_context_free(context);
}

static void test_units_too_far_from_one_are_refused(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    assert_refused(bodies,
                   (kith_simulation_options){
                       .dt = 1e-25, .forces.gravitational_constant = 1e50, .precision = KITH_F32},
                   "single precision");
    kith_bodies_free(bodies);
}

static void test_a_float_simulation_stays_close_to_the_double_one(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_bodies *ends[2];
    for (int k = 0; k < 2; k++) {
        kith_simulation *simulation =
            simulated(context, bodies,
                      (kith_simulation_options){.dt = 20,
                                                .forces.gravitational_constant = g_of_gauss,
                                                .precision = k ? KITH_F32 : KITH_F64});
        assert_ok(kith_simulation_run(simulation, 3652.5));
        ends[k] = state_of(simulation, bodies);
        kith_simulation_free(simulation);
    }
    const double distance = distance_of_states(ends[0], ends[1]);
    assert_true(distance < 1e-3);
    assert_true(distance > 1e-9); /* it is in float indeed */
    kith_bodies_free(ends[0]);
    kith_bodies_free(ends[1]);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_bodies_with_equal_softening_lengths_move_as_with_a_common_one(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("six", (kith_initial_options){.seed = 8});
    assert_ok(kith_bodies_add_columns(bodies, KITH_SOFTENING));
    for (int i = 0; i < 6; i++)
        bodies->softening[i] = 0.25;
    kith_simulation *common =
        simulated(context, bodies, (kith_simulation_options){.dt = 1e-3, .forces.softening = 0.25});
    kith_simulation *own = simulated(
        context, bodies, (kith_simulation_options){.dt = 1e-3, .softening_of_bodies = true});
    assert_ok(kith_simulation_step(common, 500));
    assert_ok(kith_simulation_step(own, 500));
    kith_bodies *a = state_of(common, bodies), *b = state_of(own, bodies);
    assert_true(distance_of_states(a, b) < 1e-12);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(common);
    kith_simulation_free(own);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_masses_of_any_size_move_bodies_without_softening(void **state)
{
    static const char *const integrators[] = {"leapfrog", "rk4", "hermite4"};
    static const int64_t numbers[] = {2, 6, 40, 300};
    (void)state;
    for (int64_t isa = 0; isa_at(isa); isa++) {
        if (!isa_at(isa)->supported)
            continue;
        kith_context *context = new_context(isa_at(isa)->name, 2);
        for (size_t k = 0; k < 3; k++)
            for (size_t n = 0; n < 4; n++) {
                assert_masses_scale(context, KITH_F32, integrators[k], numbers[n]);
                assert_masses_scale(context, KITH_F64, integrators[k], numbers[n]);
            }
        kith_context_free(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_simulation_refuses_what_it_cannot_take),
        cmocka_unit_test(test_bodies_in_a_periodic_cell_are_refused),
        cmocka_unit_test(test_a_simulation_refuses_bad_bodies_and_names_the_row),
        cmocka_unit_test(test_a_simulation_refuses_to_go_back_or_nowhere),
        cmocka_unit_test(test_none_and_one_body_are_simulated),
        cmocka_unit_test(test_masses_of_any_size_move_bodies_without_softening),
        cmocka_unit_test(test_bodies_without_velocities_start_at_rest_with_mass_one),
        cmocka_unit_test(test_a_plane_of_bodies_moves_alike_in_two_and_three_dimensions),
        cmocka_unit_test(test_time_is_a_count_of_steps),
        cmocka_unit_test(test_steps_of_any_length_add_up_to_the_time_exactly),
        cmocka_unit_test(test_the_last_step_lands_on_until_exactly),
        cmocka_unit_test(test_whole_steps_of_long_runs_are_counted_without_rounding),
        cmocka_unit_test(test_a_short_last_step_ends_where_a_step_of_that_length_would),
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_units_change_no_bit),
        cmocka_unit_test(test_units_too_far_from_one_are_refused),
        cmocka_unit_test(test_a_float_simulation_stays_close_to_the_double_one),
        cmocka_unit_test(test_bodies_with_equal_softening_lengths_move_as_with_a_common_one),
    };
    return cmocka_run_group_tests_name("simulation", tests, NULL, NULL);
}
