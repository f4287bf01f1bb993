/* Frames of several chunks, which threads compress: the bytes that HDF5 writes with one. */

#include "running.h"

#include <stdlib.h>

static char *bytes_of(const char *path, long *count)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    *count = ftell(stream);
    rewind(stream);
    char *bytes = malloc((size_t)*count);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)*count, stream), *count);
    fclose(stream);
    return bytes;
}

static void run_with(int32_t threads, const kith_bodies *bodies, kith_run_options options,
                     const char *output)
{
    kith_context *context = cpu_context(threads);
    options.output = output;
    assert_ok(kith_run(context, &options, bodies, NULL));
    kith_context_free(context);
}

/* The last chunk is partly filled, in either precision and in 2D. */
static void test_large_frames_have_the_same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const int32_t dimensions = k == 2 ? 2 : 3;
        const int64_t n = k == 1 ? 190000 : 100000;
        kith_bodies *bodies = NULL;
        assert_ok(kith_bodies_create(n, dimensions, KITH_VELOCITY, &bodies));
        for (int64_t i = 0; i < n * dimensions; i++) {
            bodies->position[i] = (double)(i % 10007) + 1e-3 * (double)(i % 7919);
            bodies->velocity[i] = 1e-3 * (double)(i % 101);
        }
        kith_law *law = NULL;
        assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
        kith_run_options options = run_options(0.002, 0.004, 1, NULL);
        options.simulation.precision = k == 1 ? KITH_F32 : KITH_F64;
        options.simulation.forces.law = law;
        options.simulation.forces.cutoff = 1e-6;
        run_with(1, bodies, options, in_files("one.h5"));
        run_with(3, bodies, options, in_files("three.h5"));
        long count[2] = {0};
        char *bytes[] = {bytes_of(in_files("one.h5"), &count[0]),
                         bytes_of(in_files("three.h5"), &count[1])};
        assert_int_equal(count[0], count[1]);
        assert_memory_equal(bytes[0], bytes[1], (size_t)count[0]);
        free(bytes[0]);
        free(bytes[1]);
        kith_law_free(law);
        kith_bodies_free(bodies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_frames_have_the_same_bytes_for_any_number_of_threads),
    };
    return cmocka_run_group_tests_name("run_chunks", tests, make_files_directory,
                                       remove_files_directory);
}
