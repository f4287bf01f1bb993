/* Calls that wait for the device can be cancelled: they return, and what is in flight goes on. What
 * is computed afterwards is right. */

#include "gpu_simulating.h"

#include "cancelling.h"

enum { many = 1 << 20 };

static kith_status sum_forces(kith_context *context, void *argument)
{
    const struct system *s = argument;
    return kith_forces_compute(context, NULL, NULL, PARTICLES(s->x, {"m", s->m}), s->a, s->phi);
}

static kith_status sum_rows(kith_context *context, void *argument)
{
    const struct system *s = argument;
    const kith_particles rows = {.positions = s->x};
    return kith_matrix_reduce(context, NULL, NULL, &rows, NULL, KITH_REDUCE_SUM, s->phi);
}

static kith_status find_nearest(kith_context *context, void *argument)
{
    const struct system *s = argument;
    const kith_pairs_options options = {.method = KITH_PAIRS_BRUTE_FORCE};
    kith_pairs *pairs = NULL;
    const kith_status status = kith_pairs_nearest(context, &options, s->x, NULL, 4, &pairs);
    kith_pairs_free(pairs);
    return status;
}

/* A small system right after a large one that was cancelled, which is still in flight. */
static void assert_computes(kith_context *context, struct system *small)
{
    const struct system expected = system_copy(small);
    const kith_forces_options options = {0};
    system_reference(&options, (struct system *)&expected);
    assert_ok(sum_forces(context, small));
    for (int64_t i = 0; i < small->n; i++)
        for (int64_t c = 0; c < 3; c++) {
            const double a = ((const double *)small->a.data)[3 * i + c];
            const double b = ((const double *)expected.a.data)[3 * i + c];
            assert_true(fabs(a - b) <= 1e-10 * (1 + fabs(b)));
        }
    system_free((struct system *)&expected);
}

static void test_calls_with_arrays_of_the_host_are_cancelled(void **state)
{
    static long_call *const calls[] = {sum_forces, sum_rows, find_nearest};
    struct system large = system_random(*state, KITH_F64, many, 3);
    struct system small = system_random(*state, KITH_F64, 500, 3);
    kith_context *context = new_gpu_context(NULL);
    for (size_t k = 0; k < sizeof calls / sizeof calls[0] && !test_is_quick(); k++) {
        kith_context_cancel(context);
        assert_fails(calls[k](context, &large), KITH_CANCELLED, "cancelled");
        kith_context_clear_cancel(context);
        assert_computes(context, &small);
    }
    if (!test_is_quick()) {
        assert_polled(context, sum_forces, &large);
        assert_computes(context, &small);
        assert_cancelled(context, sum_forces, &large);
        assert_computes(context, &small);
    }
    kith_context_free(context);
    system_free(&large);
    system_free(&small);
}

struct stepping {
    kith_simulation *simulation;
    int64_t steps;
};

/* A call only starts the steps; what is cancelled is to wait for them. */
static kith_status step_and_wait(kith_context *context, void *argument)
{
    const struct stepping *stepping = argument;
    const kith_status status = kith_simulation_step(stepping->simulation, stepping->steps);
    return status == KITH_OK ? kith_context_synchronize(context) : status;
}

static void test_a_simulation_is_whole_after_a_cancelled_wait(void **state)
{
    (void)state;
    if (test_is_quick())
        return;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 1 << 18});
    const kith_simulation_options options = {.dt = 1e-3, .forces.softening = 0.1};
    kith_context *context = new_gpu_context(NULL);
    kith_simulation *cancelled = simulated(context, bodies, options);
    kith_simulation *undisturbed = simulated(context, bodies, options);
    assert_ok(kith_context_synchronize(context));
    const struct stepping stepping = {cancelled, 10};
    assert_polled(context, step_and_wait, (void *)&stepping);
    assert_ok(kith_simulation_step(undisturbed, kith_simulation_steps(cancelled)));
    kith_bodies *a = state_of(cancelled, bodies), *b = state_of(undisturbed, bodies);
    assert_same_state(a, b);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(cancelled);
    kith_simulation_free(undisturbed);
    kith_context_free(context);
    kith_bodies_free(bodies);
}

int main(void)
{
    if (gpu_is_absent("cuda_cancel"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_cancel");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_calls_with_arrays_of_the_host_are_cancelled, &random),
        cmocka_unit_test(test_a_simulation_is_whole_after_a_cancelled_wait),
    };
    return cmocka_run_group_tests_name("cuda_cancel", tests, NULL, NULL);
}
