#include "testing.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "testing_files.h"

#include "core/numbers.h"
#include "io/output.h"

static const char *const writable[] = {"a.csv", "a.xyz", "a.npy", "a.tipsy"};

enum { writable_count = sizeof writable / sizeof writable[0] };

static kith_bodies *some_bodies(int64_t count)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, 0, &bodies));
    for (int64_t k = 0; k < 3 * count; k++)
        bodies->position[k] = (double)k + 0.5;
    return bodies;
}

static void test_formats_are_a_table(void **state)
{
    (void)state;
    int64_t count = 0;
    const kith_format *formats = kith_format_list(&count);
    assert_int_equal(count, 6);
    for (int64_t k = 0; k < count; k++) {
        const bool needs_hdf5 = strstr(formats[k].description, "HDF5") != NULL;
        const bool available = !needs_hdf5 || kith_build_has_hdf5();
        assert_int_equal(formats[k].reads, available);
        assert_int_equal(formats[k].writes, available);
        assert_true(available == !formats[k].lacks);
    }
}

static void test_formats_take_none_and_one(void **state)
{
    (void)state;
    for (int64_t count = 0; count <= 1; count++)
        for (int k = 0; k < writable_count; k++) {
            kith_bodies *bodies = some_bodies(count);
            assert_ok(kith_bodies_write(bodies, in_files(writable[k]), NULL));
            kith_bodies *found = read_file(in_files(writable[k]));
            assert_int_equal(found->count, count);
            assert_int_equal(found->dimensions, 3);
            kith_bodies_free(found);
            kith_bodies_free(bodies);
        }
}

static void test_formats_go_by_extension_or_by_name(void **state)
{
    (void)state;
    const kith_read_options as_csv = {.format = "CSV"};
    const kith_read_options as_nothing = {.format = "gif"};
    kith_bodies *bodies = NULL;
    const char *path = file_of_text("data.abc", "x,y\n1,2\n");
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_INVALID_ARGUMENT, "extension");
    assert_true(has_fields(kith_error_message(), "format"));
    assert_null(strstr(kith_error_message(), "--")); /* options differ between commands */
    assert_non_null(strstr(kith_error_message(), path));
    assert_fails(kith_bodies_read(path, &as_nothing, &bodies), KITH_INVALID_ARGUMENT, "'gif'");
    assert_ok(kith_bodies_read(path, &as_csv, &bodies));

    const kith_write_options to_npy = {.format = "npy"};
    assert_ok(kith_bodies_write(bodies, in_files("data.csv"), &to_npy));
    kith_bodies_free(bodies);
    assert_fails(kith_bodies_read(in_files("data.csv"), NULL, &bodies), KITH_BAD_FORMAT, "");
    kith_bodies_free(read_file(file_of_text("UPPER.CSV", "x,y\n1,2\n")));
    assert_fails(kith_bodies_read("./no.dots/csv", NULL, &bodies), KITH_IO_ERROR, "/no.dots/csv");
    assert_int_equal(mkdir(in_files("some.dots"), 0777), 0);
    path = file_of_text("some.dots/csv", "x,y\n1,2\n");
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_INVALID_ARGUMENT, "format");
    remove(path);
    rmdir(in_files("some.dots"));
    assert_null(bodies);
}

static void test_formats_without_hdf5_say_so(void **state)
{
    (void)state;
    if (kith_build_has_hdf5())
        skip();
    kith_bodies *bodies = some_bodies(1);
    unsigned dropped = 0;
    assert_fails(kith_bodies_write(bodies, in_files("a.h5"), NULL), KITH_UNSUPPORTED, "HDF5");
    assert_fails(kith_format_drops(bodies, in_files("a.hdf5"), NULL, &dropped), KITH_UNSUPPORTED,
                 "HDF5");
    kith_bodies_free(bodies);
}

