/* Gravity with tensor cores (method tensor) against the direct sum in double precision. */

#include "gpu_testing.h"

/* Of many bodies of equal mass; others keep what float promises (promised_error). */
static const double error_of_many = 5e-7;

static const kith_forces_options tensor = {.method = KITH_FORCES_TENSOR};

typedef void put_body(struct random_numbers *random, int64_t i, int64_t n, double *x, double *mass);

/* A direction, and a radius whose mass fraction is that of Plummer's and of Hernquist's model. */
static void put_at_radius(struct random_numbers *random, double r, double *x)
{
    double norm2 = 0;
    do {
        norm2 = 0;
        for (int c = 0; c < 3; c++) {
            x[c] = random_uniform(random, -1, 1);
            norm2 += x[c] * x[c];
        }
    } while (norm2 > 1 || norm2 < 1e-3);
    for (int c = 0; c < 3; c++)
        x[c] *= r / sqrt(norm2);
}

static void uniform(struct random_numbers *random, int64_t i, int64_t n, double *x, double *mass)
{
    (void)i, (void)n, (void)mass;
    for (int c = 0; c < 3; c++)
        x[c] = random_uniform(random, -1, 1);
}

static void plummer(struct random_numbers *random, int64_t i, int64_t n, double *x, double *mass)
{
    (void)i, (void)n, (void)mass;
    put_at_radius(random, 1 / sqrt(pow(random_uniform(random, 1e-6, 0.999), -2.0 / 3) - 1), x);
}

static void hernquist(struct random_numbers *random, int64_t i, int64_t n, double *x, double *mass)
{
    (void)i, (void)n, (void)mass;
    const double root = sqrt(random_uniform(random, 1e-6, 0.99));
    put_at_radius(random, root / (1 - root), x);
}

static void thin_disk(struct random_numbers *random, int64_t i, int64_t n, double *x, double *mass)
{
    (void)i, (void)n, (void)mass;
    const double r = -log(random_uniform(random, 1e-6, 1)),
                 angle = random_uniform(random, 0, 6.2831853);
    x[0] = r * cos(angle);
    x[1] = r * sin(angle);
    x[2] = random_uniform(random, -0.01, 0.01);
}

static void two_clusters(struct random_numbers *random, int64_t i, int64_t n, double *x,
                         double *mass)
{
    plummer(random, i, n, x, mass);
    x[0] += i % 3 == 0 ? 40 : 0;
}

static void lattice(struct random_numbers *random, int64_t i, int64_t n, double *x, double *mass)
{
    (void)random, (void)mass;
    const int64_t side = (int64_t)ceil(cbrt((double)n));
    const int64_t row = i / side, layer = row / side;
    x[0] = (double)(i % side);
    x[1] = (double)(row % side);
    x[2] = (double)layer;
}

static void one_outlier(struct random_numbers *random, int64_t i, int64_t n, double *x,
                        double *mass)
{
    plummer(random, i, n, x, mass);
    if (i == n / 2)
        x[1] = 1e6;
}

/* So far that all others are at one place of the curve. */
static void one_very_far(struct random_numbers *random, int64_t i, int64_t n, double *x,
                         double *mass)
{
    plummer(random, i, n, x, mass);
    if (i == n / 2)
        x[1] = 1e9;
}

static void some_coincident(struct random_numbers *random, int64_t i, int64_t n, double *x,
                            double *mass)
{
    uniform(random, i, n, x, mass);
    for (int c = 0; c < 3 && i % 4 == 0; c++)
        x[c] = floor(10 * x[c]);
}

/* More than a tile of them so near to each other that, softened, they do nothing to each other. */
static void some_very_near(struct random_numbers *random, int64_t i, int64_t n, double *x,
                           double *mass)
{
    uniform(random, i, n, x, mass);
    for (int c = 0; c < 3 && i < 600; c++)
        x[c] *= 1e-9;
}

/* Tiles of bodies whose weights of another body are all equal: rounded alike, they would add up. */
static void a_fifth_at_one_place(struct random_numbers *random, int64_t i, int64_t n, double *x,
                                 double *mass)
{
    uniform(random, i, n, x, mass);
    for (int c = 0; c < 3 && i < n / 5; c++)
        x[c] *= 1e-9;
}

