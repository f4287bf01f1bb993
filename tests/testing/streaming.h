#ifndef TESTS_TESTING_STREAMING_H
#define TESTS_TESTING_STREAMING_H

/* Bodies read some rows at a time are those of kith_bodies_read. Include testing.h before. */

#include <string.h>

#include "io/stream.h"
#include "particles/bodies.h"
#include "random_numbers.h"

static inline void assert_rows(const kith_bodies *rows, const kith_bodies *all, int64_t first)
{
    const kith_bodies expected = bodies_rows(all, first, rows->count);
    const size_t n = (size_t)rows->count, d = (size_t)rows->dimensions;
    assert_int_equal(kith_bodies_columns(rows), kith_bodies_columns(all));
    assert_memory_equal(rows->position, expected.position, n * d * sizeof(double));
    if (rows->velocity)
        assert_memory_equal(rows->velocity, expected.velocity, n * d * sizeof(double));
    if (rows->mass)
        assert_memory_equal(rows->mass, expected.mass, n * sizeof(double));
    if (rows->softening)
        assert_memory_equal(rows->softening, expected.softening, n * sizeof(double));
    if (rows->id)
        assert_memory_equal(rows->id, expected.id, n * sizeof(int64_t));
    for (size_t i = 0; i < n && rows->name; i++)
        assert_string_equal(rows->name[i], expected.name[i]);
}

/* A file that is read in pieces, of random sizes here. The memory for them is not of zeros. */
static inline void check_rows_of_file(struct random_numbers *numbers, const char *path)
{
    struct bodies_stream stream;
    kith_bodies *all = NULL;
    assert_ok(kith_bodies_read(path, NULL, &all));
    assert_ok(bodies_stream_open(path, NULL, &stream));
    assert_null(stream.bodies);
    assert_int_equal(stream.count, all->count);
    assert_true(stream.like->time == all->time && stream.like->has_cell == all->has_cell);
    assert_memory_equal(stream.like->cell, all->cell, sizeof all->cell);
    while (stream.read < stream.count) {
        const int64_t first = stream.read, left = stream.count - first;
        const int64_t wanted = (int64_t)random_uniform(numbers, 1, 2 + 0.1 * (double)all->count);
        kith_bodies *rows = NULL;
        assert_ok(kith_bodies_create(wanted < left ? wanted : left, all->dimensions,
                                     kith_bodies_columns(stream.like), &rows));
        if (rows->velocity)
            memset(rows->velocity, 0xff, (size_t)(rows->count * rows->dimensions) * sizeof(double));
        assert_ok(bodies_stream_next(&stream, rows));
        assert_rows(rows, all, first);
        kith_bodies_free(rows);
    }
    bodies_stream_close(&stream);
    kith_bodies_free(all);
}

#endif
