/* Forces on the GPU of arrays on the host, against the reference and the CPU's kernels. */

#include "gpu_testing.h"

#include <pthread.h>

static const kith_dtype dtypes[] = {KITH_F64, KITH_F32};
static const int64_t sizes[] = {0, 1, 2, 31, 33, 127, 129, 1000, 1023, 1025};

enum { size_count = sizeof sizes / sizeof sizes[0], enough_for_the_symmetric_kernel = 10300 };

static void assert_as_reference(kith_context *context, const kith_forces_options *options,
                                struct system *s, const char *what)
{
    struct system expected = system_copy(s);
    system_reference(options, &expected);
    system_compute(context, options, s);
    const double error = promised_error(s->dtype, s->n);
    const double a = relative_difference(s->a, expected.a);
    const double phi = relative_difference(s->phi, expected.phi);
    if (!(a < error && phi < error))
        fail_msg("%s, n = %lld, %lldD, %s: errors %g and %g, promised %g", what, (long long)s->n,
                 (long long)s->dimensions, s->dtype == KITH_F64 ? "double" : "float", a, phi,
                 error);
    system_free(&expected);
}

static void test_cuda_forces_are_the_references(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < size_count; k++)
        for (int64_t dimensions = 2; dimensions <= 3; dimensions++)
            for (int d = 0; d < 2; d++) {
                struct system s = system_random(random, dtypes[d], sizes[k], dimensions);
                kith_forces_options options = {.gravitational_constant = 3};
                assert_as_reference(context, &options, &s, "no softening");
                options.softening = 0.05;
                assert_as_reference(context, &options, &s, "softening");
                options.softening = 0;
                s.softened = true;
                assert_as_reference(context, &options, &s, "softening of each body");
                system_free(&s);
            }
    kith_context_free(context);
}

static void test_cuda_potential_and_acceleration_come_alone_too(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int d = 0; d < 2; d++)
        for (int k = 0; k <= size_count; k++) {
            const int64_t n = k < size_count ? sizes[k] : enough_for_the_symmetric_kernel;
            struct system s = system_random(random, dtypes[d], n, 3);
            struct system expected = system_copy(&s);
            const kith_forces_options options = {.softening = 0.05};
            const kith_array none = kith_array_none();
            system_reference(&options, &expected);
            assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a,
                                          none));
            assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), none,
                                          s.phi));
            const double error = promised_error(s.dtype, s.n);
            assert_less(relative_difference(s.a, expected.a), error);
            assert_less(relative_difference(s.phi, expected.phi), error);
            system_free(&s);
            system_free(&expected);
        }
    kith_context_free(context);
}

/* Forces of s at the places of targets: from the GPU into targets, from the reference into
 * expected. */
static void compute_separate(kith_context *context, bool softened, struct system *targets,
                             struct system *s, struct system *expected)
{
    kith_forces_options options = {.gravitational_constant = 2};
    targets->softened = s->softened = softened;
    assert_ok(kith_forces_compute(context, &options, PARTICLES_OF(targets), PARTICLES_OF(s),
                                  targets->a, targets->phi));
    kith_context *cpu = new_context(NULL, 0);
    options.solver = solver_named("reference");
    assert_ok(kith_forces_compute(cpu, &options, PARTICLES_OF(targets), PARTICLES_OF(s),
                                  expected->a, expected->phi));
    kith_context_free(cpu);
}

static void test_cuda_targets_may_be_others_than_the_sources(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < size_count; k++)
            for (int softened = 0; softened < 2; softened++) {
                const int64_t n = sizes[k], m = sizes[(3 * k + 2) % size_count];
                struct system targets = system_random(random, dtypes[d], n, 2 + k % 2);
                struct system sources = system_random(random, dtypes[d], m, 2 + k % 2);
                struct system expected = system_copy(&targets);
                compute_separate(context, softened, &targets, &sources, &expected);
                assert_less(relative_difference(targets.a, expected.a),
                            promised_error(dtypes[d], m));
                assert_less(relative_difference(targets.phi, expected.phi),
                            promised_error(dtypes[d], m));
                system_free(&targets);
                system_free(&sources);
                system_free(&expected);
            }
    kith_context_free(context);
}

/* Blocks share the sources then. */
static void test_cuda_few_targets_feel_many_sources(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const int64_t few[] = {1, 2, 3, 64, 300}, many = 40001;
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 5; k++)
            for (int softened = 0; softened < 2; softened++) {
                struct system targets = system_random(random, dtypes[d], few[k], 3);
                struct system sources = system_random(random, dtypes[d], many, 3);
                struct system expected = system_copy(&targets), again = system_copy(&targets);
                compute_separate(context, softened, &targets, &sources, &expected);
                assert_less(relative_difference(targets.a, expected.a),
                            promised_error(dtypes[d], many));
                assert_less(relative_difference(targets.phi, expected.phi),
                            promised_error(dtypes[d], many));
                compute_separate(context, softened, &again, &sources, &expected);
                assert_same_forces(&targets, &again);
                system_free(&targets);
                system_free(&sources);
                system_free(&expected);
                system_free(&again);
            }
    kith_context_free(context);
}

