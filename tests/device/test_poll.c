/* Calls without a context end when their caller's poll function says so. */

#include "testing.h"
#include "testing_files.h"

static bool stop_at_third(void *asked)
{
    return ++*(int *)asked == 3;
}

static void test_making_bodies_stops_when_asked(void **state)
{
    static const char *const kinds[] = {"plummer", "hernquist", "uniform-cube", "uniform-sphere",
                                        "disk",    "galaxies",  "lattice",      "lattice-walk"};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int asked = 2; /* immediately */
        const kith_initial_options options = {
            .count = 10000, .poll = stop_at_third, .poll_user = &asked};
        kith_bodies *bodies = NULL;
        assert_fails(kith_initial_make(kinds[k], &options, &bodies), KITH_CANCELLED, "cancelled");
        assert_null(bodies);
        assert_int_equal(asked, 3);
    }
}

static void test_a_long_walk_is_asked_about_again(void **state)
{
    int asked = 0;
    const kith_initial_options options = {
        .count = 15000, .poll = stop_at_third, .poll_user = &asked};
    kith_bodies *bodies = NULL;
    (void)state;
    assert_fails(kith_initial_make("self-avoiding-walk", &options, &bodies), KITH_CANCELLED,
                 "cancelled");
    assert_null(bodies);
    assert_int_equal(asked, 3);
}

static void test_text_is_left_as_it_was(void **state)
{
    static const char *const paths[] = {"a.csv", "a.xyz"};
    const kith_initial_options of_lattice = {.count = 20000};
    kith_bodies *bodies = NULL, *read = NULL;
    (void)state;
    assert_ok(kith_initial_make("lattice", &of_lattice, &bodies));
    for (size_t k = 0; k < 2; k++) {
        const char *path = in_files(paths[k]);
        int asked = 2;
        const kith_write_options write = {.poll = stop_at_third, .poll_user = &asked};
        assert_fails(kith_bodies_write(bodies, path, &write), KITH_CANCELLED, "cancelled");
        assert_int_not_equal(access(path, F_OK), 0);

        assert_ok(kith_bodies_write(bodies, path, NULL));
        asked = 2;
        const kith_read_options options = {.poll = stop_at_third, .poll_user = &asked};
        assert_fails(kith_bodies_read(path, &options, &read), KITH_CANCELLED, "cancelled");
        assert_null(read);
    }
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_making_bodies_stops_when_asked),
        cmocka_unit_test(test_a_long_walk_is_asked_about_again),
        cmocka_unit_test(test_text_is_left_as_it_was),
    };
    return cmocka_run_group_tests(tests, make_files_directory, remove_files_directory);
}