static void test_formats_say_which_columns_they_drop(void **state)
{
    (void)state;
    enum {
        all = KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING | KITH_RADIUS | KITH_ID |
              KITH_NAME
    };
    static const struct {
        const char *path;
        unsigned in_3d, in_2d;
    } cases[] = {{"a.csv", 0, 0},
                 {"a.xyz", 0, 0},
                 {"a.npy", all & ~(unsigned)KITH_MASS, all},
                 {"a.tip", KITH_CHARGE | KITH_RADIUS | KITH_ID | KITH_NAME,
                  KITH_CHARGE | KITH_RADIUS | KITH_ID | KITH_NAME}};
    for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
        kith_bodies *bodies = NULL;
        assert_ok(kith_bodies_create(1, dimensions, all, &bodies));
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            unsigned dropped = 0;
            assert_ok(kith_format_drops(bodies, cases[k].path, NULL, &dropped));
            assert_int_equal(dropped, dimensions == 2 ? cases[k].in_2d : cases[k].in_3d);
            bodies->has_cell = true;
            assert_ok(kith_format_drops(bodies, cases[k].path, NULL, &dropped));
            assert_int_equal(dropped & KITH_CELL, k == 1 ? 0 : KITH_CELL); /* k = 1: a.xyz */
            bodies->has_cell = false;
        }
        kith_bodies_free(bodies);
    }
}

static void test_a_file_that_cannot_be_read_is_named_with_the_reason(void **state)
{
    (void)state;
    mkdir(in_files("directory.csv"), 0777);
    for (int k = 0; k < writable_count; k++) {
        char name[64];
        kith_bodies *bodies = NULL;
        snprintf(name, sizeof name, "missing-%s", writable[k]);
        const char *path = in_files(name);
        assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_IO_ERROR, "directory");
        assert_non_null(strstr(kith_error_message(), path));
        const kith_read_options options = {.format = strrchr(name, '.') + 1};
        assert_fails(kith_bodies_read(in_files("directory.csv"), &options, &bodies), KITH_IO_ERROR,
                     "directory.csv");
        assert_null(bodies);
    }
}

static void test_a_message_is_one_line_whatever_the_file_says(void **state)
{
    (void)state;
    assert_text_refused("controls.csv", "x,y\n1,\033[2J\v\n", "y '\\x1b[2J\\x0b'");
}

static void test_a_message_is_one_line_whatever_the_file_is_called(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_fails(kith_bodies_read("no\nsuch\033.csv", NULL, &bodies), KITH_IO_ERROR,
                 "no\\nsuch\\x1b.csv");
}

static void test_a_file_of_one_frame_has_no_second(void **state)
{
    (void)state;
    const char *path = file_of_text("frame.csv", "x,y\n1,2\n");
    for (int64_t frame = -2; frame <= 2; frame++) {
        kith_bodies *bodies = NULL;
        const kith_read_options options = {.frame = frame};
        if (frame == -2 || frame == 2)
            assert_fails(kith_bodies_read(path, &options, &bodies), KITH_INVALID_ARGUMENT, "");
        else
            assert_ok(kith_bodies_read(path, &options, &bodies));
        kith_bodies_free(bodies);
    }
}

static void test_numbers_that_are_not_finite_are_not_written(void **state)
{
    (void)state;
    kith_bodies *bodies = some_bodies(2);
    bodies->position[4] = (double)INFINITY;
    const char *path = file_of_text("old.csv", "old");
    assert_fails(kith_bodies_write(bodies, path, NULL), KITH_INVALID_ARGUMENT, "body 1");
    bodies->position[4] = 0;
    bodies->time = (double)NAN;
    assert_fails(kith_bodies_write(bodies, path, NULL), KITH_INVALID_ARGUMENT, "nan");
    bodies->time = 0;
    bodies->has_cell = true;
    bodies->cell[5] = (double)NAN;
    assert_fails(kith_bodies_write(bodies, path, NULL), KITH_INVALID_ARGUMENT, "2 1 nan");
    assert_content(path, "old");
    kith_bodies_free(bodies);
}

static void test_a_full_device_is_an_error(void **state)
{
    (void)state;
    kith_bodies *bodies = some_bodies(10000);
    for (int k = 0; k < writable_count; k++) {
        const kith_write_options options = {.format = strrchr(writable[k], '.') + 1};
        assert_fails(kith_bodies_write(bodies, "/dev/full", &options), KITH_IO_ERROR, "/dev/full");
    }
    kith_bodies_free(bodies);
}

