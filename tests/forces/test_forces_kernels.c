/* The fast kernels against the reference, for each instruction set of this processor. */

#include "forces_system.h"

static const int64_t sizes[] = {0,  1,  2,  3,   15,  16,  17,   31,   33,
                                63, 64, 65, 127, 129, 257, 1000, 1023, 1025};
enum { size_count = sizeof sizes / sizeof sizes[0] };

enum softening { none, common, of_bodies, softening_count };

/* The contract of kith/forces.h. */
static double tolerance(kith_dtype dtype, int64_t sources)
{
    return dtype == KITH_F64 ? 1e-14 * sqrt((double)(sources > 1 ? sources : 1)) : 1e-6;
}

static kith_forces_options options_for(enum softening softening, struct system *targets,
                                       struct system *sources)
{
    kith_forces_options options = {.gravitational_constant = 3};
    if (softening == common)
        options.softening = 0.02;
    targets->softened = sources->softened = softening == of_bodies;
    return options;
}

/* Computes with the reference and with each instruction set, with and without the potential. */
static void compare(struct system *targets, struct system *sources, enum softening softening)
{
    kith_forces_options options = options_for(softening, targets, sources);
    const kith_particles *of_targets = targets == sources ? NULL : PARTICLES_OF(targets);
    const kith_array a = new_matrix(targets->dtype, targets->n, targets->dimensions);
    const kith_array phi = new_vector(targets->dtype, targets->n);
    const double bound = tolerance(targets->dtype, sources->n);
    kith_context *plain = new_context(NULL, 1);
    options.solver = solver_named("reference");
    assert_ok(kith_forces_compute(plain, &options, of_targets, PARTICLES_OF(sources), targets->a,
                                  targets->phi));
    kith_context_free(plain);

    options.solver = NULL;
    options.method = KITH_FORCES_DIRECT;
    for (int64_t k = 0; isa_at(k); k++) {
        if (!isa_at(k)->supported)
            continue;
        kith_context *context = new_context(isa_at(k)->name, 2);
        assert_ok(
            kith_forces_compute(context, &options, of_targets, PARTICLES_OF(sources), a, phi));
        assert_less(relative_difference(a, targets->a), bound);
        assert_less(relative_difference(phi, targets->phi), bound);
        assert_ok(kith_forces_compute(context, &options, of_targets, PARTICLES_OF(sources), a,
                                      kith_array_none()));
        assert_less(relative_difference(a, targets->a), bound);
        kith_context_free(context);
    }
    free(a.data);
    free(phi.data);
}

static void test_every_kernel_agrees_with_the_reference(void **state)
{
    struct random_numbers *random = *state;
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (int64_t dimensions = 2; dimensions <= 3; dimensions++)
            for (int k = 0; k < size_count; k++) {
                struct system s = system_random(random, dtype, sizes[k], dimensions);
                for (enum softening softening = none; softening < softening_count; softening++)
                    compare(&s, &s, softening);
                system_free(&s);
            }
}

static void test_every_kernel_agrees_for_separate_targets(void **state)
{
    struct random_numbers *random = *state;
    static const int64_t pairs[][2] = {{0, 5}, {5, 0}, {1, 1000}, {1000, 1}, {65, 257}, {130, 33}};
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
            struct system targets = system_random(random, dtype, pairs[k][0], 3);
            struct system sources = system_random(random, dtype, pairs[k][1], 3);
            for (enum softening softening = none; softening < softening_count; softening++)
                compare(&targets, &sources, softening);
            system_free(&targets);
            system_free(&sources);
        }
}

/* Bodies one after the other at few places, so that many coincide. */
static void test_every_kernel_leaves_coincident_pairs_out(void **state)
{
    struct random_numbers *random = *state;
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        struct system s = system_random(random, dtype, 300, 3);
        for (int64_t k = 0; k < 3 * s.n; k++)
            put(s.x, k, floor(random_uniform(random, 0, 3)));
        for (int64_t k = 0; k < s.n; k++)
            put(s.softening, k, 0);
        compare(&s, &s, none);
        compare(&s, &s, of_bodies);
        system_free(&s);
    }
}