static void masses_of_any_size(struct random_numbers *random, int64_t i, int64_t n, double *x,
                               double *mass)
{
    uniform(random, i, n, x, mass);
    *mass = pow(10, random_uniform(random, -6, 0));
}

static void one_heavy(struct random_numbers *random, int64_t i, int64_t n, double *x, double *mass)
{
    plummer(random, i, n, x, mass);
    *mass = i == n / 3 ? 1e6 : 1;
}

static void masses_of_both_signs(struct random_numbers *random, int64_t i, int64_t n, double *x,
                                 double *mass)
{
    uniform(random, i, n, x, mass);
    *mass = random_uniform(random, -0.5, 1);
}

/* Their sums nearly cancel. */
static void as_many_negative_masses(struct random_numbers *random, int64_t i, int64_t n, double *x,
                                    double *mass)
{
    uniform(random, i, n, x, mass);
    *mass = i % 2 == 0 ? 1 : -1;
}

/* No tile has both. */
static void signs_in_two_halves(struct random_numbers *random, int64_t i, int64_t n, double *x,
                                double *mass)
{
    uniform(random, i, n, x, mass);
    x[0] += x[0] > 0 ? 1 : -1;
    *mass = x[0] > 0 ? 1 : -1;
}

static const struct {
    const char *name;
    put_body *place;
    bool equal_masses;
} distributions[] = {
    {"uniform", uniform, true},
    {"plummer", plummer, true},
    {"hernquist", hernquist, true},
    {"thin disk", thin_disk, true},
    {"two clusters", two_clusters, true},
    {"lattice", lattice, true},
    {"one outlier", one_outlier, true},
    {"some coincident", some_coincident, true},
    {"some very near", some_very_near, false},
    {"a fifth at one place", a_fifth_at_one_place, false},
    {"masses of any size", masses_of_any_size, false},
    {"one heavy", one_heavy, false},
    {"masses of both signs", masses_of_both_signs, false},
    {"as many negative masses", as_many_negative_masses, false},
    {"signs in two halves", signs_in_two_halves, false},
};

/* In float, or the same numbers in double. */
static struct system distributed(struct random_numbers *random, put_body *place, int64_t n)
{
    struct system made = system_create(KITH_F32, n, 3);
    for (int64_t i = 0; i < n; i++) {
        double x[3] = {0}, mass = 1;
        place(random, i, n, x, &mass);
        for (int c = 0; c < 3; c++)
            put(made.x, 3 * i + c, x[c]);
        put(made.m, i, mass);
    }
    return made;
}

static struct system in_double(const struct system *s)
{
    struct system made = system_create(KITH_F64, s->n, s->dimensions);
    for (int64_t k = 0; k < elements(s->x); k++)
        put(made.x, k, get(s->x, k));
    for (int64_t k = 0; k < s->n; k++)
        put(made.m, k, get(s->m, k));
    return made;
}

static void accelerations(kith_context *context, const kith_forces_options *options,
                          struct system *s)
{
    assert_ok(kith_forces_compute(context, options, NULL, PARTICLES(s->x, {"m", s->m}), s->a,
                                  kith_array_none()));
}

/* Against double precision on the same device, which test_cuda_forces checks. */
static double error_of(kith_context *context, kith_forces_method method, double softening,
                       struct system *s)
{
    struct system expected = in_double(s);
    kith_forces_options options = {.method = method, .softening = softening};
    accelerations(context, &options, s);
    options.method = KITH_FORCES_AUTO;
    accelerations(context, &options, &expected);
    const double error = relative_difference(s->a, expected.a);
    system_free(&expected);
    return error;
}

/* The bound, or twice the error of the method symmetric: without softening a single close pair may
 * be most of the norm. */
