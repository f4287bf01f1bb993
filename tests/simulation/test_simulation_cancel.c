/* A simulation that is cancelled in the middle of a step is at the end of the last one. */

#include "simulating.h"

#include "cancelling.h"

struct stepping {
    kith_simulation *simulation;
    int64_t steps;
};

static kith_status step(kith_context *context, void *argument)
{
    (void)context;
    const struct stepping *stepping = argument;
    return kith_simulation_step(stepping->simulation, stepping->steps);
}

static kith_status diagnose(kith_context *context, void *argument)
{
    (void)context;
    kith_diagnostics diagnostics;
    return kith_simulation_diagnose(argument, &diagnostics);
}

/* Steps, is cancelled in later ones, and has the bits of one that was not; then goes on. */
static void assert_whole(kith_context *context, kith_simulation *cancelled,
                         kith_simulation *undisturbed, const kith_bodies *bodies)
{
    const struct stepping stepping = {cancelled, 1000};
    for (int turn = 0; turn < 3; turn++) {
        (turn == 1 ? assert_cancelled : assert_polled)(context, step, (void *)&stepping);
        const int64_t done = kith_simulation_steps(cancelled);
        assert_true(done < 1000);
        assert_ok(kith_simulation_step(undisturbed, done - kith_simulation_steps(undisturbed)));
        kith_bodies *a = state_of(cancelled, bodies), *b = state_of(undisturbed, bodies);
        assert_same_state(a, b);
        kith_bodies_free(a);
        kith_bodies_free(b);
    }
    assert_ok(kith_simulation_step(cancelled, 1));
    assert_ok(kith_simulation_step(undisturbed, 1));
    kith_checkpoint a = {0}, b = {0};
    assert_ok(kith_simulation_save(cancelled, &a));
    assert_ok(kith_simulation_save(undisturbed, &b));
    assert_int_equal(a.steps, b.steps);
    assert_int_equal(a.evaluations, b.evaluations);
    assert_int_equal(a.bytes, b.bytes);
    assert_memory_equal(a.state, b.state, (size_t)a.bytes);
    kith_checkpoint_free(&a);
    kith_checkpoint_free(&b);
}

static void test_every_integrator_is_whole_after_it_was_cancelled(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "leapfrog-dkd", "yoshida4", "rk4",
                                              "hermite4"};
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 20000});
    for (size_t k = 0; k < sizeof integrators / sizeof integrators[0]; k++) {
        kith_context *context = cpu_context(2);
        const kith_simulation_options options = {
            .dt = 1e-3,
            .forces.softening = 0.1,
            .integrator = integrators[k],
            .precision = k % 2 ? KITH_F32 : KITH_F64,
        };
        kith_simulation *cancelled = simulated(context, bodies, options);
        kith_simulation *undisturbed = simulated(context, bodies, options);
        assert_whole(context, cancelled, undisturbed, bodies);
        kith_simulation_free(cancelled);
        kith_simulation_free(undisturbed);
        kith_context_free(context);
    }
    kith_bodies_free(bodies);
}

static void test_an_ensemble_is_whole_after_it_was_cancelled(void **state)
{
    (void)state;
    enum { systems = 8000, count = 60 };
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = systems * count});
    const kith_simulation_options options = {.dt = 1e-4, .forces.softening = 0.1};
    kith_context *context = cpu_context(2);
    kith_simulation *each[2];
    for (int k = 0; k < 2; k++)
        assert_ok(kith_simulation_create_ensemble(context, &options, systems, bodies, &each[k]));
    assert_whole(context, each[0], each[1], bodies);
    kith_simulation_free(each[0]);
    kith_simulation_free(each[1]);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

struct creation {
    const kith_bodies *bodies;
    kith_simulation *simulation;
};

static kith_status create(kith_context *context, void *argument)
{
    struct creation *creation = argument;
    const kith_simulation_options options = {.dt = 1e-3};
    return kith_simulation_create(context, &options, creation->bodies, &creation->simulation);
}

static kith_status set_bodies(kith_context *context, void *argument)
{
    (void)context;
    const struct creation *creation = argument;
    return kith_simulation_set_bodies(creation->simulation, creation->bodies);
}

static void test_creation_and_diagnostics_stop(void **state)
{
    (void)state;
    struct creation creation = {made("plummer", (kith_initial_options){.count = 200000}), NULL};
    kith_context *context = cpu_context(1);
    assert_polled(context, create, &creation);
    assert_null(creation.simulation);
    kith_bodies_free((kith_bodies *)creation.bodies);

    kith_bodies *first = made("plummer", (kith_initial_options){.count = 20000});
    kith_bodies *second = made("plummer", (kith_initial_options){.count = 20000, .seed = 3});
    const kith_simulation_options options = {.dt = 1e-3};
    struct creation replaced = {second, simulated(context, first, options)};
    kith_simulation *direct = simulated(context, second, options);
    assert_ok(kith_simulation_step(replaced.simulation, 1)); /* the start's potentials are kept */
    assert_polled(context, diagnose, replaced.simulation);
    assert_polled(context, set_bodies, &replaced); /* has the bodies, and no forces yet */
    assert_ok(kith_simulation_step(replaced.simulation, 2));
    assert_ok(kith_simulation_step(direct, 2));
    kith_bodies *a = state_of(replaced.simulation, second), *b = state_of(direct, second);
    assert_same_state(a, b);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_bodies_free(first);
    kith_bodies_free(second);
    kith_simulation_free(replaced.simulation);
    kith_simulation_free(direct);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_integrator_is_whole_after_it_was_cancelled),
        cmocka_unit_test(test_an_ensemble_is_whole_after_it_was_cancelled),
        cmocka_unit_test(test_creation_and_diagnostics_stop),
    };
    return cmocka_run_group_tests_name("simulation_cancel", tests, NULL, NULL);
}