/* Enough bodies for many blocks, the last one nearly empty or nearly full. */
static void test_every_kernel_agrees_for_thousands_of_bodies(void **state)
{
    struct random_numbers *random = *state;
    static const int64_t many[] = {191, 192, 193, 3071, 3073, 3200};
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (size_t k = 0; k < sizeof many / sizeof many[0]; k++) {
            struct system s = system_random(random, dtype, many[k], 2 + (int64_t)k % 2);
            compare(&s, &s, k % 2 ? common : of_bodies);
            system_free(&s);
        }
}

/* Masses that a kernel cannot divide by, or whose products leave the numbers' range. */
static void test_every_kernel_agrees_for_any_masses(void **state)
{
    struct random_numbers *random = *state;
    const double exponents[][2] = {{0, 0}, {-10, 0}, {-30, 30}, {-250, 140}};
    for (int k = 0; k < 8; k++) {
        const kith_dtype dtype = k % 2 ? KITH_F32 : KITH_F64;
        const double *range = exponents[k / 2];
        if (dtype == KITH_F32 && range[1] > 36)
            continue;
        struct system s = system_random(random, dtype, 600, 3);
        for (int64_t i = 0; i < s.n; i++)
            put(s.m, i,
                range[0] == range[1] ? (double)(i % 3)
                                     : pow(10, random_uniform(random, range[0], range[1])));
        compare(&s, &s, none);
        compare(&s, &s, of_bodies);
        system_free(&s);
    }
}

/* Lengths and masses in other units change nothing but the exponent. */
static void test_every_kernel_scales(void **state)
{
    struct random_numbers *random = *state;
    const double scales[] = {1e15, 1e-15};
    for (int k = 0; k < 8; k++) {
        struct system s = system_random(random, k & 1 ? KITH_F32 : KITH_F64, k & 2 ? 700 : 100, 3);
        for (int64_t i = 0; i < 3 * s.n; i++)
            put(s.x, i, get(s.x, i) * scales[k >> 2]);
        compare(&s, &s, none);
        system_free(&s);
    }
}

/* Newton's third law: Σ m a = 0 to the rounding of the terms. */
static void test_every_kernel_keeps_the_momentum(void **state)
{
    struct random_numbers *random = *state;
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (int64_t n = 150; n <= 2000; n += 1850) {
            struct system s = system_random(random, dtype, n, 3);
            for (int64_t k = 0; isa_at(k); k++) {
                if (!isa_at(k)->supported)
                    continue;
                kith_context *context = new_context(isa_at(k)->name, 2);
                system_compute(context, NULL, &s);
                kith_context_free(context);
                double sum[3] = {0}, size = 0;
                for (int64_t i = 0; i < 3 * n; i++) {
                    sum[i % 3] += get(s.m, i / 3) * get(s.a, i);
                    size += fabs(get(s.m, i / 3) * get(s.a, i));
                }
                for (int c = 0; c < 3; c++)
                    assert_less(fabs(sum[c]) / size, dtype == KITH_F64 ? 1e-15 : 5e-7);
            }
            system_free(&s);
        }
}

/* Copies every so-manieth row. */
static void take_every(int64_t every, kith_array from, kith_array to)
{
    const int64_t columns = from.ndim == 2 ? from.shape[1] : 1;
    for (int64_t k = 0; k < elements(to); k++)
        put(to, k, get(from, k / columns * columns * every + k % columns));
}

