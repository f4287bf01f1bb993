/* Bodies read some rows at a time are those of kith_bodies_read. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/bodies.h"
#include "io/stream.h"
#include "kith/io.h"
#include "random_numbers.h"
#include "streaming.h"

static char folder[] = "/tmp/kith-stream-XXXXXX";

static const char *file(const char *name)
{
    static char path[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static kith_bodies *some(struct random_numbers *numbers, int64_t count, unsigned columns)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, columns, &bodies));
    for (int64_t i = 0; i < count * 3; i++)
        bodies->position[i] = random_uniform(numbers, -1, 1);
    for (int64_t i = 0; i < count * 3 && bodies->velocity; i++)
        bodies->velocity[i] = random_uniform(numbers, -1, 1);
    for (int64_t i = 0; i < count && bodies->mass; i++)
        bodies->mass[i] = random_uniform(numbers, 0, 1);
    for (int64_t i = 0; i < count && bodies->id; i++)
        bodies->id[i] = 7 * i + 3;
    /* Names of species and types, whose bodies Tipsy and Gadget files keep together. */
    static const char *const names[] = {"star", "b0", "gas", "stars", "b1", "dark", "disk"};
    for (int64_t i = 0; i < count && bodies->name; i++)
        snprintf(bodies->name[i], KITH_NAME_BYTES, "%s", names[i % 7]);
    return bodies;
}

static void test_rows_of_every_format_are_those_of_a_reading_at_once(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("streams");
    const unsigned columns = KITH_VELOCITY | KITH_MASS | KITH_ID;
    static const int64_t counts[] = {0, 1, 2, 1000, 20001, 700};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        kith_bodies *bodies = some(&numbers, counts[k], columns | (k < 5 ? KITH_NAME : 0));
        bodies->time = 3;
        static const char *const names[] = {"a.csv", "a.npy", "a.xyz", "a.tipsy", "a.h5", "a.hdf5"};
        for (size_t f = 0; f < sizeof names / sizeof names[0]; f++) {
            kith_status status = kith_bodies_write(bodies, file(names[f]), NULL);
            if (status == KITH_UNSUPPORTED)
                continue; /* a build without HDF5 */
            assert_ok(status);
            if (counts[k] > 0)
                check_rows_of_file(&numbers, file(names[f]));
        }
        kith_bodies_free(bodies);
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

/* Comments and blank lines are not rows; a bad one is found when it is read. */
static void test_lines_are_counted_and_errors_name_them(void **state)
{
    (void)state;
    struct bodies_stream stream;
    kith_bodies *rows = NULL;
    write_text(file("c.csv"), "# first\n\nx,y\n1,2\n\n# between\n3,4\n5,oops\n6,7");
    assert_ok(bodies_stream_open(file("c.csv"), NULL, &stream));
    assert_int_equal(stream.count, 4);
    assert_ok(kith_bodies_create(2, 2, 0, &rows));
    assert_ok(bodies_stream_next(&stream, rows));
    assert_true(rows->position[3] == 4);
    assert_int_equal(bodies_stream_next(&stream, rows), KITH_BAD_FORMAT);
    assert_non_null(strstr(kith_error_message(), "c.csv: line 8: column y is 'oops'"));
    bodies_stream_close(&stream);
    kith_bodies_free(rows);

    write_text(file("e.csv"), "# nothing\n");
    assert_int_equal(bodies_stream_open(file("e.csv"), NULL, &stream), KITH_BAD_FORMAT);
    bodies_stream_close(&stream);
    assert_int_equal(bodies_stream_open(file("none.csv"), NULL, &stream), KITH_IO_ERROR);
    bodies_stream_close(&stream);
}

/* The last frame, whose first atoms have no species; momenta are divided by masses. */
static void test_rows_of_a_frame_of_several(void **state)
{
    (void)state;
    static const char text[] = "1\nfirst\nAr 1 2 3\n"
                               "3\nProperties=species:S:1:pos:R:3:masses:R:1:momenta:R:3\n"
                               "X 1 0 0 2 4 0 0\nX 0 1 0 4 0 8 0\nHe 0 0 1 8 0 0 8\n";
    struct random_numbers numbers = random_numbers_begin("frames");
    struct bodies_stream stream;
    kith_bodies *rows = NULL;
    write_text(file("f.xyz"), text);
    check_rows_of_file(&numbers, file("f.xyz"));
    assert_ok(bodies_stream_open(file("f.xyz"), NULL, &stream));
    assert_ok(kith_bodies_create(3, 3, kith_bodies_columns(stream.like), &rows));
    assert_ok(bodies_stream_next(&stream, rows));
    assert_true(rows->velocity[0] == 2 && rows->velocity[4] == 2 && rows->velocity[8] == 1);
    assert_string_equal(rows->name[2], "He");
    bodies_stream_close(&stream);
    kith_bodies_free(rows);

    write_text(file("f.xyz"), "3\n\nX 1 2 3\nX 1 2 3\nX 1 oops 3\n");
    assert_int_equal(bodies_stream_open(file("f.xyz"), NULL, &stream), KITH_BAD_FORMAT);
    assert_non_null(strstr(kith_error_message(), "line 5"));
    bodies_stream_close(&stream);
}

/* A number that is not finite, in a later piece; more data than the header states. */
static void test_numbers_of_later_rows_are_validated(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("bad rows");
    struct bodies_stream stream;
    kith_bodies *bodies = some(&numbers, 100, 0), *rows = NULL;
    assert_ok(kith_bodies_write(bodies, file("bad.npy"), NULL));
    FILE *npy = fopen(file("bad.npy"), "r+b");
    const double nan_value = (double)NAN;
    assert_int_equal(fseek(npy, -(long)sizeof(double) * 3, SEEK_END), 0);
    fwrite(&nan_value, sizeof nan_value, 1, npy);
    fclose(npy);
    assert_ok(bodies_stream_open(file("bad.npy"), NULL, &stream));
    assert_ok(kith_bodies_create(50, 3, 0, &rows));
    assert_ok(bodies_stream_next(&stream, rows));
    assert_int_equal(bodies_stream_next(&stream, rows), KITH_BAD_FORMAT);
    assert_non_null(strstr(kith_error_message(), "bad.npy"));
    assert_non_null(strstr(kith_error_message(), "position"));
    assert_non_null(strstr(kith_error_message(), " 99 "));
    bodies_stream_close(&stream);

    assert_ok(kith_bodies_write(bodies, file("long.npy"), NULL));
    npy = fopen(file("long.npy"), "ab");
    fputc(0, npy);
    fclose(npy);
    kith_status status = bodies_stream_open(file("long.npy"), NULL, &stream);
    if (status == KITH_OK)
        status = bodies_stream_next(&stream, rows);
    if (status == KITH_OK)
        status = bodies_stream_next(&stream, rows);
    assert_int_equal(status, KITH_BAD_FORMAT);
    bodies_stream_close(&stream);
    kith_bodies_free(rows);
    kith_bodies_free(bodies);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a.csv", "a.npy", "a.xyz", "a.tipsy", "a.h5",    "a.hdf5",
                                        "c.csv", "e.csv", "f.xyz", "bad.npy", "long.npy"};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        unlink(file(names[k]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_every_format_are_those_of_a_reading_at_once),
        cmocka_unit_test(test_lines_are_counted_and_errors_name_them),
        cmocka_unit_test(test_rows_of_a_frame_of_several),
        cmocka_unit_test(test_numbers_of_later_rows_are_validated),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
