#include "testing.h"

#include "simulating.h"

static void test_without_hdf5_trajectories_say_so(void **state)
{
    (void)state;
    kith_trajectory *trajectory = NULL;
    assert_fails(kith_trajectory_open("run.h5", &trajectory), KITH_UNSUPPORTED, "libhdf5-dev");
    assert_null(trajectory);
}

static void test_without_hdf5_runs_work_but_keep_nothing(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("lagrange", (kith_initial_options){0});
    kith_run_options options = {.simulation = {.dt = 0.1}, .until = 1, .output = "run.h5"};
    assert_fails(kith_run(context, &options, bodies, NULL), KITH_UNSUPPORTED, "libhdf5-dev");
    options.resume = true;
    assert_fails(kith_run(context, &options, bodies, NULL), KITH_UNSUPPORTED, "libhdf5-dev");
    options.resume = false;
    options.output = NULL;
    kith_run_summary summary;
    assert_ok(kith_run(context, &options, bodies, &summary));
    assert_int_equal(summary.steps, 10);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_without_libmicrohttpd_a_view_says_so(void **state)
{
    (void)state;
    kith_bodies *bodies = made("lagrange", (kith_initial_options){0});
    kith_view *view = NULL;
    const kith_status status = kith_view_open(NULL, bodies, &view);
    if (status != KITH_OK)
        assert_true(has_fields(kith_error_message(), "libmicrohttpd-dev"));
    kith_view_close(view);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_hdf5_trajectories_say_so),
        cmocka_unit_test(test_without_hdf5_runs_work_but_keep_nothing),
        cmocka_unit_test(test_without_libmicrohttpd_a_view_says_so),
    };
    return cmocka_run_group_tests_name("without_hdf5", tests, NULL, NULL);
}
