/* Ensembles of the integrator ias15: each system has steps of its own. */

#include "random_numbers.h"
#include "simulating.h"

static kith_bodies *random_systems(struct random_numbers *random, int64_t systems, int64_t count,
                                   int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    const int64_t rows = systems * count;
    assert_ok(
        kith_bodies_create(rows, dimensions, KITH_VELOCITY | KITH_MASS | KITH_SOFTENING, &bodies));
    for (int64_t k = 0; k < rows * dimensions; k++) {
        bodies->position[k] = random_uniform(random, -2, 2);
        bodies->velocity[k] = random_uniform(random, -0.5, 0.5);
    }
    for (int64_t i = 0; i < rows; i++) {
        bodies->mass[i] = i % 5 == 4 ? 0 : random_uniform(random, 0.1, 1);
        bodies->softening[i] = random_uniform(random, 0.05, 0.1);
    }
    return bodies;
}

static kith_simulation *ensemble_of(kith_context *context, const kith_bodies *bodies,
                                    int64_t systems, kith_simulation_options options)
{
    kith_simulation *simulation = NULL;
    assert_ok(kith_simulation_create_ensemble(context, &options, systems, bodies, &simulation));
    return simulation;
}

/* Also in pieces, and on several threads. */
static void test_systems_have_the_bits_that_they_have_alone(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1), *threads = cpu_context(3);
    for (int trial = 0; trial < 16; trial++) {
        const int64_t systems = 1 + 3 * trial, count = 1 + trial % 9;
        const int32_t dimensions = trial % 2 ? 2 : 3;
        kith_bodies *all = random_systems(&random, systems, count, dimensions);
        const kith_simulation_options options = {.dt = 0.01,
                                                 .integrator = "ias15",
                                                 .forces.softening = trial % 3 ? 0.05 : 0,
                                                 .softening_of_bodies = trial % 3 == 0};
        kith_simulation *together =
            ensemble_of(trial % 2 ? threads : context, all, systems, options);
        assert_ok(kith_simulation_run(together, 0.7));
        assert_ok(kith_simulation_step_by(together, 0.6));
        assert_ok(kith_simulation_run(together, 2));
        assert_true(kith_simulation_time(together) == 2);
        kith_bodies *ends = state_of(together, all);
        for (int64_t s = 0; s < systems; s++) {
            const kith_bodies one = kith_ensemble_system(all, systems, s);
            const kith_bodies end = kith_ensemble_system(ends, systems, s);
            kith_simulation *alone = simulated(context, &one, options);
            assert_ok(kith_simulation_run(alone, 0.7));
            assert_ok(kith_simulation_step_by(alone, 0.6));
            assert_ok(kith_simulation_run(alone, 2));
            kith_bodies *expected = state_of(alone, &one);
            assert_same_state(expected, &end);
            kith_bodies_free(expected);
            kith_simulation_free(alone);
        }
        kith_bodies_free(ends);
        kith_simulation_free(together);
        kith_bodies_free(all);
    }
    kith_context_free(context);
    kith_context_free(threads);
}

static void test_a_restored_ensemble_goes_on_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(2);
    const kith_simulation_options options = {
        .dt = 0.01, .integrator = "ias15", .forces.softening = 0.02};
    kith_bodies *bodies = random_systems(&random, 37, 4, 3);
    kith_simulation *through = ensemble_of(context, bodies, 37, options);
    kith_simulation *second = ensemble_of(context, bodies, 37, options);
    kith_checkpoint checkpoint = {0};
    assert_ok(kith_simulation_run(through, 1.1));
    assert_ok(kith_simulation_save(through, &checkpoint));
    assert_ok(kith_simulation_restore(second, &checkpoint));
    assert_ok(kith_simulation_run(through, 3));
    assert_ok(kith_simulation_run(second, 3));
    kith_bodies *a = state_of(through, bodies), *b = state_of(second, bodies);
    assert_same_state(a, b);
    assert_int_equal(kith_simulation_steps(through), kith_simulation_steps(second));
    kith_checkpoint_free(&checkpoint);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(through);
    kith_simulation_free(second);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* A comet does not shorten the steps of a circle in the same ensemble. */
static void test_each_system_keeps_its_energy(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    const kith_bodies *each[] = {made("two-body", (kith_initial_options){.eccentricity = 0}),
                                 made("two-body", (kith_initial_options){.eccentricity = 0.99})};
    kith_bodies *bodies = NULL;
    assert_ok(kith_ensemble_join(2, each, &bodies));
    kith_simulation *simulation = ensemble_of(
        context, bodies, 2, (kith_simulation_options){.dt = 0.01, .integrator = "ias15"});
    kith_diagnostics start[2], end[2];
    assert_ok(kith_simulation_diagnose_systems(simulation, 0, 2, start));
    assert_ok(kith_simulation_run(simulation, 20 * pi));
    assert_ok(kith_simulation_diagnose_systems(simulation, 0, 2, end));
    for (int s = 0; s < 2; s++)
        assert_true(fabs(end[s].total_energy / start[s].total_energy - 1) < 1e-13);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_bodies_free((kith_bodies *)each[0]);
    kith_bodies_free((kith_bodies *)each[1]);
    kith_context_free(context);
}

static bool look(void *user, kith_simulation *simulation)
{
    (void)user;
    (void)simulation;
    return true;
}

static void test_what_ensembles_cannot_do_is_said(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(2);
    kith_bodies *bodies = random_systems(&random, 5, 2, 3);
    kith_simulation_options options = {.dt = 0.01, .integrator = "ias15"};
    kith_simulation *simulation = NULL;
    options.precision = KITH_F32;
    assert_fails(kith_simulation_create_ensemble(context, &options, 5, bodies, &simulation),
                 KITH_UNSUPPORTED, "system 0 ias15 double");
    options.precision = KITH_F64;
    for (int c = 0; c < 3; c++) { /* system 3 falls head-on */
        bodies->position[18 + c] = c == 0;
        bodies->position[21 + c] = -(c == 0);
        bodies->velocity[18 + c] = bodies->velocity[21 + c] = 0;
    }
    bodies->mass[6] = bodies->mass[7] = 1;
    simulation = ensemble_of(context, bodies, 5, options);
    assert_fails(kith_simulation_step(simulation, 1), KITH_UNSUPPORTED, "time");
    assert_fails(kith_simulation_run(simulation, 9), KITH_INVALID_ARGUMENT, "system 3 ias15");
    kith_bodies *now = state_of(simulation, bodies);
    assert_same_state(now, bodies);
    kith_bodies_free(now);
    assert_ok(kith_simulation_set_heartbeat(simulation, 1, look, NULL));
    assert_fails(kith_simulation_run(simulation, 1), KITH_UNSUPPORTED, "heartbeat");
    kith_simulation_free(simulation);
    memcpy(bodies->position + 12, bodies->position + 15, 3 * sizeof(double));
    bodies->mass[4] = bodies->mass[5] = 1;
    assert_fails(kith_simulation_create_ensemble(context, &options, 5, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "system 2 0 1");
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_systems_have_the_bits_that_they_have_alone),
        cmocka_unit_test(test_a_restored_ensemble_goes_on_bit_for_bit),
        cmocka_unit_test(test_each_system_keeps_its_energy),
        cmocka_unit_test(test_what_ensembles_cannot_do_is_said),
    };
    return cmocka_run_group_tests_name("ias15_systems", tests, NULL, NULL);
}