static void test_cuda_massless_and_coincident_bodies_are_as_on_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    for (int d = 0; d < 2; d++)
        for (int k = 2; k < size_count; k++)
            for (int softened = 0; softened < 2; softened++) {
                struct system s = system_random(random, dtypes[d], sizes[k], 3);
                for (int64_t i = 0; i < s.n; i += 3)
                    put(s.m, i, 0);
                for (int64_t i = 0; i + 1 < s.n; i += 5)
                    for (int64_t c = 0; c < 3; c++)
                        put(s.x, 3 * (i + 1) + c, get(s.x, 3 * i + c));
                const kith_forces_options options = {.softening = softened ? 0.1 : 0};
                assert_as_reference(context, &options, &s, "coincident");
                system_free(&s);
            }
    kith_context_free(context);
}

static void test_cuda_forces_of_nothing_but_coincident_bodies_vanish(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    for (int d = 0; d < 2; d++)
        for (int64_t n = 2; n < 3000; n = 5 * n + 1) {
            struct system s = system_create(dtypes[d], n, 3);
            for (int64_t i = 0; i < n; i++)
                put(s.m, i, 1);
            memset(s.a.data, 0xff, (size_t)(3 * n * kith_dtype_bytes(s.dtype)));
            memset(s.phi.data, 0xff, (size_t)(n * kith_dtype_bytes(s.dtype)));
            system_compute(context, NULL, &s);
            for (int64_t i = 0; i < n; i++)
                assert_true(get(s.phi, i) == 0 && get(s.a, 3 * i) == 0 &&
                            get(s.a, 3 * i + 1) == 0 && get(s.a, 3 * i + 2) == 0);
            system_free(&s);
        }
    kith_context_free(context);
}

static void test_cuda_forces_of_any_magnitude(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const double scales[] = {1e-15, 1e-7, 1e7, 1e15};
    for (int d = 0; d < 2; d++)
        for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
            struct system s = system_random(random, dtypes[d], 1000, 3);
            for (int64_t e = 0; e < 3 * s.n; e++)
                put(s.x, e, get(s.x, e) * scales[k]);
            for (int64_t i = 0; i < s.n; i++)
                put(s.m, i, get(s.m, i) * scales[3 - k]);
            /* G so that the results are representable in float. */
            kith_forces_options options = {.gravitational_constant = scales[k] * scales[k]};
            options.softening = 0.01 * scales[k];
            assert_as_reference(context, &options, &s, "magnitude");
            system_free(&s);
        }
    kith_context_free(context);
}

static void test_cuda_and_cpu_agree_on_many_bodies(void **state)
{
    struct random_numbers *random = *state;
    if (test_is_quick())
        skip();
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int d = 0; d < 2; d++) {
        struct system s = system_random(random, dtypes[d], 65537, 3);
        struct system expected = system_copy(&s);
        const kith_forces_options options = {.softening = 0.01};
        system_compute(gpu, &options, &s);
        system_compute(cpu, &options, &expected);
        assert_less(relative_difference(s.a, expected.a), 2 * promised_error(s.dtype, s.n));
        assert_less(relative_difference(s.phi, expected.phi), 2 * promised_error(s.dtype, s.n));
        system_free(&s);
        system_free(&expected);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* The symmetric kernels have tiles of several sizes; the forces of all bodies at some of their
 * places are the one-sided kernel's. */
static void test_cuda_forces_of_any_number_are_those_at_the_same_places(void **state)
{
    struct random_numbers *random = *state;
    const int64_t many[] = {8449, 30000, 196608 + 5376 - 7, 262144}, apart = 1009;
    if (test_is_quick())
        skip();
    kith_context *context = new_gpu_context(NULL);
    for (int d = 0; d < 2; d++)
        for (size_t k = 0; k < sizeof many / sizeof many[0]; k++) {
            struct system s = system_random(random, dtypes[d], many[k], 3);
            const int64_t n = many[k] / apart;
            struct system some = system_create(dtypes[d], n, 3), same = system_copy(&some);
            for (int64_t e = 0; e < 3 * n; e++)
                put(some.x, e, get(s.x, e / 3 * apart * 3 + e % 3));
            const kith_forces_options options = {.softening = 0.01};
            const kith_array none = kith_array_none();
            assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a,
                                          none));
            assert_ok(kith_forces_compute(context, &options, POINTS(some.x),
                                          PARTICLES(s.x, {"m", s.m}), some.a, none));
            for (int64_t e = 0; e < 3 * n; e++)
                put(same.a, e, get(s.a, e / 3 * apart * 3 + e % 3));
            assert_less(relative_difference(same.a, some.a),
                        2 * promised_error(dtypes[d], many[k]));
            system_free(&s);
            system_free(&some);
            system_free(&same);
        }
    kith_context_free(context);
}

