/* The methods of forces that one can ask for on the GPU, against the reference. */

#include "gpu_testing.h"

#include "laid_out.h"

static const kith_dtype dtypes[] = {KITH_F64, KITH_F32};
static const int64_t sizes[] = {0, 1, 2, 31, 33, 127, 129, 1000, 1023, 1025};
enum { size_count = sizeof sizes / sizeof sizes[0] };

static void assert_as_reference(kith_context *context, const kith_forces_options *options,
                                struct system *s)
{
    struct system expected = system_copy(s);
    kith_forces_options reference = *options;
    reference.block = reference.unroll = 0;
    system_reference(&reference, &expected);
    system_compute(context, options, s);
    /* The tiles for learning add all sources to one float, as they are in books: what is far may be
     * lost after a close pair. */
    const bool is_tile =
        options->method == KITH_FORCES_TILE_P || options->method == KITH_FORCES_TILE_P2;
    const double lost = is_tile && s->dtype == KITH_F32 ? (double)s->n * 0x1p-27 : 0;
    const double error = promised_error(s->dtype, s->n) + lost;
    const double a = relative_difference(s->a, expected.a);
    const double phi = relative_difference(s->phi, expected.phi);
    if (!(a < error && phi < error))
        fail_msg("method %d, block %d, unroll %d, n = %lld, %lldD, %s: errors %g and %g",
                 (int)options->method, (int)options->block, (int)options->unroll, (long long)s->n,
                 (long long)s->dimensions, s->dtype == KITH_F64 ? "double" : "float", a, phi);
    struct system alone = system_copy(s);
    const kith_array none = kith_array_none();
    assert_ok(kith_forces_compute(context, options, NULL, PARTICLES(alone.x, {"m", alone.m}),
                                  alone.a, none));
    assert_less(relative_difference(alone.a, expected.a), error);
    system_free(&alone);
    system_free(&expected);
}

/* Every size with and without softening, in 2D and 3D; for the sanitizers, of many only 33 and 129.
 */
static void try_sizes(kith_context *context, struct random_numbers *random,
                      kith_forces_options options, int step)
{
    const bool few = test_is_quick() && step > 1;
    for (int k = 0; k < size_count; k += few ? 1 : step)
        for (int d = 0; d < 2; d++) {
            if (few && sizes[k] != 33 && (sizes[k] != 129 || options.block > 256))
                continue;
            struct system s = system_random(random, dtypes[d], sizes[k], 2 + k % 2);
            options.gravitational_constant = 2;
            options.softening = k % 3 ? 0.05 : 0;
            assert_as_reference(context, &options, &s);
            system_free(&s);
        }
}

static void test_cuda_split_and_symmetric_are_the_reference(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    try_sizes(context, *state, (kith_forces_options){.method = KITH_FORCES_SPLIT}, 1);
    try_sizes(context, *state, (kith_forces_options){.method = KITH_FORCES_SYMMETRIC}, 1);
    kith_context_free(context);
}

/* The ways that kith tune sweeps: targets of a thread, threads of a target. */
static void test_cuda_split_is_the_reference_however_it_is_dealt(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < size_count; k += test_is_quick() ? 4 : 1) {
            struct laid_out made = laid_out_create(dtypes[d], sizes[k], 0, 2 + k % 2);
            laid_out_fill(&made, *state);
            made.problem.softening2 = 0.01;
            memset(made.problem.jerk, 0, sizeof made.problem.jerk);
            made.problem.potential = NULL;
            struct laid_out expected = laid_out_copy(&made, 0, KITH_F64, 0);
            laid_out_solve(&expected);
            for (int32_t bodies = 0; bodies <= 8; bodies = bodies ? 2 * bodies : 1)
                for (int32_t threads = 0; threads <= 256; threads = threads ? 2 * threads : 32) {
                    made.problem.way = (struct forces_way){
                        .method = KITH_FORCES_SPLIT, .bodies = bodies, .threads = threads};
                    laid_out_compute(context, &made);
                    const double error =
                        laid_out_difference(&made, 0, &expected, A, made.problem.dimensions);
                    if (!(error < promised_error(dtypes[d], sizes[k])))
                        fail_msg("%lld bodies, %d a thread, %d threads a body: error %g",
                                 (long long)sizes[k], (int)bodies, (int)threads, error);
                }
            laid_out_free(&expected);
            laid_out_free(&made);
        }
    kith_context_free(context);
}

static void test_cuda_tiles_of_p_threads_are_the_reference(void **state)
{
    static const int32_t blocks[] = {0, 1, 2, 8, 17, 32, 100, 256, 1024};
    kith_context *context = new_gpu_context(NULL);
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++)
        for (int32_t unroll = 1; unroll <= (test_is_quick() && blocks[k] != 17 ? 1 : 32);
             unroll *= 2)
            try_sizes(context, *state,
                      (kith_forces_options){
                          .method = KITH_FORCES_TILE_P, .block = blocks[k], .unroll = unroll},
                      test_is_quick() || unroll > 1 ? 3 : 1);
    kith_context_free(context);
}

