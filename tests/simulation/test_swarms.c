/* Test particles about a star with planets, by whfast and hybrid. */

#include "hybrid_planets.h"

/* A star, planets of about a mass, and bodies without mass between the planets' orbits and beyond.
 */
static kith_bodies *swarm(struct random_numbers *random, int64_t planets, int64_t particles,
                          double mass)
{
    kith_bodies *bodies = planets_of(random, 1 + planets + particles, mass, 1, 0.1);
    double a = 1;
    for (int64_t i = 1; i < bodies->count; i++) {
        const bool is_planet = i <= planets;
        const kith_orbit orbit = {.a = is_planet ? a : random_uniform(random, 0.3, 3),
                                  .e = random_uniform(random, 0, 0.2),
                                  .i = random_uniform(random, 0, 0.3),
                                  .omega = angle(random),
                                  .M = angle(random)};
        assert_ok(kith_orbit_place(1, &orbit, bodies->position + 3 * i, bodies->velocity + 3 * i));
        bodies->mass[i] = is_planet ? bodies->mass[i] : 0;
        a *= 1.04;
    }
    return bodies;
}

/* The first bodies, and others from one on. */
static kith_bodies *some_of(const kith_bodies *bodies, int64_t first, int64_t from, int64_t others)
{
    kith_bodies *some = bodies_of(first + others, 3);
    for (int64_t k = 0; k < some->count; k++) {
        const int64_t i = k < first ? k : from + k - first;
        memcpy(some->position + 3 * k, bodies->position + 3 * i, 3 * sizeof(double));
        memcpy(some->velocity + 3 * k, bodies->velocity + 3 * i, 3 * sizeof(double));
        some->mass[k] = bodies->mass ? bodies->mass[i] : 0;
    }
    return some;
}

static kith_bodies *after(kith_context *context, const kith_bodies *bodies,
                          kith_simulation_options options, double until)
{
    kith_simulation *simulation = simulated(context, bodies, options);
    assert_ok(kith_simulation_step(simulation, 7));
    assert_ok(kith_simulation_run(simulation, until));
    kith_bodies *state = state_of(simulation, bodies);
    kith_simulation_free(simulation);
    return state;
}

/* Large swarms are divided into parts and small ones are not. */
static void test_a_test_particle_has_the_same_bits_in_any_swarm(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    static const kith_simulation_options each[] = {
        {.integrator = "whfast"},
        {.integrator = "whfast", .coordinates = "democratic-heliocentric"},
        {.integrator = "whfast", .corrector = 5, .kernel = "lazy"},
        {.integrator = "whfast", .corrector = 3, .kernel = "composition"},
        {.integrator = "whfast", .kernel = "modified-kick"},
    };
    kith_context *one = cpu_context(1), *many = cpu_context(3);
    for (int trial = 0; trial < 15; trial++) {
        kith_simulation_options options = each[trial % 5];
        options.dt = random_uniform(&random, 0.02, 0.1);
        const int64_t planets = (int64_t)random_uniform(&random, 0, 90);
        const int64_t particles = (int64_t)random_uniform(&random, 1100, 2500);
        /* A particle in a vector with planets has other roundings than one after it. */
        const int64_t first = 1 + (planets + 7) / 8 * 8, others = 200, until = trial % 2 ? 2 : 1;
        kith_bodies *bodies = swarm(&random, planets, particles, 1e-5);
        kith_bodies *a = after(one, bodies, options, (double)until + 0.013);
        kith_bodies *b = after(many, bodies, options, (double)until + 0.013);
        assert_same_state(a, b);
        const int64_t from = first + (int64_t)random_uniform(&random, 0, (double)(particles - 300));
        kith_bodies *few = some_of(bodies, first, from, others);
        kith_bodies *alone = after(one, few, options, (double)until + 0.013);
        kith_bodies *together = some_of(a, first, from, others);
        assert_memory_equal(together->position, alone->position,
                            sizeof(double) * 3 * (size_t)alone->count);
        assert_memory_equal(together->velocity, alone->velocity,
                            sizeof(double) * 3 * (size_t)alone->count);
        kith_bodies *const all[] = {bodies, a, b, few, alone, together};
        for (int k = 0; k < 6; k++)
            kith_bodies_free(all[k]);
    }
    kith_context_free(one);
    kith_context_free(many);
}

static kith_bodies *reversed(const kith_bodies *bodies)
{
    kith_bodies *other = some_of(bodies, 1, 1, bodies->count - 1);
    for (int64_t k = 1; k < bodies->count; k++) {
        const int64_t i = bodies->count - k;
        memcpy(other->position + 3 * k, bodies->position + 3 * i, 3 * sizeof(double));
        memcpy(other->velocity + 3 * k, bodies->velocity + 3 * i, 3 * sizeof(double));
        other->mass[k] = bodies->mass ? bodies->mass[i] : 0;
    }
    return other;
}

/* Planets that meet each other, with particles that meet them, on any number of threads. What of a
 * step is compensated depends on whether there are encounters. */