/* Clustered as galaxies are: the errors of close and far pairs differ by orders of magnitude. */
static void test_float_is_good_to_a_millionth_for_many_bodies(void **state)
{
    struct random_numbers *random = *state;
    const int64_t n = 20000, every = 100;
    struct system s = system_random(random, KITH_F32, n, 3);
    for (int64_t i = 0; i < n; i++) {
        const double scale = random_uniform(random, 0, 1);
        for (int64_t c = 0; c < 3; c++)
            put(s.x, 3 * i + c, scale * scale * get(s.x, 3 * i + c));
    }
    struct system exact = system_create(KITH_F64, n, 3);
    struct system some = system_create(KITH_F64, n / every, 3);
    struct system computed = system_create(KITH_F64, n / every, 3);
    take_every(1, s.x, exact.x);
    take_every(1, s.m, exact.m);
    take_every(every, s.x, some.x);

    kith_context *context = new_context(NULL, 2);
    const kith_forces_options reference = {.solver = solver_named("reference")};
    assert_ok(kith_forces_compute(context, &reference, POINTS(some.x),
                                  PARTICLES(exact.x, {"m", exact.m}), some.a, some.phi));
    kith_context_free(context);
    for (int64_t k = 0; isa_at(k); k++) {
        if (!isa_at(k)->supported)
            continue;
        context = new_context(isa_at(k)->name, 2);
        system_compute(context, NULL, &s);
        take_every(every, s.a, computed.a);
        take_every(every, s.phi, computed.phi);
        assert_less(relative_difference(computed.a, some.a), 1e-6);
        assert_less(relative_difference(computed.phi, some.phi), 1e-6);
        kith_context_free(context);
    }
    system_free(&s);
    system_free(&exact);
    system_free(&some);
    system_free(&computed);
}

static void test_the_bits_are_the_same_for_every_number_of_threads_and_run(void **state)
{
    struct random_numbers *random = *state;
    static const int32_t threads[] = {1, 2, 3, 4, 7, 16, 1, 16};
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (int64_t k = 0; isa_at(k); k++) {
            if (!isa_at(k)->supported)
                continue;
            struct system s = system_random(random, dtype, 4099, 3);
            const size_t bytes = (size_t)(s.n * kith_dtype_bytes(dtype));
            char *first = malloc(4 * bytes);
            for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
                kith_context *context = new_context(isa_at(k)->name, threads[t]);
                system_compute(context, NULL, &s);
                kith_context_free(context);
                if (t == 0) {
                    memcpy(first, s.a.data, 3 * bytes);
                    memcpy(first + 3 * bytes, s.phi.data, bytes);
                }
                assert_memory_equal(first, s.a.data, 3 * bytes);
                assert_memory_equal(first + 3 * bytes, s.phi.data, bytes);
            }
            free(first);
            system_free(&s);
        }
}

static void test_a_cancelled_computation_says_so(void **state)
{
    struct random_numbers *random = *state;
    struct system s = system_random(random, KITH_F64, 1000, 3);
    kith_context *context = new_context(NULL, 2);
    kith_context_cancel(context);
    assert_fails(kith_forces_compute(context, NULL, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
                 KITH_CANCELLED, "cancelled");
    kith_context_clear_cancel(context);
    system_compute(context, NULL, &s);
    kith_context_free(context);
    system_free(&s);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("forces_kernels");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_every_kernel_agrees_with_the_reference, &random),
        cmocka_unit_test_prestate(test_every_kernel_agrees_for_separate_targets, &random),
        cmocka_unit_test_prestate(test_every_kernel_leaves_coincident_pairs_out, &random),
        cmocka_unit_test_prestate(test_every_kernel_agrees_for_thousands_of_bodies, &random),
        cmocka_unit_test_prestate(test_every_kernel_agrees_for_any_masses, &random),
        cmocka_unit_test_prestate(test_every_kernel_scales, &random),
        cmocka_unit_test_prestate(test_every_kernel_keeps_the_momentum, &random),
        cmocka_unit_test_prestate(test_float_is_good_to_a_millionth_for_many_bodies, &random),
        cmocka_unit_test_prestate(test_the_bits_are_the_same_for_every_number_of_threads_and_run,
                                  &random),
        cmocka_unit_test_prestate(test_a_cancelled_computation_says_so, &random),
    };
    return cmocka_run_group_tests_name("forces_kernels", tests, NULL, NULL);
}