static void assert_exact(kith_context *context, double softening, struct system *s, double most,
                         const char *name)
{
    const double symmetric = error_of(context, KITH_FORCES_SYMMETRIC, softening, s);
    const double error = error_of(context, KITH_FORCES_TENSOR, softening, s);
    if (!(error < fmax(most, 2 * symmetric)))
        fail_msg("%s, %lld bodies, %lldD, softening %g: error %g, of symmetric %g", name,
                 (long long)s->n, (long long)s->dimensions, softening, error, symmetric);
}

static void test_cuda_tensor_is_the_direct_sum_of_many_bodies(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    const int64_t n = test_is_quick() ? 3001 : 65537;
    for (size_t k = 0; k < sizeof distributions / sizeof distributions[0]; k++)
        for (int softened = 0; softened < 2; softened++) {
            struct system s = distributed(*state, distributions[k].place, n);
            const double most = distributions[k].equal_masses && !test_is_quick()
                                    ? error_of_many
                                    : promised_error(KITH_F32, n);
            assert_exact(context, softened ? 0.02 : 0, &s, most, distributions[k].name);
            system_free(&s);
        }
    kith_context_free(context);
}

/* Potentials are sums of one sign: relative to their norm they are more exact. */
static void assert_potentials(kith_context *context, double softening, struct system *s,
                              const char *name)
{
    struct system expected = in_double(s), alone = system_copy(s);
    kith_forces_options options = {.method = KITH_FORCES_TENSOR, .softening = softening};
    assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES_OF(s), s->a, s->phi));
    assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES_OF(&alone), kith_array_none(),
                                  alone.phi));
    assert_memory_equal(s->phi.data, alone.phi.data, (size_t)s->n * sizeof(float));
    options.method = KITH_FORCES_AUTO;
    assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES_OF(&expected), expected.a,
                                  expected.phi));
    const double error = relative_difference(s->phi, expected.phi);
    if (!(error < promised_error(KITH_F32, s->n)))
        fail_msg("%s, %lld bodies, softening %g: error of potentials %g", name, (long long)s->n,
                 softening, error);
    options.method = KITH_FORCES_SYMMETRIC;
    const double of_accelerations = relative_difference(s->a, expected.a);
    assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES_OF(s), s->a, s->phi));
    const double symmetric = relative_difference(s->a, expected.a);
    if (!(of_accelerations < fmax(promised_error(KITH_F32, s->n), 2 * symmetric)))
        fail_msg("%s, %lld bodies, softening %g: error beside potentials %g, of symmetric %g", name,
                 (long long)s->n, softening, of_accelerations, symmetric);
    system_free(&alone);
    system_free(&expected);
}

static void test_cuda_tensor_has_potentials(void **state)
{
    static const int64_t sizes[] = {1, 2, 255, 257, 3000};
    kith_context *context = new_gpu_context(NULL);
    const int64_t n = test_is_quick() ? 3001 : 65537;
    for (size_t k = 0; k < sizeof distributions / sizeof distributions[0]; k++)
        for (int softened = 0; softened < 2; softened++) {
            struct system s = distributed(*state, distributions[k].place, n);
            assert_potentials(context, softened ? 0.02 : 0, &s, distributions[k].name);
            system_free(&s);
        }
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        struct system s = system_random(*state, KITH_F32, sizes[k], 2 + k % 2);
        assert_potentials(context, k % 2 ? 0.05 : 0, &s, "random");
        system_free(&s);
    }
    kith_context_free(context);
}

static void test_cuda_tensor_takes_any_number_of_bodies(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 31, 127, 128, 129, 255, 256, 257, 511, 1025, 4000};
    kith_context *context = new_gpu_context(NULL);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int64_t dimensions = 2; dimensions <= 3; dimensions++) {
            struct system s = system_random(*state, KITH_F32, sizes[k], dimensions);
            assert_exact(context, k % 2 ? 0.05 : 0, &s, promised_error(KITH_F32, sizes[k]),
                         "random");
            system_free(&s);
        }
    kith_context_free(context);
}

