/* Scenes of trajectories: what fits into them, and what they refuse. */

#include "testing.h"

#include <stdlib.h>
#include <unistd.h>

#include "simulating.h"

static char path[] = "/tmp/kith-scene-XXXXXX.h5";

static int make_run(void **state)
{
    (void)state;
    const int file = mkstemps(path, 3);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    kith_context *context = cpu_context(0);
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 2000});
    const kith_run_options options = {.simulation = {.dt = 0.05, .forces.softening = 0.1},
                                      .until = 0.5,
                                      .every = 1,
                                      .output = path};
    assert_ok(kith_run(context, &options, bodies, NULL));
    kith_bodies_free(bodies);
    kith_context_free(context);
    return 0;
}

static int remove_run(void **state)
{
    (void)state;
    return unlink(path);
}

/* The scene as text on the heap. */
static char *scene_of(const kith_scene_options *options, kith_scene_summary *summary)
{
    kith_trajectory *trajectory = NULL;
    char *text = NULL;
    size_t bytes = 0;
    assert_ok(kith_trajectory_open(path, &trajectory));
    FILE *stream = open_memstream(&text, &bytes);
    const kith_status status = kith_view_write_scene(options, trajectory, stream, summary);
    fclose(stream);
    kith_trajectory_close(trajectory);
    if (status == KITH_UNSUPPORTED)
        skip();
    assert_int_equal(status, KITH_OK);
    assert_int_equal(summary->bytes, bytes);
    return text;
}

static void test_a_scene_is_one_page_that_loads_nothing(void **state)
{
    (void)state;
    kith_scene_summary summary;
    char *text = scene_of(&(kith_scene_options){.title = "</script>"}, &summary);
    assert_memory_equal(text, "<!DOCTYPE html>", 15);
    assert_non_null(strstr(text, "default-src 'none'"));
    assert_null(strstr(text, "src=\""));
    assert_null(strstr(text, "rel=\"stylesheet\""));
    assert_non_null(strstr(text, "\\u003c/script\\u003e"));
    assert_int_equal(summary.bodies, 2000);
    assert_int_equal(summary.shown, 2000);
    assert_int_equal(summary.frames, 11);
    assert_int_equal(summary.bits, 16);
    free(text);
}

static void test_a_scene_is_no_larger_than_asked_for(void **state)
{
    (void)state;
    kith_scene_summary whole, coarse, thinned;
    free(scene_of(NULL, &whole));
    free(scene_of(&(kith_scene_options){.most_bytes = whole.bytes - 10000}, &coarse));
    assert_true(coarse.bytes <= whole.bytes - 10000);
    assert_true(coarse.bits < 16 && coarse.shown == 2000);
    free(scene_of(&(kith_scene_options){.most_bytes = whole.bytes - 60000}, &thinned));
    assert_true(thinned.bytes <= whole.bytes - 60000);
    assert_true(thinned.shown < 2000 && thinned.shown > 100);
}

static void test_some_frames_can_be_chosen(void **state)
{
    (void)state;
    kith_scene_summary summary;
    char *text = scene_of(&(kith_scene_options){.first_frame = 4, .frames = 3}, &summary);
    assert_int_equal(summary.frames, 3);
    assert_non_null(strstr(text, "\"times\":[0.2,0.25,0.3"));
    free(text);
}

static void test_frames_that_are_not_there_are_refused(void **state)
{
    (void)state;
    kith_trajectory *trajectory = NULL;
    assert_ok(kith_trajectory_open(path, &trajectory));
    assert_fails(kith_view_write_scene(&(kith_scene_options){.first_frame = 5, .frames = 7},
                                       trajectory, stdout, NULL),
                 KITH_INVALID_ARGUMENT, "frames 5 11");
    assert_fails(
        kith_view_write_scene(&(kith_scene_options){.first_frame = -1}, trajectory, stdout, NULL),
        KITH_INVALID_ARGUMENT, "frames -1");
    assert_fails(kith_view_write_scene(NULL, NULL, stdout, NULL), KITH_INVALID_ARGUMENT,
                 "trajectory");
    assert_fails(kith_view_write_scene(NULL, trajectory, NULL, NULL), KITH_INVALID_ARGUMENT,
                 "stream");
    kith_trajectory_close(trajectory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_scene_is_one_page_that_loads_nothing),
        cmocka_unit_test(test_a_scene_is_no_larger_than_asked_for),
        cmocka_unit_test(test_some_frames_can_be_chosen),
        cmocka_unit_test(test_frames_that_are_not_there_are_refused),
    };
    return cmocka_run_group_tests_name("trajectory_scene", tests, make_run, remove_run);
}
