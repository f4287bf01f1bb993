/* Frames on the GPU: taken while the simulation goes on, they are what it was before. */

#include "gpu_simulating.h"

#include "simulation/frame.h"

static void assert_same_frame(struct frame *frame, kith_simulation *expected)
{
    const int64_t steps = test_is_quick() ? 1 : 40;
    const int64_t systems = kith_simulation_systems(expected);
    const size_t bytes = sizeof(kith_diagnostics) * (size_t)systems;
    kith_diagnostics *a = malloc(bytes), *b = malloc(bytes);
    kith_bodies *now = NULL, *then = NULL;
    assert_non_null(a);
    assert_non_null(b);
    assert_ok(
        kith_bodies_create(expected->count * systems, expected->dimensions, KITH_VELOCITY, &now));
    assert_ok(frame_begin(frame, now, a));
    assert_ok(kith_simulation_step(frame->simulation, steps));
    assert_ok(frame_finish(frame, now, a));
    then = state_of(expected, now);
    assert_ok(kith_simulation_diagnose_systems(expected, 0, systems, b));
    assert_same_state(now, then);
    assert_memory_equal(a, b, bytes);
    assert_ok(kith_simulation_step(expected, steps));
    kith_bodies_free(now);
    kith_bodies_free(then);
    free(a);
    free(b);
}

static void test_a_frame_is_the_state_from_which_the_gpu_goes_on(void **state)
{
    static const struct simulated_case cases[] = {
        {KITH_F64, 6, 0, 3, common, "leapfrog"},     {KITH_F32, 1000, 0, 2, of_bodies, "leapfrog"},
        {KITH_F32, 6, 3000, 3, of_bodies, "rk4"},    {KITH_F64, 40, 7, 2, common, "leapfrog"},
        {KITH_F64, 100, 0, 3, common, "hermite4"},   {KITH_F64, 1, 0, 3, common, "leapfrog"},
        {KITH_F64, 0, 0, 3, common, "leapfrog"},     {KITH_F64, 9001, 0, 3, common, "pefrl"},
        {KITH_F32, 12000, 0, 3, common, "leapfrog"},
    };
    const size_t count = sizeof cases / sizeof cases[0] - (test_is_quick() ? 2 : 0);
    kith_context *gpu = new_gpu_context(NULL);
    for (size_t k = 0; k < count; k++) {
        kith_bodies *bodies = random_bodies(*state, &cases[k]);
        kith_simulation *simulation = begin(gpu, &cases[k], bodies);
        kith_simulation *expected = begin(gpu, &cases[k], bodies);
        struct frame frame = {0};
        assert_ok(frame_allocate(simulation, &frame));
        for (int time = 0; time < (test_is_quick() ? 1 : 3); time++)
            assert_same_frame(&frame, expected);
        frame_free(&frame);
        kith_simulation_free(simulation);
        kith_simulation_free(expected);
        kith_bodies_free(bodies);
    }
    kith_context_free(gpu);
}

static void test_times_are_those_of_the_stream(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(NULL);
    const struct device_services *services = gpu->services;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 5000});
    kith_simulation *simulation =
        simulated(gpu, bodies, (kith_simulation_options){.dt = 1e-3, .forces.softening = 0.05});
    double little = -1, much = -1;
    assert_ok(services->mark_time(gpu, 0));
    assert_ok(services->mark_time(gpu, 1));
    assert_ok(kith_context_synchronize(gpu));
    assert_ok(services->elapsed_seconds(gpu, &little));
    assert_ok(services->mark_time(gpu, 0));
    assert_ok(kith_simulation_step(simulation, 20));
    assert_ok(services->mark_time(gpu, 1));
    assert_ok(kith_context_synchronize(gpu));
    assert_ok(services->elapsed_seconds(gpu, &much));
    assert_true(little >= 0);
    assert_true(much > little);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_frame"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_frame");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_a_frame_is_the_state_from_which_the_gpu_goes_on, &random),
        cmocka_unit_test(test_times_are_those_of_the_stream),
    };
    return cmocka_run_group_tests_name("cuda_frame", tests, NULL, NULL);
}