static void test_planets_do_not_feel_the_encounters_of_test_particles(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *one = cpu_context(1), *many = cpu_context(3);
    for (int trial = 0; trial < 6; trial++) {
        const int64_t planets = 1 + trial;
        kith_bodies *bodies = swarm(&random, planets, 1000, 1e-3);
        kith_bodies *alone = some_of(bodies, planets + 1, 0, 0);
        kith_bodies *a = after(one, bodies, hybrid(0.02), 1);
        kith_bodies *b = after(many, bodies, hybrid(0.02), 1);
        kith_bodies *c = after(one, alone, hybrid(0.02), 1);
        kith_bodies *together = some_of(a, planets + 1, 0, 0);
        assert_same_state(a, b);
        const double off = distance_of_states(together, c);
        if (!(off < 1e-10))
            fail_msg("%d planets are off by %g", (int)planets, off);
        kith_bodies *const all[] = {bodies, alone, a, b, c, together};
        for (int k = 0; k < 6; k++)
            kith_bodies_free(all[k]);
    }
    kith_context_free(one);
    kith_context_free(many);
}

/* Planets that merge with each other and with particles among them: each event once, and as often
 * as bodies are gone. */
static void test_planets_merge_among_test_particles(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(3);
    int64_t of_planets = 0, of_particles = 0;
    for (int trial = 0; trial < 4; trial++) {
        kith_bodies *bodies = planets_of(&random, 221, 1e-5, 1, 0.005);
        for (int64_t i = 1; i < bodies->count; i++) {
            const kith_orbit orbit = {.a = random_uniform(&random, 1, 1.06),
                                      .e = random_uniform(&random, 0, 0.005),
                                      .i = random_uniform(&random, 0, 0.003),
                                      .omega = angle(&random),
                                      .M = angle(&random)};
            assert_ok(
                kith_orbit_place(1, &orbit, bodies->position + 3 * i, bodies->velocity + 3 * i));
            bodies->mass[i] = i <= 20 ? 1e-5 : 0;
            bodies->radius[i] = i <= 20 ? 0.003 : 0;
        }
        kith_simulation_options options = hybrid(0.1);
        options.on_collision = KITH_ON_COLLISION_MERGE;
        options.encounter = 0.02;
        kith_simulation *simulation = simulated(context, bodies, options);
        const kith_diagnostics start = diagnosed(simulation);
        assert_ok(kith_simulation_step(simulation, 300));
        const kith_diagnostics end = diagnosed(simulation);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(end.momentum[k] - start.momentum[k]) < 1e-13);
        int64_t events = 0, merged = 0;
        const kith_event *event = kith_simulation_events(simulation, &events);
        bool is_gone[221] = {false};
        for (int64_t e = 0; e < events; e++) {
            const kith_event *next = e + 1 < events ? &event[e + 1] : NULL;
            assert_false(next && next->body == event[e].body && next->other == event[e].other &&
                         next->time == event[e].time && next->kind == event[e].kind);
            if (event[e].kind != KITH_EVENT_MERGE)
                continue;
            const int64_t heavy = event[e].body, light = event[e].other;
            assert_false(is_gone[heavy] || is_gone[light]);
            is_gone[light] = true;
            merged++;
            of_planets += light <= 20;
            of_particles += light > 20;
        }
        assert_int_equal(merged, kith_simulation_collisions(simulation));
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    print_message("%d and %d mergers\n", (int)of_planets, (int)of_particles);
    assert_true(of_planets > 4 && of_particles > 20);
    kith_context_free(context);
}

/* Many of the particles meet a planet; whether they come before or after it is the same. */
static void test_encounters_do_not_depend_on_the_order_of_bodies(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(2);
    double largest = 0, moved = 0;
    for (int trial = 0; trial < 4; trial++) {
        kith_bodies *bodies = swarm(&random, 2, 600, 1e-3), *other = reversed(bodies);
        kith_bodies *a = after(context, bodies, hybrid(0.05), 3);
        kith_bodies *b = after(context, other, hybrid(0.05), 3);
        kith_bodies *without =
            after(context, bodies,
                  (kith_simulation_options){
                      .dt = 0.05, .integrator = "whfast", .coordinates = "democratic-heliocentric"},
                  3);
        kith_bodies *back = reversed(b);
        for (int64_t k = 0; k < 3 * a->count; k++) {
            largest = worse_of(largest, fabs(a->position[k] - back->position[k]));
            moved = fmax(moved, fabs(a->position[k] - without->position[k]));
        }
        kith_bodies *const all[] = {bodies, other, a, b, without, back};
        for (int k = 0; k < 6; k++)
            kith_bodies_free(all[k]);
    }
    print_message("order %.2g, encounters %.2g\n", largest, moved);
    assert_true(largest < 1e-8);
    assert_true(moved > 1e-3);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_test_particle_has_the_same_bits_in_any_swarm),
        cmocka_unit_test(test_planets_do_not_feel_the_encounters_of_test_particles),
        cmocka_unit_test(test_planets_merge_among_test_particles),
        cmocka_unit_test(test_encounters_do_not_depend_on_the_order_of_bodies),
    };
    return cmocka_run_group_tests_name("swarms", tests, NULL, NULL);
}