/* The kernel for many bodies in float has a form for masses of one kind and one for all others. */
static void test_cuda_forces_of_many_bodies_of_any_masses(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    const double factors[] = {1, 0x1p-39, 0x1p-41, 0}; /* of every third mass */
    for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++) {
        struct system s = system_random(random, KITH_F32, 33001, 3);
        for (int64_t i = 0; i < s.n; i += 3)
            put(s.m, i, factors[k] * get(s.m, i));
        for (int64_t i = 7; i + 1 < s.n; i += 1000)
            for (int64_t c = 0; c < 3; c++)
                put(s.x, 3 * (i + 1) + c, get(s.x, 3 * i + c));
        struct system expected = system_copy(&s);
        const kith_forces_options options = {.softening = k % 2 == 0 ? 0 : 0.01};
        const kith_array none = kith_array_none();
        assert_ok(kith_forces_compute(gpu, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a, none));
        assert_ok(
            kith_forces_compute(cpu, &options, NULL, PARTICLES(s.x, {"m", s.m}), expected.a, none));
        assert_less(relative_difference(s.a, expected.a), 2 * promised_error(s.dtype, s.n));
        system_free(&s);
        system_free(&expected);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* What each far body adds is half a unit in the last place of what the close one does: a float sum
 * over all of them would lose it, and one over 1024 loses 2⁻¹⁵ at most. */
static void test_cuda_forces_beside_a_close_pair_are_not_lost(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(NULL);
    const double distance = 0x1p-10, close = 1 / (distance * distance);
    const int64_t counts[] = {5000, 20001, 33001}; /* one-sided, small tiles, large tiles */
    for (int size = 0; size < 3; size++) {
        struct system s = system_random(random, KITH_F32, counts[size], 3);
        for (int64_t i = 0; i < s.n; i++) {
            put(s.x, 3 * i, -1 + 0.01 * get(s.x, 3 * i));
            put(s.x, 3 * i + 1, 0.01 * get(s.x, 3 * i + 1));
            put(s.x, 3 * i + 2, 0.01 * get(s.x, 3 * i + 2));
            put(s.m, i, 0.9 * close * 0x1p-25);
        }
        for (int64_t k = 0; k < 6; k++)
            put(s.x, k, k == 3 ? -distance : 0);
        put(s.m, 0, 1);
        put(s.m, 1, 1);
        double expected = 0;
        for (int64_t j = 1; j < s.n; j++) {
            const double x = get(s.x, 3 * j), y = get(s.x, 3 * j + 1), z = get(s.x, 3 * j + 2);
            expected += get(s.m, j) * x / pow(x * x + y * y + z * z, 1.5);
        }
        assert_ok(kith_forces_compute(gpu, NULL, NULL, PARTICLES(s.x, {"m", s.m}), s.a,
                                      kith_array_none()));
        assert_near(get(s.a, 0), expected, fabs(expected) * (0x1p-15 + 1e-6));
        system_free(&s);
    }
    kith_context_free(gpu);
}

static void test_cuda_gives_the_same_bits_twice_and_in_two_contexts(void **state)
{
    struct random_numbers *random = *state;
    kith_context *one = new_gpu_context(NULL), *other = new_gpu_context(NULL);
    const int64_t many[] = {6, 1025, enough_for_the_symmetric_kernel, 129, 5000, 20001, 40000};
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < (test_is_quick() ? 3 : 7); k++) {
            struct system first = system_random(random, dtypes[d], many[k], 3);
            struct system again = system_copy(&first);
            system_compute(one, NULL, &first);
            system_compute(one, NULL, &again);
            assert_same_forces(&first, &again);
            system_compute(other, NULL, &again);
            assert_same_forces(&first, &again);
            system_free(&first);
            system_free(&again);
        }
    kith_context_free(one);
    kith_context_free(other);
}

struct worker {
    const struct system *expected;
    bool right;
};