static void test_cuda_tensor_gives_the_same_bits_wherever_the_arrays_are(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    struct system s = distributed(*state, plummer, test_is_quick() ? 2000 : 50001);
    struct system again = system_copy(&s), of_device = system_copy(&s);
    struct system there = gpu_system(&s, true);
    accelerations(context, &tensor, &s);
    accelerations(context, &tensor, &again);
    accelerations(context, &tensor, &there);
    assert_ok(kith_context_synchronize(context));
    gpu_fetch(&there, &of_device);
    assert_memory_equal(s.a.data, again.a.data, (size_t)s.n * 3 * sizeof(float));
    assert_memory_equal(s.a.data, of_device.a.data, (size_t)s.n * 3 * sizeof(float));
    gpu_system_free(&there);
    system_free(&s);
    system_free(&again);
    system_free(&of_device);
    kith_context_free(context);
}

/* With one GPU it is its own peer. */
static void test_cuda_tensor_gives_several_devices_the_bits_of_one(void **state)
{
    static const int32_t peer_counts[] = {1, 2, 7};
    int devices = 0;
    assert_cuda(cudaGetDeviceCount(&devices));
    struct system s = distributed(*state, plummer, test_is_quick() ? 2000 : 70001);
    struct system shared = system_copy(&s);
    kith_context *one = new_gpu_context(NULL);
    accelerations(one, &tensor, &s);
    for (size_t k = 0; k < sizeof peer_counts / sizeof peer_counts[0]; k++) {
        int32_t indices[7];
        for (int32_t p = 0; p < peer_counts[k]; p++)
            indices[p] = (p + 1) % devices;
        kith_context *context = new_gpu_context(NULL);
        assert_ok(kith_context_add_peers(context, indices, peer_counts[k]));
        memset(shared.a.data, 0, (size_t)s.n * 3 * sizeof(float));
        accelerations(context, &tensor, &shared);
        assert_memory_equal(s.a.data, shared.a.data, (size_t)s.n * 3 * sizeof(float));
        kith_context_free(context);
    }
    kith_context_free(one);
    system_free(&s);
    system_free(&shared);
}

static void assert_auto_is(kith_context *context, put_body *place, kith_forces_method method,
                           struct random_numbers *random, int64_t n, const char *name)
{
    const kith_forces_options options = {.method = method}, none = {0};
    struct system s = distributed(random, place, n), expected = system_copy(&s);
    for (int has_potential = 0; has_potential < 2; has_potential++) {
        const kith_array phi = has_potential ? s.phi : kith_array_none();
        const kith_array also = has_potential ? expected.phi : kith_array_none();
        assert_ok(kith_forces_compute(context, &none, NULL, PARTICLES_OF(&s), s.a, phi));
        assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES_OF(&expected), expected.a,
                                      also));
        if (memcmp(s.a.data, expected.a.data, (size_t)n * 3 * sizeof(float)) != 0)
            fail_msg("%s: auto is not method %d", name, (int)method);
    }
    assert_memory_equal(s.phi.data, expected.phi.data, (size_t)n * sizeof(float));
    system_free(&s);
    system_free(&expected);
}

/* The device decides it by the pairs of tiles that are near. */
static void test_cuda_auto_takes_tensor_where_it_is_faster(void **state)
{
    const int64_t n = 262145;
    kith_context *context = new_gpu_context(NULL);
    assert_auto_is(context, uniform, KITH_FORCES_TENSOR, *state, n, "uniform");
    if (!test_is_quick()) {
        assert_auto_is(context, plummer, KITH_FORCES_TENSOR, *state, n, "plummer");
        assert_auto_is(context, one_very_far, KITH_FORCES_SYMMETRIC, *state, n, "one very far");
        assert_auto_is(context, masses_of_both_signs, KITH_FORCES_SYMMETRIC, *state, n, "signs");
        assert_auto_is(context, uniform, KITH_FORCES_SYMMETRIC, *state, n - 2, "fewer");
    }
    kith_context_free(context);
}

