#ifndef TESTS_TESTING_FILES_H
#define TESTS_TESTING_FILES_H

/* What the tests of file formats share: a directory of their own, files with given content, and
 * random bodies. Include testing.h before. */

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "random_numbers.h"

enum { path_bytes = 512 };

/* A directory for the files of one test program, made and removed by the two functions below. */
static char files_directory[path_bytes];

static inline int make_files_directory(void **state)
{
    (void)state;
    snprintf(files_directory, sizeof files_directory, "test-files-XXXXXX");
    return mkdtemp(files_directory) ? 0 : -1;
}

static inline int remove_files_directory(void **state)
{
    (void)state;
    DIR *directory = opendir(files_directory);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[2 * path_bytes];
        snprintf(path, sizeof path, "%s/%s", files_directory, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(path);
    }
    closedir(directory);
    return rmdir(files_directory);
}

/* The path of a file in that directory; good until the eighth call after. */
static inline const char *in_files(const char *name)
{
    static char paths[8][2 * path_bytes];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", files_directory, name);
    return path;
}

static inline int files_in_directory(void)
{
    int count = 0;
    DIR *directory = opendir(files_directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

static inline const char *file_of_bytes(const char *name, const void *bytes, size_t count)
{
    const char *path = in_files(name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
    return path;
}

static inline const char *file_of_text(const char *name, const char *text)
{
    return file_of_bytes(name, text, strlen(text));
}

/* The content, with a zero at its end; free it with free(). */
static inline char *content_of(const char *path, size_t *count)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    char *content = calloc(1, 1 << 20);
    *count = fread(content, 1, (1 << 20) - 1, stream);
    fclose(stream);
    return content;
}

static inline void assert_content(const char *path, const char *expected)
{
    size_t count = 0;
    char *content = content_of(path, &count);
    assert_string_equal(content, expected);
    free(content);
}

static inline kith_bodies *read_file(const char *path)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_read(path, NULL, &bodies));
    return bodies;
}

/* Reading this text must fail, with these fields and the file's name in the message. */
static inline void assert_text_refused(const char *name, const char *text, const char *words)
{
    kith_bodies *bodies = NULL;
    const char *path = file_of_text(name, text);
    assert_fails(kith_bodies_read(path, NULL, &bodies), KITH_BAD_FORMAT, words);
    assert_null(bodies);
    assert_non_null(strstr(kith_error_message(), path));
}

/* Reading any part from the start of this file must fail, the empty one included. */
static inline void assert_every_truncation_is_refused(const char *path, const char *name)
{
    size_t bytes = 0;
    char *content = content_of(path, &bytes);
    for (size_t kept = 0; kept < bytes; kept++) {
        kith_bodies *bodies = NULL;
        const char *truncated = file_of_bytes(name, content, kept);
        const kith_status status = kith_bodies_read(truncated, NULL, &bodies);
        if (status != KITH_BAD_FORMAT || bodies)
            fail_msg("%s cut to %zu of %zu bytes: %s", path, kept, bytes, kith_status_name(status));
    }
    free(content);
}

/* Numbers of many sizes, and now and then one that is hard to write. */
static inline double random_real(struct random_numbers *numbers)
{
    static const double hard[] = {
        0.0,     -0.0,     0.1,  1.0 / 3, 4.9e-324, 2.2250738585072014e-308,
        1.7e308, -1.7e308, 1e22, 1e23,    -5,       9007199254740993.0};
    const int count = sizeof hard / sizeof hard[0];
    if (random_uniform(numbers, 0, 1) < 0.1)
        return hard[(int)random_uniform(numbers, 0, count)];
    return random_uniform(numbers, -1, 1) * exp2(round(random_uniform(numbers, -60, 60)));
}

static inline void fill_randomly(struct random_numbers *numbers, double *values, int64_t count)
{
    for (int64_t k = 0; values && k < count; k++)
        values[k] = random_real(numbers);
}

static inline void set_name(kith_bodies *bodies, int64_t i, const char *name)
{
    snprintf(bodies->name[i], KITH_NAME_BYTES, "%s", name);
}

static inline kith_bodies *random_bodies(struct random_numbers *numbers, int64_t count,
                                         int32_t dimensions, unsigned columns)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, dimensions, columns, &bodies));
    fill_randomly(numbers, bodies->position, count * dimensions);
    fill_randomly(numbers, bodies->velocity, count * dimensions);
    fill_randomly(numbers, bodies->mass, count);
    fill_randomly(numbers, bodies->charge, count);
    for (int64_t i = 0; bodies->softening && i < count; i++)
        bodies->softening[i] = fabs(random_real(numbers));
    for (int64_t i = 0; bodies->radius && i < count; i++)
        bodies->radius[i] = fabs(random_real(numbers));
    for (int64_t i = 0; bodies->id && i < count; i++)
        bodies->id[i] = (int64_t)random_uniform(numbers, -0x1p62, 0x1p62);
    for (int64_t i = 0; bodies->name && i < count; i++)
        snprintf(bodies->name[i], KITH_NAME_BYTES, "body-%lld", (long long)i);
    return bodies;
}

static inline void assert_same_bits(const void *found, const void *expected, int64_t bytes,
                                    const char *what)
{
    if (!found != !expected)
        fail_msg("%s is %s", what, found ? "there" : "missing");
    if (expected && found && memcmp(found, expected, (size_t)bytes) != 0)
        fail_msg("%s has other bits", what);
}

static inline void assert_same_bodies(const kith_bodies *found, const kith_bodies *expected)
{
    assert_int_equal(found->count, expected->count);
    assert_int_equal(found->dimensions, expected->dimensions);
    const int64_t bytes = expected->count * 8;
    assert_same_bits(found->position, expected->position, bytes * expected->dimensions, "position");
    assert_same_bits(found->velocity, expected->velocity, bytes * expected->dimensions, "velocity");
    assert_same_bits(found->mass, expected->mass, bytes, "mass");
    assert_same_bits(found->charge, expected->charge, bytes, "charge");
    assert_same_bits(found->softening, expected->softening, bytes, "softening");
    assert_same_bits(found->radius, expected->radius, bytes, "radius");
    assert_same_bits(found->id, expected->id, bytes, "id");
    assert_true(!found->name == !expected->name);
    for (int64_t i = 0; expected->name && i < expected->count; i++)
        assert_string_equal(found->name[i], expected->name[i]);
}

/* Writes, reads back, and compares all columns that the bodies have. */
static inline void assert_round_trip(const kith_bodies *bodies, const char *name)
{
    const char *path = in_files(name);
    assert_ok(kith_bodies_write(bodies, path, NULL));
    kith_bodies *found = read_file(path);
    assert_same_bodies(found, bodies);
    kith_bodies_free(found);
}

#endif