static void *work(void *data)
{
    struct worker *worker = data;
    const kith_context_options options = {.device = {KITH_CUDA, 0}};
    const size_t bytes = (size_t)(worker->expected->n * kith_dtype_bytes(worker->expected->dtype));
    struct system s = system_copy(worker->expected);
    kith_context *context = NULL;
    worker->right = kith_context_create(&options, &context) == KITH_OK;
    for (int round = 0; worker->right && round < 20; round++)
        worker->right = kith_forces_compute(context, NULL, NULL, PARTICLES(s.x, {"m", s.m}), s.a,
                                            s.phi) == KITH_OK &&
                        memcmp(s.a.data, worker->expected->a.data, 3 * bytes) == 0 &&
                        memcmp(s.phi.data, worker->expected->phi.data, bytes) == 0;
    kith_context_free(context);
    system_free(&s);
    return NULL;
}

static void test_cuda_contexts_on_two_threads_give_the_same_bits(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    struct system s[2];
    struct worker workers[2];
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) {
        s[k] = system_random(random, dtypes[k], 1500 + 100 * k, 3);
        system_compute(context, NULL, &s[k]);
        workers[k] = (struct worker){&s[k], false};
    }
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    for (int k = 0; k < 2; k++) {
        pthread_join(threads[k], NULL);
        assert_true(workers[k].right);
        system_free(&s[k]);
    }
    kith_context_free(context);
}

/* Every two bodies at one place, of masses of any size. */
static void test_cuda_forces_of_pairs_at_one_place_are_the_cpu_s(void **state)
{
    static const char *const solvers[] = {"direct", "tree", "fmm"};
    static const double masses[] = {1, 100, 1e6, 1e30};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int k = 0; k < 2 * 3 * 4; k++) {
        const kith_solver *solver = solver_named(solvers[k / 2 % 3]);
        const bool is_direct = k / 2 % 3 == 0;
        struct system s = system_random(*state, dtypes[k % 2], is_direct ? 500 : 4000, 3);
        for (int64_t i = 0; i < s.n; i++) {
            put(s.m, i, masses[k / 6] * get(s.m, i));
            for (int64_t c = 0; c < 3; c++)
                put(s.x, 3 * i + c, get(s.x, 3 * (i / 2 * 2) + c));
        }
        struct system expected = system_copy(&s);
        const kith_forces_options options = {.solver = solver,
                                             .accuracy.error = is_direct ? 0 : 1e-4};
        system_compute(gpu, &options, &s);
        system_compute(cpu, &options, &expected);
        const double bound = is_direct ? 2 * promised_error(s.dtype, s.n) : 1e-3;
        assert_less(relative_difference(s.a, expected.a), bound);
        assert_less(relative_difference(s.phi, expected.phi), bound);
        system_free(&s);
        system_free(&expected);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_cuda_refuses_numbers_that_are_none_by_row(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    struct system s = system_random(random, KITH_F64, 100, 3);
    put(s.m, 42, INFINITY);
    assert_fails(kith_forces_compute(context, NULL, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
                 KITH_INVALID_ARGUMENT, "42 sources.m inf");
    kith_context_free(context);
    system_free(&s);
}

int main(void)
{
    if (gpu_is_absent("cuda_forces"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_forces");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_forces_are_the_references, &random),
        cmocka_unit_test_prestate(test_cuda_potential_and_acceleration_come_alone_too, &random),
        cmocka_unit_test_prestate(test_cuda_targets_may_be_others_than_the_sources, &random),
        cmocka_unit_test_prestate(test_cuda_few_targets_feel_many_sources, &random),
        cmocka_unit_test_prestate(test_cuda_massless_and_coincident_bodies_are_as_on_the_cpu,
                                  &random),
        cmocka_unit_test(test_cuda_forces_of_nothing_but_coincident_bodies_vanish),
        cmocka_unit_test_prestate(test_cuda_forces_of_any_magnitude, &random),
        cmocka_unit_test_prestate(test_cuda_and_cpu_agree_on_many_bodies, &random),
        cmocka_unit_test_prestate(test_cuda_forces_of_any_number_are_those_at_the_same_places,
                                  &random),
        cmocka_unit_test_prestate(test_cuda_forces_of_many_bodies_of_any_masses, &random),
        cmocka_unit_test_prestate(test_cuda_forces_beside_a_close_pair_are_not_lost, &random),
        cmocka_unit_test_prestate(test_cuda_gives_the_same_bits_twice_and_in_two_contexts, &random),
        cmocka_unit_test_prestate(test_cuda_contexts_on_two_threads_give_the_same_bits, &random),
        cmocka_unit_test_prestate(test_cuda_forces_of_pairs_at_one_place_are_the_cpu_s, &random),
        cmocka_unit_test_prestate(test_cuda_refuses_numbers_that_are_none_by_row, &random),
    };
    return cmocka_run_group_tests_name("cuda_forces", tests, NULL, NULL);
}
