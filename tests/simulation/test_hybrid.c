/* The integrator hybrid: planets about a star that come close to each other. */

#include "hybrid_planets.h"

static kith_bodies *after_steps(kith_context *context, const kith_bodies *bodies,
                                kith_simulation_options options, int64_t steps)
{
    kith_simulation *simulation = simulated(context, bodies, options);
    assert_ok(kith_simulation_step(simulation, steps));
    kith_bodies *state = state_of(simulation, bodies);
    kith_simulation_free(simulation);
    return state;
}

/* The largest |E / E_0 − 1|. */
static double energy_error(kith_context *context, const kith_bodies *bodies,
                           kith_simulation_options options, int64_t steps)
{
    kith_simulation *simulation = simulated(context, bodies, options);
    const double start = diagnosed(simulation).total_energy;
    double largest = 0;
    for (int64_t step = 0; step < steps; step++) {
        assert_ok(kith_simulation_step(simulation, 1));
        largest = worse_of(largest, fabs(diagnosed(simulation).total_energy / start - 1));
    }
    kith_simulation_free(simulation);
    return largest;
}

static void test_planets_that_stay_apart_have_the_bits_of_whfast(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    for (int trial = 0; trial < 20; trial++) {
        kith_bodies *bodies = planets_of(&random, 1 + trial, 1e-5, 1.5, 0.02);
        kith_simulation_options options = hybrid(random_uniform(&random, 0.05, 0.2));
        kith_simulation *one = simulated(context, bodies, options);
        options.integrator = "whfast";
        options.coordinates = "democratic-heliocentric";
        kith_simulation *other = simulated(context, bodies, options);
        assert_ok(kith_simulation_step(one, 17));
        assert_ok(kith_simulation_step(other, 17));
        assert_ok(kith_simulation_run(one, 100 * options.dt + 0.01));
        assert_ok(kith_simulation_run(other, 100 * options.dt + 0.01));
        kith_bodies *a = state_of(one, bodies), *b = state_of(other, bodies);
        assert_same_state(a, b);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_simulation_free(one);
        kith_simulation_free(other);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

/* Twenty planets in a narrow ring meet all the time. */
static void test_encounters_keep_the_energy_where_whfast_does_not(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    double ratio = 1;
    const int trials = 5;
    for (int trial = 0; trial < trials; trial++) {
        kith_bodies *bodies = planets_of(&random, 21, 1e-5, 1.005, 0.01);
        kith_simulation_options options = hybrid(0.1);
        const double error = energy_error(context, bodies, options, 600);
        options.integrator = "whfast";
        options.coordinates = "democratic-heliocentric";
        const double other = energy_error(context, bodies, options, 600);
        print_message("energy: hybrid %.2g, whfast %.2g\n", error, other);
        ratio *= error / other;
        if (!(error < 1e-5))
            fail_msg("the energy error is %g", error);
        kith_bodies_free(bodies);
    }
    assert_true(pow(ratio, 1.0 / trials) < 0.1);
    kith_context_free(context);
}

static void test_an_encounter_follows_ias15(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = overtaking(3e-6);
    kith_bodies *exact = NULL;
    kith_simulation *simulation =
        simulated(context, bodies,
                  (kith_simulation_options){.dt = 0.1, .integrator = "ias15", .encounter = 0.03});
    assert_ok(kith_simulation_run(simulation, 20));
    exact = state_of(simulation, bodies);
    int64_t count = 0, other = 0;
    const kith_event *expected = kith_simulation_events(simulation, &count);
    assert_true(count > 0);
    double errors[2];
    for (int k = 0; k < 2; k++) {
        kith_simulation_options options = hybrid(k == 0 ? 0.1 : 0.05);
        options.encounter = 0.03;
        kith_simulation *tested = simulated(context, bodies, options);
        assert_ok(kith_simulation_run(tested, 20));
        kith_bodies *now = state_of(tested, bodies);
        errors[k] = distance_of_states(now, exact);
        const kith_event *events = kith_simulation_events(tested, &other);
        assert_int_equal(other, count);
        for (int64_t e = 0; e < count; e++) {
            assert_int_equal(events[e].kind, KITH_EVENT_ENCOUNTER);
            assert_int_equal(events[e].body, expected[e].body);
            assert_int_equal(events[e].other, expected[e].other);
            assert_true(fabs(events[e].time - expected[e].time) < 1e-2);
            assert_true(fabs(events[e].distance / expected[e].distance - 1) < 1e-2);
            assert_true(fabs(events[e].speed / expected[e].speed - 1) < 1e-2);
        }
        kith_bodies_free(now);
        kith_simulation_free(tested);
    }
    print_message("from ias15: %g, with half the step %g\n", errors[0], errors[1]);
    assert_true(errors[0] < 1e-3 && errors[1] < errors[0] / 2);
    kith_bodies_free(exact);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Rounding grows with the encounters. */
static void test_steps_undo_themselves_backwards(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    int exact = 0;
    const int trials = 20;
    for (int trial = 0; trial < trials; trial++) {
        kith_bodies *bodies = planets_of(&random, 4, 1e-5, 1.02, 0.02);
        kith_simulation *simulation = simulated(context, bodies, hybrid(0.1));
        for (int step = 0; step < 100; step++)
            assert_ok(kith_simulation_step(simulation, 1));
        for (int step = 0; step < 100; step++)
            assert_ok(kith_simulation_step_by(simulation, -0.1));
        kith_bodies *back = state_of(simulation, bodies);
        exact += distance_of_states(back, bodies) < 1e-9;
        kith_bodies_free(back);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    print_message("%d of %d came back\n", exact, trials);
    /* Others have steps that both ends judge differently, or much rounding. */
    assert_true(exact >= 16);
    kith_context_free(context);
}

/* Comets: a step is a fifth of the pericenter's time. */
static void test_pericenters_are_followed(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    double ratio = 1;
    kith_context *context = cpu_context(1);
    for (int trial = 0; trial < 6; trial++) {
        kith_bodies *bodies = planets_of(&random, 4, 1e-4, 2.5, 0.05);
        const kith_orbit comet = {.a = 3, .e = 0.98, .i = 0.3, .omega = angle(&random), .M = 5};
        assert_ok(kith_orbit_place(1, &comet, bodies->position + 9, bodies->velocity + 9));
        bodies->mass[3] = 1e-5;
        kith_simulation_options options = hybrid(0.1);
        const double error = energy_error(context, bodies, options, 500);
        options.integrator = "whfast";
        options.coordinates = "democratic-heliocentric";
        const double other = energy_error(context, bodies, options, 500);
        print_message("energy: hybrid %.2g, whfast %.2g\n", error, other);
        if (!(error < 1e-4))
            fail_msg("the energy error is %g", error);
        ratio *= error / other;
        kith_bodies_free(bodies);
    }
    assert_true(pow(ratio, 1.0 / 6) < 0.2);
    kith_context_free(context);
}

static void test_two_bodies_follow_kepler_through_the_pericenter(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = bodies_of(2, 2);
    const double e = 0.99;
    bodies->position[2] = 1 - e;
    bodies->velocity[3] = sqrt((1 + e) / (1 - e));
    bodies->mass[0] = 1 - 1e-4;
    bodies->mass[1] = 1e-4;
    kith_simulation *simulation = simulated(context, bodies, hybrid(0.1));
    assert_ok(kith_simulation_run(simulation, 60));
    kith_bodies *now = state_of(simulation, bodies);
    print_message("from Kepler: %g\n", kepler_error(now, e, 60));
    assert_true(kepler_error(now, e, 60) < 1e-4);
    kith_bodies_free(now);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_a_restored_simulation_goes_on_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1), *threads = cpu_context(3);
    for (int trial = 0; trial < 12; trial++) {
        kith_bodies *bodies = planets_of(&random, 8 + trial, 1e-5, 1.01, 0.02);
        kith_simulation_options options = hybrid(0.1);
        options.encounter = trial % 3 == 0 ? 0.01 : 0;
        if (trial % 3 == 1)
            options.on_collision = KITH_ON_COLLISION_BOUNCE;
        options.restitution = 0.5;
        for (int64_t i = 0; i < bodies->count; i++)
            bodies->radius[i] = 0.002;
        kith_simulation *through = simulated(context, bodies, options);
        kith_simulation *first = simulated(threads, bodies, options);
        kith_simulation *second = simulated(context, bodies, options);
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_step(through, 60));
        for (int step = 0; step < 23; step++)
            assert_ok(kith_simulation_step(first, 1));
        assert_ok(kith_simulation_save(first, &checkpoint));
        assert_ok(kith_simulation_restore(second, &checkpoint));
        assert_ok(kith_simulation_step(second, 37));
        kith_bodies *a = state_of(through, bodies), *b = state_of(second, bodies);
        assert_same_state(a, b);
        assert_ok(kith_simulation_step_by(through, 0.03));
        assert_ok(kith_simulation_save(through, &checkpoint));
        assert_ok(kith_simulation_restore(second, &checkpoint));
        assert_ok(kith_simulation_step(through, 5));
        assert_ok(kith_simulation_step(second, 5));
        assert_ok(kith_simulation_get_bodies(through, a));
        assert_ok(kith_simulation_get_bodies(second, b));
        assert_same_state(a, b);
        kith_checkpoint_free(&checkpoint);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_simulation_free(through);
        kith_simulation_free(first);
        kith_simulation_free(second);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
    kith_context_free(threads);
}

/* Embryos that are as large as half their radii of Hill merge soon. */
static void test_bodies_merge_within_an_encounter(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    int64_t merged = 0;
    for (int trial = 0; trial < 5; trial++) {
        kith_bodies *bodies = planets_of(&random, 21, 1e-5, 1.003, 0.005);
        for (int64_t i = 0; i < 21; i++)
            bodies->radius[i] = 0.003;
        kith_simulation_options options = hybrid(0.1);
        options.on_collision = KITH_ON_COLLISION_MERGE;
        kith_simulation *simulation = simulated(context, bodies, options);
        const kith_diagnostics start = diagnosed(simulation);
        assert_ok(kith_simulation_step(simulation, 400));
        const kith_diagnostics end = diagnosed(simulation);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(end.momentum[k] - start.momentum[k]) < 1e-13);
        assert_true(fabs(end.angular_momentum[2] / start.angular_momentum[2] - 1) < 1e-3);
        kith_bodies *now = bodies_of(21, 3);
        assert_ok(kith_simulation_get_bodies(simulation, now));
        double mass = 0, before = 0;
        for (int64_t i = 0; i < 21; i++) {
            mass += now->mass[i];
            before += bodies->mass[i];
        }
        assert_true(fabs(mass - before) < 1e-14);
        int64_t events = 0;
        const kith_event *event = kith_simulation_events(simulation, &events);
        assert_int_equal(events, kith_simulation_collisions(simulation));
        for (int64_t e = 0; e < events; e++)
            assert_true(event[e].kind == KITH_EVENT_MERGE && event[e].speed < 1 &&
                        event[e].distance < 0.02);
        merged += events;
        kith_bodies_free(now);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    print_message("%d mergers\n", (int)merged);
    assert_true(merged > 10);
    kith_context_free(context);
}

/* A planet thrown at another along its orbit: where and when they touch is what ias15 finds. */
static void test_a_collision_is_when_ias15_says(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    static const kith_on_collision each[] = {KITH_ON_COLLISION_MERGE, KITH_ON_COLLISION_STOP};
    for (int k = 0; k < 2; k++) {
        kith_event event[2];
        kith_bodies *bodies = overtaking(3e-6), *end[2];
        memcpy(bodies->position + 6, bodies->position + 3, 3 * sizeof(double));
        memcpy(bodies->velocity + 6, bodies->velocity + 3, 3 * sizeof(double));
        bodies->position[6] += 0.02;
        bodies->position[8] += 0.0001;
        bodies->velocity[6] -= 0.4;
        bodies->radius[1] = bodies->radius[2] = 1e-3;
        for (int method = 0; method < 2; method++) {
            const kith_simulation_options options = {
                .dt = 0.1, .integrator = method ? "ias15" : "hybrid", .on_collision = each[k]};
            kith_simulation *simulation = simulated(context, bodies, options);
            assert_ok(kith_simulation_run(simulation, 5));
            int64_t count = 0;
            const kith_event *events = kith_simulation_events(simulation, &count);
            assert_int_equal(count, 1);
            event[method] = *events;
            end[method] = state_of(simulation, bodies);
            assert_true(kith_simulation_has_stopped(simulation) == (k == 1));
            kith_simulation_free(simulation);
        }
        assert_true(fabs(event[0].time - event[1].time) < 1e-5);
        assert_true(fabs(event[0].distance - 2e-3) < 1e-12);
        assert_true(fabs(event[0].speed / event[1].speed - 1) < 1e-4);
        assert_int_equal(event[0].body, 1);
        assert_int_equal(event[0].other, 2);
        if (k == 0) {
            assert_true(isnan(end[0]->position[6]));
            for (int c = 0; c < 3; c++)
                assert_true(fabs(end[0]->position[3 + c] - end[1]->position[3 + c]) < 1e-4);
        }
        kith_bodies_free(end[0]);
        kith_bodies_free(end[1]);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

/* The star has a size: a comet that hits it is gone. */
static void test_a_comet_falls_into_the_star(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = bodies_of(3, 3);
    const kith_orbit orbits[] = {{.a = 5}, {.a = 3, .e = 0.999, .M = 5}};
    bodies->mass[0] = 1;
    bodies->mass[1] = bodies->mass[2] = 1e-6;
    bodies->radius[0] = 0.005;
    for (int64_t i = 1; i < 3; i++)
        assert_ok(kith_orbit_place(1, &orbits[i - 1], bodies->position + 3 * i,
                                   bodies->velocity + 3 * i));
    kith_simulation_options options = hybrid(0.3);
    options.on_collision = KITH_ON_COLLISION_MERGE;
    kith_simulation *simulation = simulated(context, bodies, options);
    assert_ok(kith_simulation_run(simulation, 20));
    int64_t count = 0;
    const kith_event *event = kith_simulation_events(simulation, &count);
    assert_int_equal(count, 1);
    assert_true(event->body == 0 && event->other == 2);
    assert_true(fabs(event->distance - 0.005) < 1e-9);
    /* e and M give the time of the pericenter, 2π − 5 of a mean motion of 3^−3/2. */
    assert_true(fabs(event->time - (2 * pi - 5) * pow(3, 1.5)) < 1e-2);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* A test particle that a planet scatters, and one it does not meet. */
static void test_test_particles_are_scattered_and_not_felt(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = overtaking(1e-5);
    bodies->mass[1] = 0;
    kith_bodies *alone = bodies_of(2, 3), *scattered = NULL, *exact = NULL;
    memcpy(alone->position + 3, bodies->position + 6, 3 * sizeof(double));
    memcpy(alone->velocity + 3, bodies->velocity + 6, 3 * sizeof(double));
    alone->mass[0] = 1;
    alone->mass[1] = bodies->mass[2];
    scattered = after_steps(context, bodies, hybrid(0.05), 400);
    kith_bodies *single = after_steps(context, alone, hybrid(0.05), 400);
    for (int c = 0; c < 3; c++)
        assert_true(fabs(scattered->position[6 + c] - single->position[3 + c]) < 1e-12);
    kith_simulation *simulation =
        simulated(context, bodies, (kith_simulation_options){.dt = 0.05, .integrator = "ias15"});
    assert_ok(kith_simulation_run(simulation, 20));
    exact = state_of(simulation, bodies);
    print_message("from ias15: %g\n", distance_of_states(exact, scattered));
    assert_true(distance_of_states(exact, scattered) < 1e-3);
    kith_simulation_free(simulation);
    kith_bodies_free(exact);
    kith_bodies_free(single);
    kith_bodies_free(scattered);
    kith_bodies_free(alone);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_the_plane_has_the_bits_of_space(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    kith_bodies *space = planets_of(&random, 9, 1e-5, 1.01, 0.02), *plane = bodies_of(9, 2);
    for (int i = 0; i < 9; i++) {
        space->position[3 * i + 2] = space->velocity[3 * i + 2] = 0;
        memcpy(plane->position + 2 * i, space->position + 3 * i, 2 * sizeof(double));
        memcpy(plane->velocity + 2 * i, space->velocity + 3 * i, 2 * sizeof(double));
        plane->mass[i] = space->mass[i];
    }
    kith_bodies *a = after_steps(context, space, hybrid(0.1), 100);
    kith_bodies *b = after_steps(context, plane, hybrid(0.1), 100);
    for (int i = 0; i < 9; i++)
        assert_memory_equal(a->position + 3 * i, b->position + 2 * i, 2 * sizeof(double));
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_bodies_free(space);
    kith_bodies_free(plane);
    kith_context_free(context);
}

static void assert_refused(kith_context *context, const kith_bodies *bodies,
                           kith_simulation_options options, kith_status status, const char *fields)
{
    kith_simulation *simulation = NULL;
    assert_int_equal(kith_simulation_create(context, &options, bodies, &simulation), status);
    assert_true(has_fields(kith_error_message(), fields));
}

static void test_what_hybrid_cannot_do_is_said(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = overtaking(1e-5);
    kith_simulation_options options = hybrid(0.1);
    options.corrector = 3;
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "integrator hybrid");
    options = hybrid(0.1);
    options.coordinates = "jacobi";
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "integrator hybrid");
    options = hybrid(0.1);
    options.precision = KITH_F32;
    assert_refused(context, bodies, options, KITH_UNSUPPORTED, "hybrid double");
    options = hybrid(0.1);
    options.forces.softening = 0.1;
    assert_refused(context, bodies, options, KITH_UNSUPPORTED, "softening 0.1");
    options = hybrid(0.1);
    kith_simulation *simulation = NULL;
    assert_fails(kith_simulation_create_ensemble(context, &options, 1, bodies, &simulation),
                 KITH_UNSUPPORTED, "hybrid ensemble");
    /* Two planets at one place have no step. */
    memcpy(bodies->position + 6, bodies->position + 3, 3 * sizeof(double));
    simulation = simulated(context, bodies, hybrid(0.1));
    assert_fails(kith_simulation_step(simulation, 1), KITH_INVALID_ARGUMENT, "hybrid time 0");
    kith_bodies *now = state_of(simulation, bodies);
    assert_memory_equal(now->position, bodies->position, 9 * sizeof(double));
    assert_int_equal(kith_simulation_steps(simulation), 0);
    kith_bodies_free(now);
    kith_simulation_free(simulation);
    memcpy(bodies->position + 6, bodies->position, 3 * sizeof(double));
    assert_refused(context, bodies, hybrid(0.1), KITH_INVALID_ARGUMENT, "2 0 star");
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planets_that_stay_apart_have_the_bits_of_whfast),
        cmocka_unit_test(test_encounters_keep_the_energy_where_whfast_does_not),
        cmocka_unit_test(test_an_encounter_follows_ias15),
        cmocka_unit_test(test_steps_undo_themselves_backwards),
        cmocka_unit_test(test_pericenters_are_followed),
        cmocka_unit_test(test_two_bodies_follow_kepler_through_the_pericenter),
        cmocka_unit_test(test_a_restored_simulation_goes_on_bit_for_bit),
        cmocka_unit_test(test_bodies_merge_within_an_encounter),
        cmocka_unit_test(test_a_collision_is_when_ias15_says),
        cmocka_unit_test(test_a_comet_falls_into_the_star),
        cmocka_unit_test(test_test_particles_are_scattered_and_not_felt),
        cmocka_unit_test(test_the_plane_has_the_bits_of_space),
        cmocka_unit_test(test_what_hybrid_cannot_do_is_said),
    };
    return cmocka_run_group_tests_name("hybrid", tests, NULL, NULL);
}
