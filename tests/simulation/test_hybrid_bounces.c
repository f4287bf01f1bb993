/* Planets that bounce off each other in the integrator hybrid. */

#include "hybrid_planets.h"

static kith_simulation_options bouncing(double dt, double restitution)
{
    kith_simulation_options options = hybrid(dt);
    options.on_collision = KITH_ON_COLLISION_BOUNCE;
    options.restitution = restitution;
    return options;
}

static bool overlap(const kith_bodies *bodies)
{
    for (int64_t i = 0; i < bodies->count; i++)
        for (int64_t j = 0; j < i; j++) {
            double d[3];
            for (int c = 0; c < 3; c++)
                d[c] = bodies->position[3 * i + c] - bodies->position[3 * j + c];
            if (length_of(d) < 1.01 * (bodies->radius[i] + bodies->radius[j]))
                return true;
        }
    return false;
}

/* Embryos as large as half their radii of Hill or more, which do not overlap. */
static kith_bodies *embryos(struct random_numbers *random, double radius)
{
    kith_bodies *bodies = NULL;
    do {
        kith_bodies_free(bodies);
        bodies = planets_of(random, 21, 1e-5, 1.003, 0.005);
        for (int64_t i = 0; i < 21; i++)
            bodies->radius[i] = radius;
    } while (overlap(bodies));
    return bodies;
}

/* The energy changes no more than without bounces. */
static void test_elastic_bounces_keep_energy_and_momentum(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    int64_t bounces = 0;
    for (int trial = 0; trial < 5; trial++) {
        kith_bodies *bodies = embryos(&random, 0.003);
        kith_simulation *simulation = simulated(context, bodies, bouncing(0.1, 1));
        const kith_diagnostics start = diagnosed(simulation);
        assert_ok(kith_simulation_step(simulation, 400));
        const kith_diagnostics end = diagnosed(simulation);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(end.momentum[k] - start.momentum[k]) < 1e-13);
        print_message("energy %.2g, angular momentum %.2g\n",
                      end.total_energy / start.total_energy - 1,
                      end.angular_momentum[2] / start.angular_momentum[2] - 1);
        assert_true(fabs(end.total_energy / start.total_energy - 1) < 1e-5);
        assert_true(fabs(end.angular_momentum[2] / start.angular_momentum[2] - 1) < 1e-11);
        int64_t events = 0;
        const kith_event *event = kith_simulation_events(simulation, &events);
        assert_int_equal(events, kith_simulation_collisions(simulation));
        for (int64_t e = 0; e < events; e++) {
            assert_int_equal(event[e].kind, KITH_EVENT_BOUNCE);
            if (event[e].body != 0)
                assert_true(fabs(event[e].distance / 0.006 - 1) < 1e-7);
            assert_true(e == 0 || event[e].time >= event[e - 1].time);
        }
        bounces += events;
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    print_message("%d bounces\n", (int)bounces);
    assert_true(bounces > 10);
    kith_context_free(context);
}

/* One planet thrown at another, off its center: what of the energy of their relative motion is
 * along the line of centers is multiplied by the restitution squared. */
static void test_a_bounce_loses_what_restitution_says(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    const double mass = 1e-9, radius = 1e-3, speed = 0.05, aim = 0.5;
    const double along2 = 1 - aim * aim; /* the square of the cosine at the contact */
    for (int k = 0; k <= 4; k++) {
        const double restitution = k / 4.0;
        kith_bodies *bodies = overtaking(mass);
        memcpy(bodies->position + 6, bodies->position + 3, 3 * sizeof(double));
        memcpy(bodies->velocity + 6, bodies->velocity + 3, 3 * sizeof(double));
        bodies->position[6] += 0.004;
        bodies->position[8] += aim * 2 * radius;
        bodies->velocity[6] -= speed;
        bodies->radius[1] = bodies->radius[2] = radius;
        kith_simulation *simulation = simulated(context, bodies, bouncing(0.1, restitution));
        const double start = diagnosed(simulation).total_energy;
        assert_ok(kith_simulation_step(simulation, 1));
        int64_t count = 0;
        const kith_event *event = kith_simulation_events(simulation, &count);
        assert_true(count == 1 && event->kind == KITH_EVENT_BOUNCE);
        const double lost = start - diagnosed(simulation).total_energy;
        const double expected =
            mass / 4 * event->speed * event->speed * along2 * (1 - restitution * restitution);
        print_message("restitution %g: lost %.4g, expected %.4g\n", restitution, lost, expected);
        assert_true(fabs(lost - expected) < 0.03 * mass / 4 * speed * speed);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

static void test_steps_with_bounces_undo_themselves_backwards(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    int exact = 0;
    int64_t bounces = 0;
    const int trials = 20;
    for (int trial = 0; trial < trials; trial++) {
        kith_bodies *bodies = embryos(&random, 0.006);
        kith_simulation *simulation = simulated(context, bodies, bouncing(0.1, 1));
        for (int step = 0; step < 60; step++)
            assert_ok(kith_simulation_step(simulation, 1));
        const int64_t there = kith_simulation_collisions(simulation);
        for (int step = 0; step < 60; step++)
            assert_ok(kith_simulation_step_by(simulation, -0.1));
        kith_bodies *back = state_of(simulation, bodies);
        const bool is_back = distance_of_states(back, bodies) < 1e-8;
        exact += is_back;
        if (is_back)
            assert_int_equal(kith_simulation_collisions(simulation), 2 * there);
        bounces += there;
        kith_bodies_free(back);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    print_message("%d of %d came back, %d bounces\n", exact, trials, (int)bounces);
    assert_true(bounces > 10);
    /* Others have steps that both ends judge differently, or much rounding. */
    assert_true(exact >= 15);
    kith_context_free(context);
}

/* Bodies that lose energy with each bounce come to rest on each other, and steps stay possible. */
static void test_bodies_that_bounce_come_to_rest_on_each_other(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    for (int k = 0; k < 3; k++) {
        const double restitution = k == 0 ? 0 : k == 1 ? 0.3 : 0.9, radius = 1e-3;
        kith_bodies *bodies = overtaking(1e-6);
        memcpy(bodies->position + 6, bodies->position + 3, 3 * sizeof(double));
        memcpy(bodies->velocity + 6, bodies->velocity + 3, 3 * sizeof(double));
        bodies->position[6] += 3 * radius;
        bodies->radius[1] = bodies->radius[2] = radius;
        kith_simulation *simulation = simulated(context, bodies, bouncing(0.1, restitution));
        assert_ok(kith_simulation_step(simulation, 30));
        kith_bodies *now = state_of(simulation, bodies);
        double d[3];
        for (int c = 0; c < 3; c++)
            d[c] = now->position[6 + c] - now->position[3 + c];
        print_message("restitution %g: %d bounces, distance %.6f radii\n", restitution,
                      (int)kith_simulation_collisions(simulation), length_of(d) / radius);
        assert_true(kith_simulation_collisions(simulation) > 3);
        assert_true(length_of(d) > 2 * radius * (1 - 1e-6) && length_of(d) < 2.05 * radius);
        kith_bodies_free(now);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elastic_bounces_keep_energy_and_momentum),
        cmocka_unit_test(test_a_bounce_loses_what_restitution_says),
        cmocka_unit_test(test_steps_with_bounces_undo_themselves_backwards),
        cmocka_unit_test(test_bodies_that_bounce_come_to_rest_on_each_other),
    };
    return cmocka_run_group_tests_name("bounces of hybrid", tests, NULL, NULL);
}