static void test_cuda_tiles_of_p2_threads_are_the_reference(void **state)
{
    static const int32_t sides[] = {0, 1, 2, 3, 5, 8, 16, 31, 32};
    kith_context *context = new_gpu_context(NULL);
    for (size_t k = 0; k < sizeof sides / sizeof sides[0]; k++)
        try_sizes(context, *state,
                  (kith_forces_options){.method = KITH_FORCES_TILE_P2, .block = sides[k]},
                  test_is_quick() ? 3 : 1);
    kith_context_free(context);
}

static void test_cuda_methods_give_the_same_bits_again(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    for (kith_forces_method method = KITH_FORCES_SPLIT; method <= KITH_FORCES_TILE_P2; method++)
        for (int d = 0; d < 2; d++) {
            const int64_t n = test_is_quick() ? 501 : 3001;
            struct system s = system_random(*state, dtypes[d], n, 3), again = system_copy(&s);
            const kith_forces_options options = {.softening = 0.01, .method = method};
            system_compute(context, &options, &s);
            system_compute(context, &options, &again);
            assert_same_forces(&s, &again);
            system_free(&s);
            system_free(&again);
        }
    kith_context_free(context);
}

static void test_cuda_tiles_take_arrays_on_the_device_and_other_targets(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    for (kith_forces_method method = KITH_FORCES_TILE_P; method <= KITH_FORCES_TILE_P2; method++)
        for (int d = 0; d < 2; d++) {
            struct system s = system_random(*state, dtypes[d], 777, 3), expected = system_copy(&s);
            struct system targets = system_random(*state, dtypes[d], 131, 3);
            struct system of_targets = system_copy(&targets);
            const kith_forces_options options = {.softening = 0.02, .method = method};
            system_reference(&options, &expected);
            struct system there = gpu_system(&s, true);
            system_compute(context, &options, &there);
            assert_ok(kith_context_synchronize(context));
            gpu_fetch(&there, &s);
            assert_less(relative_difference(s.a, expected.a), promised_error(s.dtype, s.n));
            assert_less(relative_difference(s.phi, expected.phi), promised_error(s.dtype, s.n));
            gpu_system_free(&there);

            kith_context *cpu = new_context(NULL, 0);
            const kith_forces_options split = {.softening = 0.02, .method = KITH_FORCES_SPLIT};
            assert_ok(kith_forces_compute(context, &options, POINTS(targets.x),
                                          PARTICLES(s.x, {"m", s.m}), targets.a, targets.phi));
            assert_ok(kith_forces_compute(cpu, &split, POINTS(targets.x),
                                          PARTICLES(s.x, {"m", s.m}), of_targets.a,
                                          of_targets.phi));
            assert_less(relative_difference(targets.a, of_targets.a),
                        2 * promised_error(s.dtype, s.n));
            assert_less(relative_difference(targets.phi, of_targets.phi),
                        2 * promised_error(s.dtype, s.n));
            kith_context_free(cpu);
            system_free(&s);
            system_free(&expected);
            system_free(&targets);
            system_free(&of_targets);
        }
    kith_context_free(context);
}

static void test_cuda_methods_say_what_they_cannot(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_random(*state, KITH_F64, 10, 3),
                  t = system_random(*state, KITH_F64, 5, 3);
    kith_forces_options options = {.method = KITH_FORCES_SYMMETRIC};
    assert_int_equal(
        kith_forces_compute(context, &options, POINTS(t.x), PARTICLES(s.x, {"m", s.m}), t.a, t.phi),
        KITH_UNSUPPORTED);
    assert_true(has_fields(kith_error_message(), "split"));
    s.softened = true;
    for (kith_forces_method k = KITH_FORCES_SYMMETRIC; k <= KITH_FORCES_TILE_P2; k++) {
        options.method = k;
        assert_int_equal(kith_forces_compute(context, &options, NULL, PARTICLES_OF(&s), s.a, s.phi),
                         KITH_UNSUPPORTED);
        assert_true(has_fields(kith_error_message(), "softening"));
    }
    system_free(&s);
    system_free(&t);
    kith_context_free(context);
}

int main(void)
{
    if (gpu_is_absent("cuda_methods"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_methods");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_split_and_symmetric_are_the_reference, &random),
        cmocka_unit_test_prestate(test_cuda_split_is_the_reference_however_it_is_dealt, &random),
        cmocka_unit_test_prestate(test_cuda_tiles_of_p_threads_are_the_reference, &random),
        cmocka_unit_test_prestate(test_cuda_tiles_of_p2_threads_are_the_reference, &random),
        cmocka_unit_test_prestate(test_cuda_methods_give_the_same_bits_again, &random),
        cmocka_unit_test_prestate(test_cuda_tiles_take_arrays_on_the_device_and_other_targets,
                                  &random),
        cmocka_unit_test_prestate(test_cuda_methods_say_what_they_cannot, &random),
    };
    return cmocka_run_group_tests_name("cuda_methods", tests, NULL, NULL);
}