/* A limit on the size of files stands for a full disk. */
static void test_a_write_that_fails_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    kith_bodies *bodies = some_bodies(10000);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (int k = 0; k < writable_count; k++) {
        const char *path = file_of_text(writable[k], "old");
        const int files = files_in_directory();
        const struct rlimit small = {5000, before.rlim_max};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        const kith_status status = kith_bodies_write(bodies, path, NULL);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, KITH_IO_ERROR);
        assert_true(has_fields(kith_error_message(), "File too large"));
        assert_non_null(strstr(kith_error_message(), path));
        assert_content(path, "old");
        assert_int_equal(files_in_directory(), files);
    }
    kith_bodies_free(bodies);
}

static void test_a_directory_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    kith_bodies *bodies = some_bodies(1);
    assert_fails(kith_bodies_write(bodies, in_files("nowhere/a.csv"), NULL), KITH_IO_ERROR,
                 "directory");
    assert_true(has_fields(kith_error_message(), "No such file or directory"));
    file_of_text("file", "");
    assert_fails(kith_bodies_write(bodies, in_files("file/a.csv"), NULL), KITH_IO_ERROR,
                 "directory");
    mkdir(in_files("directory.csv"), 0777);
    assert_fails(kith_bodies_write(bodies, in_files("directory.csv"), NULL), KITH_IO_ERROR,
                 "directory.csv");
    if (geteuid() != 0) {
        mkdir(in_files("closed"), 0500);
        assert_fails(kith_bodies_write(bodies, in_files("closed/a.csv"), NULL), KITH_IO_ERROR,
                     "closed/': Permission denied");
        const char *path = file_of_text("closed.csv", "old");
        chmod(path, 0400);
        assert_fails(kith_bodies_write(bodies, path, NULL), KITH_IO_ERROR, "closed.csv");
    }
    kith_bodies_free(bodies);
}