/* All results are NaN, whatever the sums of a NaN are put away as; other calls go on. */
static void test_cuda_tensor_leaves_bad_numbers_to_synchronize(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    kith_context *context = new_gpu_context(NULL);
    for (int k = 0; k < 6; k++) {
        struct system s = distributed(*state, plummer, 3000);
        struct system good = gpu_system(&s, false);
        if (k % 2)
            put(s.m, 1234, bad[k / 2]);
        else
            put(s.x, 3 * 1234 + 1, bad[k / 2]);
        struct system there = gpu_system(&s, false);
        accelerations(context, &tensor, &there);
        accelerations(context, &tensor, &good);
        assert_fails(kith_context_synchronize(context), KITH_INVALID_ARGUMENT, "row 1234");
        gpu_fetch(&there, &s);
        for (int64_t i = 0; i < 3 * s.n; i++)
            assert_true(isnan(get(s.a, i)));
        gpu_fetch(&good, &s);
        assert_true(isfinite(get(s.a, 0)));
        gpu_system_free(&good);
        gpu_system_free(&there);
        system_free(&s);
    }
    kith_context_free(context);
}

/* Lengths and masses in other units, powers of two, change no bit but the exponent. */
static void test_cuda_tensor_does_not_depend_on_units(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    struct system s = distributed(*state, hernquist, 5000), scaled = system_copy(&s);
    for (int64_t k = 0; k < elements(s.x); k++)
        put(scaled.x, k, get(s.x, k) * 0x1p-30);
    for (int64_t k = 0; k < s.n; k++)
        put(scaled.m, k, get(s.m, k) * 0x1p20);
    accelerations(context, &tensor, &s);
    accelerations(context, &tensor, &scaled);
    for (int64_t k = 0; k < elements(s.a); k++)
        if (get(s.a, k) * 0x1p80 != get(scaled.a, k))
            fail_msg("number %lld is %g, and %g in other units", (long long)k, get(s.a, k),
                     get(scaled.a, k));
    system_free(&s);
    system_free(&scaled);
    kith_context_free(context);
}

static void assert_refused(kith_status status, const char *why)
{
    assert_int_equal(status, KITH_UNSUPPORTED);
    assert_true(has_fields(kith_error_message(), "method is tensor"));
    assert_true(has_fields(kith_error_message(), why));
}

static void test_cuda_tensor_says_what_it_cannot(void **state)
{
    kith_context *context = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    struct system s = system_random(*state, KITH_F32, 10, 3);
    struct system others = system_random(*state, KITH_F32, 10, 3);
    struct system wide = system_random(*state, KITH_F64, 10, 3);
    const kith_array none = kith_array_none();
    assert_refused(kith_forces_compute(context, &tensor, NULL, PARTICLES_OF(&wide), wide.a, none),
                   "single precision");
    assert_refused(
        kith_forces_compute(context, &tensor, POINTS(others.x), PARTICLES_OF(&s), s.a, none),
        "targets are not the sources");
    assert_refused(kith_forces_compute(cpu, &tensor, NULL, PARTICLES_OF(&s), s.a, none),
                   "only GPUs");
    s.softened = true;
    assert_refused(kith_forces_compute(context, &tensor, NULL, PARTICLES_OF(&s), s.a, none),
                   "softening");
    system_free(&s);
    system_free(&others);
    system_free(&wide);
    kith_context_free(context);
    kith_context_free(cpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_tensor"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_tensor");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_tensor_is_the_direct_sum_of_many_bodies, &random),
        cmocka_unit_test_prestate(test_cuda_tensor_has_potentials, &random),
        cmocka_unit_test_prestate(test_cuda_tensor_takes_any_number_of_bodies, &random),
        cmocka_unit_test_prestate(test_cuda_tensor_gives_the_same_bits_wherever_the_arrays_are,
                                  &random),
        cmocka_unit_test_prestate(test_cuda_tensor_gives_several_devices_the_bits_of_one, &random),
        cmocka_unit_test_prestate(test_cuda_auto_takes_tensor_where_it_is_faster, &random),
        cmocka_unit_test_prestate(test_cuda_tensor_leaves_bad_numbers_to_synchronize, &random),
        cmocka_unit_test_prestate(test_cuda_tensor_does_not_depend_on_units, &random),
        cmocka_unit_test_prestate(test_cuda_tensor_says_what_it_cannot, &random),
    };
    return cmocka_run_group_tests_name("cuda_tensor", tests, NULL, NULL);
}
