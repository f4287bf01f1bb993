#include "simulating.h"

static const char *const precisions[] = {[KITH_F64] = "double", [KITH_F32] = "float"};

static void test_steps_split_over_calls_give_the_same_bits(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("six", (kith_initial_options){.seed = 1});
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    for (int64_t k = 0; k < 2 * count; k++) {
        if (integrators[k / 2].adaptive || integrators[k / 2].central)
            continue; /* test_ias15.c, test_whfast.c */
        const kith_simulation_options options = {.dt = 1e-3,
                                                 .forces.softening = 0.1,
                                                 .integrator = integrators[k / 2].name,
                                                 .precision = k % 2 ? KITH_F32 : KITH_F64};
        kith_simulation *whole = simulated(context, bodies, options);
        kith_simulation *split = simulated(context, bodies, options);
        assert_ok(kith_simulation_run(whole, 0.0995));
        assert_ok(kith_simulation_step(split, 1));
        assert_ok(kith_simulation_step(split, 0));
        for (int piece = 0; piece < 7; piece++)
            assert_ok(kith_simulation_step(split, piece));
        assert_ok(kith_simulation_run(split, 0.0995));
        kith_bodies *a = state_of(whole, bodies), *b = state_of(split, bodies);
        assert_same_state(a, b);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_simulation_free(whole);
        kith_simulation_free(split);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* The state travels through a checkpoint into a simulation made afresh, twice: after whole steps
 * and after a short last step. */
static void test_a_restored_simulation_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("six", (kith_initial_options){.seed = 2});
    bodies->time = 5;
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    for (int64_t k = 0; k < 4 * count; k++) {
        if (integrators[k / 4].adaptive || integrators[k / 4].central)
            continue; /* test_ias15.c, test_whfast.c */
        const kith_dtype precision = k % 2 ? KITH_F32 : KITH_F64;
        const kith_simulation_options options = {.dt = 1e-3,
                                                 .forces.softening = 0.1,
                                                 .integrator = integrators[k / 4].name,
                                                 .precision = precision};
        kith_simulation *first = simulated(context, bodies, options);
        kith_simulation *second = simulated(context, bodies, options);
        assert_ok(kith_simulation_run(first, k % 4 < 2 ? 5.05 : 5.0503));
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_save(first, &checkpoint));
        assert_ok(kith_simulation_restore(second, &checkpoint));
        assert_ok(kith_simulation_run(first, 5.1));
        assert_ok(kith_simulation_run(second, 5.1));
        kith_bodies *a = state_of(first, bodies), *b = state_of(second, bodies);
        assert_same_state(a, b);
        assert_int_equal(kith_simulation_steps(first), kith_simulation_steps(second));

        kith_checkpoint end_of_first = {0};
        assert_ok(kith_simulation_save(first, &end_of_first));
        assert_ok(kith_simulation_save(second, &checkpoint));
        if (end_of_first.bytes != checkpoint.bytes ||
            memcmp(end_of_first.state, checkpoint.state, (size_t)checkpoint.bytes) != 0 ||
            end_of_first.evaluations != checkpoint.evaluations)
            fail_msg("%s in %s: the checkpoints differ", integrators[k / 4].name,
                     precisions[precision]);
        kith_checkpoint_free(&end_of_first);
        kith_checkpoint_free(&checkpoint);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_simulation_free(first);
        kith_simulation_free(second);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_a_checkpoint_holds_the_state_in_the_units_of_the_caller(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("six", (kith_initial_options){0});
    kith_simulation *simulation = simulated(context, bodies, (kith_simulation_options){.dt = 1});
    kith_checkpoint checkpoint = {0};
    assert_ok(kith_simulation_save(simulation, &checkpoint));
    assert_int_equal(checkpoint.arrays, 5);
    assert_int_equal(checkpoint.bytes, 5 * 6 * 3 * 8);
    assert_memory_equal(checkpoint.state, bodies->position, 18 * sizeof(double));
    assert_memory_equal((double *)checkpoint.state + 18, bodies->velocity, 18 * sizeof(double));
    kith_checkpoint_free(&checkpoint);
    assert_null(checkpoint.state);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_a_checkpoint_of_another_simulation_is_refused(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *six = made("six", (kith_initial_options){0});
    kith_bodies *two = made("two-body", (kith_initial_options){0});
    kith_simulation *saved = simulated(context, six, (kith_simulation_options){.dt = 1});
    const struct {
        const kith_bodies *bodies;
        kith_simulation_options options;
    } others[] = {{two, {.dt = 1}},
                  {six, {.dt = 1, .integrator = "hermite4"}},
                  {six, {.dt = 1, .precision = KITH_F32}}};
    kith_checkpoint checkpoint = {0};
    assert_ok(kith_simulation_save(saved, &checkpoint));
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        kith_simulation *other = simulated(context, others[k].bodies, others[k].options);
        assert_fails(kith_simulation_restore(other, &checkpoint), KITH_INVALID_ARGUMENT,
                     "integrator");
        kith_simulation_free(other);
    }
    assert_fails(kith_simulation_get_bodies(saved, two), KITH_INVALID_ARGUMENT, "2");
    kith_checkpoint_free(&checkpoint);
    kith_simulation_free(saved);
    kith_bodies_free(six);
    kith_bodies_free(two);
    kith_context_free(context);
}

static void test_a_cancelled_simulation_stops_whole_and_goes_on_later(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("six", (kith_initial_options){0});
    const kith_simulation_options options = {.dt = 1e-3, .forces.softening = 0.1};
    kith_simulation *simulation = simulated(context, bodies, options);
    kith_simulation *undisturbed = simulated(context, bodies, options);
    assert_ok(kith_simulation_step(simulation, 10));
    kith_context_cancel(context);
    assert_fails(kith_simulation_step(simulation, 10), KITH_CANCELLED, "cancelled");
    assert_fails(kith_simulation_run(simulation, 0.0205), KITH_CANCELLED, "cancelled");
    assert_int_equal(kith_simulation_steps(simulation), 10);
    kith_context_clear_cancel(context);
    assert_ok(kith_simulation_run(simulation, 0.0205));
    assert_ok(kith_simulation_run(undisturbed, 0.0205));
    kith_bodies *a = state_of(simulation, bodies), *b = state_of(undisturbed, bodies);
    assert_same_state(a, b);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(simulation);
    kith_simulation_free(undisturbed);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_split_over_calls_give_the_same_bits),
        cmocka_unit_test(test_a_restored_simulation_goes_on_with_the_same_bits),
        cmocka_unit_test(test_a_checkpoint_holds_the_state_in_the_units_of_the_caller),
        cmocka_unit_test(test_a_checkpoint_of_another_simulation_is_refused),
        cmocka_unit_test(test_a_cancelled_simulation_stops_whole_and_goes_on_later),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