static void test_a_new_file_takes_the_place_of_the_old_one(void **state)
{
    (void)state;
    kith_bodies *bodies = some_bodies(1);
    const char *target = file_of_text("target.csv", "old");
    const char *link = in_files("link.csv");
    chmod(target, 0640);
    assert_int_equal(symlink("target.csv", link), 0);
    const int files = files_in_directory();
    assert_ok(kith_bodies_write(bodies, link, NULL));
    assert_int_equal(files_in_directory(), files);
    assert_content(target, "x,y,z\n0.5,1.5,2.5\n");
    struct stat found;
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
    assert_int_equal(stat(target, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);
    kith_bodies_free(bodies);
}

/* Two simultaneous outputs, and what another process with this one's number may have left. */
static void test_temporary_names_that_are_taken_are_passed_over(void **state)
{
    (void)state;
    char taken[80];
    kith_output *output = NULL;
    snprintf(taken, sizeof taken, ".kith-%ld-0.tmp", (long)getpid());
    FILE *file = fopen(in_files(taken), "wb");
    assert_non_null(file);
    fputs("another's", file);
    fclose(file);
    assert_ok(kith_output_open(in_files("passed_over.csv"), &output));
    fputs("whole", kith_output_stream(output));
    assert_ok(kith_output_finish(output));
    char text[16] = "";
    file = fopen(in_files(taken), "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), 9);
    fclose(file);
    assert_string_equal(text, "another's");
    assert_int_equal(remove(in_files(taken)), 0);
}

static void test_a_discarded_output_leaves_nothing(void **state)
{
    (void)state;
    const int files = files_in_directory();
    kith_output *output = NULL;
    assert_ok(kith_output_open(in_files("discarded.csv"), &output));
    fputs("half", kith_output_stream(output));
    kith_output_discard(output);
    assert_int_equal(files_in_directory(), files);
    kith_output_discard(NULL);
}

static void test_an_output_that_cannot_get_its_name_leaves_nothing(void **state)
{
    (void)state;
    kith_output *output = NULL;
    const char *path = in_files("taken.csv");
    const int files = files_in_directory();
    assert_ok(kith_output_open(path, &output));
    assert_int_equal(mkdir(path, 0777), 0);
    assert_fails(kith_output_finish(output), KITH_IO_ERROR, "taken.csv");
    assert_int_equal(files_in_directory(), files + 1);
}

static void test_a_pipe_is_written_in_place(void **state)
{
    (void)state;
    const char *path = in_files("pipe.csv");
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    kith_bodies *bodies = some_bodies(1);
    assert_ok(kith_bodies_write(bodies, path, NULL));
    char text[64] = {0};
    assert_int_equal(read(reader, text, sizeof text - 1), 18);
    assert_string_equal(text, "x,y,z\n0.5,1.5,2.5\n");
    close(reader);
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    assert_true(S_ISFIFO(found.st_mode));
    kith_bodies_free(bodies);
}

/* As one in /dev/shm. */
static void test_an_old_file_below_a_link_of_the_system_is_replaced(void **state)
{
    (void)state;
    char path[2 * path_bytes];
    kith_bodies *bodies = some_bodies(1);
    snprintf(path, sizeof path, "/proc/self/cwd/%s", in_files("twice.csv"));
    assert_ok(kith_bodies_write(bodies, path, NULL));
    assert_ok(kith_bodies_write(bodies, path, NULL));
    assert_content(in_files("twice.csv"), "x,y,z\n0.5,1.5,2.5\n");
    kith_bodies_free(bodies);
}

static void test_an_open_file_is_written_to_through_its_descriptor(void **state)
{
    (void)state;
    const char *path = file_of_text("open.csv", "# mine\n");
    const int descriptor = open(path, O_WRONLY | O_APPEND);
    assert_true(descriptor >= 0);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    kith_bodies *bodies = some_bodies(1);
    assert_ok(kith_bodies_write(bodies, link, &(kith_write_options){.format = "csv"}));
    close(descriptor);
    assert_content(path, "# mine\nx,y,z\n0.5,1.5,2.5\n");
    kith_bodies_free(bodies);
}

static void test_the_decimal_point_is_a_point_in_every_locale(void **state)
{
    (void)state;
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *found = NULL;
    for (int k = 0; k < 4 && !found; k++)
        found = setlocale(LC_ALL, with_comma[k]);
    if (!found)
        skip();
    kith_bodies *bodies = some_bodies(1);
    assert_ok(kith_bodies_write(bodies, in_files("locale.csv"), NULL));
    kith_bodies *again = read_file(in_files("locale.csv"));
    setlocale(LC_ALL, "C");
    assert_content(in_files("locale.csv"), "x,y,z\n0.5,1.5,2.5\n");
    assert_same_bodies(again, bodies);
    kith_bodies_free(again);
    kith_bodies_free(bodies);
}

static void test_reals_read_back_to_the_same_bits(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("reals");
    for (int k = 0; k < 100000; k++) {
        double value = 0;
        uint64_t bits = (uint64_t)random_uniform(&numbers, 0, 0x1p53) << 11;
        bits |= (uint64_t)random_uniform(&numbers, 0, 2048);
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[real_bytes];
        double again = 0;
        format_real(value, text);
        assert_true(parse_real(text, &again));
        assert_memory_equal(&again, &value, sizeof value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_temporary_names_that_are_taken_are_passed_over),
        cmocka_unit_test(test_formats_are_a_table),
        cmocka_unit_test(test_formats_take_none_and_one),
        cmocka_unit_test(test_formats_go_by_extension_or_by_name),
        cmocka_unit_test(test_formats_without_hdf5_say_so),
        cmocka_unit_test(test_formats_say_which_columns_they_drop),
        cmocka_unit_test(test_a_file_that_cannot_be_read_is_named_with_the_reason),
        cmocka_unit_test(test_a_message_is_one_line_whatever_the_file_says),
        cmocka_unit_test(test_a_message_is_one_line_whatever_the_file_is_called),
        cmocka_unit_test(test_a_file_of_one_frame_has_no_second),
        cmocka_unit_test(test_numbers_that_are_not_finite_are_not_written),
        cmocka_unit_test(test_a_full_device_is_an_error),
        cmocka_unit_test(test_a_write_that_fails_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(test_a_directory_that_cannot_be_written_is_named),
        cmocka_unit_test(test_a_new_file_takes_the_place_of_the_old_one),
        cmocka_unit_test(test_a_discarded_output_leaves_nothing),
        cmocka_unit_test(test_an_output_that_cannot_get_its_name_leaves_nothing),
        cmocka_unit_test(test_a_pipe_is_written_in_place),
        cmocka_unit_test(test_an_old_file_below_a_link_of_the_system_is_replaced),
        cmocka_unit_test(test_an_open_file_is_written_to_through_its_descriptor),
        cmocka_unit_test(test_the_decimal_point_is_a_point_in_every_locale),
        cmocka_unit_test(test_reals_read_back_to_the_same_bits),
    };
    return cmocka_run_group_tests_name("formats", tests, make_files_directory,
                                       remove_files_directory);
}
