/* The methods of forces that one can ask for on the CPU. */

#include "forces_system.h"

static const int64_t sizes[] = {0, 1, 2, 31, 33, 64, 65, 127, 129, 1000, 1023, 1025};
enum { size_count = sizeof sizes / sizeof sizes[0] };

static void compare(struct random_numbers *random, kith_forces_method method, kith_dtype dtype,
                    int64_t n)
{
    struct system s = system_random(random, dtype, n, 2 + n % 2), expected = s;
    expected.a = new_matrix(dtype, n, s.dimensions);
    expected.phi = new_vector(dtype, n);
    kith_context *context = new_context(NULL, 2);
    for (int of_bodies = 0; of_bodies < 2; of_bodies++) {
        kith_forces_options options = {.gravitational_constant = 2,
                                       .softening = of_bodies ? 0 : 0.03};
        s.softened = expected.softened = of_bodies;
        options.solver = solver_named("reference");
        system_compute(context, &options, &expected);
        options.solver = NULL;
        options.method = method;
        system_compute(context, &options, &s);
        const double promised = dtype == KITH_F32 ? 1e-6 : 1e-14 * sqrt((double)n + 1);
        assert_less(relative_difference(s.a, expected.a), promised);
        assert_less(relative_difference(s.phi, expected.phi), promised);
    }
    kith_context_free(context);
    free(expected.a.data);
    free(expected.phi.data);
    system_free(&s);
}

static void test_forces_split_and_symmetric_are_the_reference(void **state)
{
    for (int k = 0; k < size_count; k++)
        for (int d = 0; d < 2; d++) {
            compare(*state, KITH_FORCES_SPLIT, d ? KITH_F64 : KITH_F32, sizes[k]);
            compare(*state, KITH_FORCES_SYMMETRIC, d ? KITH_F64 : KITH_F32, sizes[k]);
        }
}

static void test_forces_symmetric_needs_sources_that_are_the_targets(void **state)
{
    struct system s = system_random(*state, KITH_F64, 20, 3),
                  t = system_random(*state, KITH_F64, 5, 3);
    kith_context *context = new_context(NULL, 1);
    const kith_forces_options options = {.method = KITH_FORCES_SYMMETRIC};
    assert_fails(
        kith_forces_compute(context, &options, POINTS(t.x), PARTICLES(s.x, {"m", s.m}), t.a, t.phi),
        KITH_UNSUPPORTED, "targets");
    kith_context_free(context);
    system_free(&s);
    system_free(&t);
}

static void test_forces_tiles_need_a_gpu_and_say_so(void **state)
{
    struct system s = system_random(*state, KITH_F32, 20, 3);
    kith_context *context = new_context(NULL, 1);
    for (kith_forces_method method = KITH_FORCES_TILE_P; method <= KITH_FORCES_TENSOR; method++) {
        const kith_forces_options options = {.method = method};
        assert_fails(
            kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
            KITH_UNSUPPORTED, "symmetric");
        const kith_forces_options of_values = {.method = method, .sum = KITH_FORCES_SUM_VALUE};
        assert_fails(kith_forces_compute(context, &of_values, NULL, PARTICLES(s.x, {"m", s.m}),
                                         kith_array_none(), s.phi),
                     KITH_UNSUPPORTED, "forces summed gravity");
    }
    kith_context_free(context);
    system_free(&s);
}

static void test_forces_refuse_blocks_and_unrolling_out_of_range(void **state)
{
    static const struct {
        kith_forces_options options;
        const char *words;
    } wrong[] = {
        {{.method = KITH_FORCES_TILE_P, .block = 1025}, "block 1025 1 1024"},
        {{.method = KITH_FORCES_TILE_P, .block = -1}, "block -1"},
        {{.method = KITH_FORCES_TILE_P2, .block = 33}, "block 33 1 32"},
        {{.method = KITH_FORCES_TILE_P, .unroll = 3}, "unroll 3 1 2 4"},
        {{.method = KITH_FORCES_TILE_P, .unroll = 64}, "unroll 64 1 32"},
        {{.method = KITH_FORCES_TILE_P2, .unroll = 2}, "unroll tile-p"},
        {{.method = KITH_FORCES_SPLIT, .block = 64}, "tile-p2"},
    };
    struct system s = system_random(*state, KITH_F64, 3, 3);
    kith_context *context = new_context(NULL, 1);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        assert_fails(kith_forces_compute(context, &wrong[k].options, NULL,
                                         PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
                     KITH_INVALID_ARGUMENT, wrong[k].words);
    kith_context_free(context);
    system_free(&s);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("forces_methods");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_forces_split_and_symmetric_are_the_reference, &random),
        cmocka_unit_test_prestate(test_forces_symmetric_needs_sources_that_are_the_targets,
                                  &random),
        cmocka_unit_test_prestate(test_forces_tiles_need_a_gpu_and_say_so, &random),
        cmocka_unit_test_prestate(test_forces_refuse_blocks_and_unrolling_out_of_range, &random),
    };
    return cmocka_run_group_tests_name("forces_methods", tests, NULL, NULL);
}
