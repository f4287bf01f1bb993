/* Frames that kith compresses: of one or more chunks, or some in a chunk. */

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

static void assert_same_bytes(const char *one, const char *other)
{
    long count[2] = {0};
    char *bytes[] = {bytes_of(one, &count[0]), bytes_of(other, &count[1])};
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(bytes[0], bytes[1], (size_t)count[0]);
    free(bytes[0]);
    free(bytes[1]);
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
        assert_same_bytes(in_files("one.h5"), in_files("three.h5"));
        kith_law_free(law);
        kith_bodies_free(bodies);
    }
}

/* Atoms far outside of their cell come back from their images. */
static void test_large_frames_may_be_wrapped(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_bodies *bodies =
            made("fcc", (kith_initial_options){
                            .count = k == 0 ? 13500 : 48668, .density = 0.8, .temperature = 1});
        for (int64_t i = 0; i < bodies->count; i++)
            bodies->position[3 * i + 1] += (double)(i % 7 - 3) * bodies->cell[4];
        kith_law *law = NULL;
        assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
        kith_run_options options = run_options(0.002, 0.004, 1, NULL);
        options.simulation.precision = k == 0 ? KITH_F32 : KITH_F64;
        options.simulation.forces.law = law;
        options.simulation.forces.cutoff = 2;
        options.wrap = true;
        run_with(1, bodies, options, in_files("one.h5"));
        run_with(3, bodies, options, in_files("three.h5"));
        assert_same_bytes(in_files("one.h5"), in_files("three.h5"));
        const kith_read_options first = {.frame = 1};
        kith_bodies *read = NULL;
        assert_ok(kith_bodies_read(in_files("one.h5"), &first, &read));
        for (int64_t i = 0; i < 3 * bodies->count; i++) {
            assert_true(fabs(read->position[i] - bodies->position[i]) < (k == 0 ? 1e-4 : 1e-12));
            assert_true(fabs(read->velocity[i] - bodies->velocity[i]) < 1e-6);
        }
        kith_bodies_free(read);
        kith_law_free(law);
        kith_bodies_free(bodies);
    }
}

/* Fifteen frames a chunk, or more in single precision; the last chunk is partly filled. */
static void test_frames_in_a_chunk_are_the_states_of_their_steps(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 700, .seed = 7});
        kith_run_options options = run_options(0.01, 0.5, 1, in_files("many.h5"));
        options.simulation.precision = k == 0 ? KITH_F64 : KITH_F32;
        options.simulation.forces.softening = 0.1;
        run(options, bodies);
        kith_context *context = cpu_context(1);
        kith_simulation *simulation = simulated(context, bodies, options.simulation);
        kith_trajectory *trajectory = NULL;
        kith_bodies *frame = NULL;
        assert_ok(kith_trajectory_open(options.output, &trajectory));
        assert_int_equal(kith_trajectory_frames(trajectory), 51);
        for (int64_t step = 0; step <= 50; step++) {
            kith_bodies *expected = state_of(simulation, bodies);
            assert_ok(kith_trajectory_read(trajectory, step, &frame));
            for (int64_t i = 0; k == 1 && i < 3 * bodies->count; i++) {
                expected->position[i] = (double)(float)expected->position[i];
                expected->velocity[i] = (double)(float)expected->velocity[i];
            }
            expected->time = frame->time;
            assert_same_state(frame, expected);
            kith_bodies_free(expected);
            assert_ok(kith_simulation_step(simulation, 1));
        }
        kith_bodies_free(frame);
        kith_trajectory_close(trajectory);
        kith_simulation_free(simulation);
        kith_context_free(context);
        kith_bodies_free(bodies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_in_a_chunk_are_the_states_of_their_steps),
        cmocka_unit_test(test_large_frames_may_be_wrapped),
        cmocka_unit_test(test_large_frames_have_the_same_bytes_for_any_number_of_threads),
    };
    return cmocka_run_group_tests_name("run_chunks", tests, make_files_directory,
                                       remove_files_directory);
}
