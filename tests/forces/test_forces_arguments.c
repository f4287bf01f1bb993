/* What kith_forces_compute takes: views of all kinds, numbers of all sizes, and what it refuses. */

#include "forces_system.h"

static const kith_array no_array = {0};

static void test_forces_of_nothing_are_nothing(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 2);
    const kith_array empty = kith_array_matrix(NULL, KITH_F64, 0, 3);
    double x[3] = {1, 2, 3}, a[3] = {7, 7, 7}, phi = 7;
    const kith_array one = kith_array_matrix(x, KITH_F64, 1, 3);
    const kith_array acceleration = kith_array_matrix(a, KITH_F64, 1, 3);
    const kith_array potential = kith_array_vector(&phi, KITH_F64, 1);

    assert_ok(kith_forces_compute(context, NULL, NULL, POINTS(empty), empty,
                                  kith_array_vector(NULL, KITH_F64, 0)));
    assert_ok(kith_forces_compute(context, NULL, POINTS(empty), POINTS(one), empty, no_array));
    assert_ok(
        kith_forces_compute(context, NULL, POINTS(one), POINTS(empty), acceleration, potential));
    assert_true(a[0] == 0 && a[1] == 0 && a[2] == 0 && phi == 0);
    a[0] = phi = 7;
    assert_ok(kith_forces_compute(context, NULL, NULL, POINTS(one), acceleration, potential));
    assert_true(a[0] == 0 && phi == 0 && !signbit(phi));
    assert_ok(kith_forces_compute(context, NULL, NULL, POINTS(one), no_array, no_array));
    kith_context_free(context);
}

static void test_forces_of_absent_masses_are_of_ones(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 1);
    struct system s = system_random(random, KITH_F32, 90, 2);
    kith_array a = new_matrix(KITH_F32, 90, 2);
    for (int64_t i = 0; i < 90; i++)
        put(s.m, i, 1);
    system_compute(context, NULL, &s);
    assert_ok(kith_forces_compute(context, NULL, NULL, POINTS(s.x), a, no_array));
    assert_memory_equal(a.data, s.a.data, 90 * 2 * sizeof(float));
    free(a.data);
    system_free(&s);
    kith_context_free(context);
}

/* The same matrix in new memory with these strides; the first element lies at start. */
static kith_array laid_out(kith_array from, int64_t start, int64_t row_stride,
                           int64_t column_stride)
{
    kith_array view = from;
    double *memory = calloc(4096, sizeof *memory);
    view.strides[0] = row_stride;
    view.strides[1] = column_stride;
    view.data = (char *)memory + start * kith_dtype_bytes(from.dtype);
    for (int64_t i = 0; i < from.shape[0]; i++)
        for (int64_t c = 0; c < from.shape[1]; c++) {
            kith_array element = view;
            element.data = (char *)view.data +
                           (i * row_stride + c * column_stride) * kith_dtype_bytes(from.dtype);
            put(element, 0, get(from, i * from.shape[1] + c));
        }
    return view;
}

static double element(kith_array view, int64_t i, int64_t c)
{
    kith_array at = view;
    at.data = (char *)view.data +
              (i * view.strides[0] + c * view.strides[1]) * kith_dtype_bytes(view.dtype);
    return get(at, 0);
}

static void test_forces_are_the_same_bits_for_every_layout(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 1);
    const int64_t n = 100;
    /* start, row stride, column stride: wide rows, column-major, backwards, mirrored columns */
    static const int64_t layouts[][3] = {{0, 7, 2}, {0, 1, 100}, {1000, -3, 1}, {2, 3, -1}};
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        struct system s = system_random(random, dtype, n, 3);
        system_compute(context, NULL, &s);
        for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
            const int64_t *layout = layouts[k];
            const kith_array x = laid_out(s.x, layout[0], layout[1], layout[2]);
            const kith_array a = laid_out(s.x, layout[0], layout[1], layout[2]);
            assert_ok(
                kith_forces_compute(context, NULL, NULL, PARTICLES(x, {"m", s.m}), a, no_array));
            for (int64_t i = 0; i < n; i++)
                for (int64_t c = 0; c < 3; c++)
                    assert_true(element(a, i, c) == get(s.a, 3 * i + c));
            free((char *)x.data - layout[0] * kith_dtype_bytes(dtype));
            free((char *)a.data - layout[0] * kith_dtype_bytes(dtype));
        }
        system_free(&s);
    }
    kith_context_free(context);
}

/* Units of length, mass and G: powers of two. */
struct units {
    int length, mass, g;
};

/* The same bodies in other units have the same forces, to the last bit. */
static void assert_forces_in_units(struct system *s, struct units units)
{
    struct system scaled = system_create(s->dtype, s->n, s->dimensions);
    kith_context *context = new_context(NULL, 1);
    for (int64_t k = 0; k < elements(s->x); k++)
        put(scaled.x, k, ldexp(get(s->x, k), units.length));
    for (int64_t k = 0; k < s->n; k++)
        put(scaled.m, k, ldexp(get(s->m, k), units.mass));
    const kith_forces_options plain = {.softening = 0.01};
    const kith_forces_options options = {.gravitational_constant = ldexp(1, units.g),
                                         .softening = ldexp(0.01, units.length)};
    system_compute(context, &plain, s);
    system_compute(context, &options, &scaled);
    const int potential = units.g + units.mass - units.length;
    for (int64_t k = 0; k < elements(s->a); k++)
        assert_true(get(scaled.a, k) == ldexp(get(s->a, k), potential - units.length));
    for (int64_t k = 0; k < s->n; k++)
        assert_true(get(scaled.phi, k) == ldexp(get(s->phi, k), potential));
    kith_context_free(context);
    system_free(&scaled);
}

static void test_forces_hold_for_lengths_and_masses_of_any_size(void **state)
{
    struct random_numbers *random = *state;
    /* such that the results, not only the input, are numbers of the precision */
    static const struct units in_double[] = {{332, 332, 0},  {-332, -332, 0}, {-332, 0, 0},
                                             {332, -166, 0}, {0, 996, -664},  {-498, -996, 0},
                                             {498, 996, 0},  {664, 996, 332}};
    static const struct units in_float[] = {{50, 50, 0},   {-50, -50, 0},  {50, 0, 0},
                                            {-50, 0, -17}, {0, 100, -100}, {83, 100, 33}};
    struct system s = system_random(random, KITH_F64, 65, 3);
    for (size_t k = 0; k < sizeof in_double / sizeof in_double[0]; k++)
        assert_forces_in_units(&s, in_double[k]);
    system_free(&s);
    s = system_random(random, KITH_F32, 65, 3);
    for (size_t k = 0; k < sizeof in_float / sizeof in_float[0]; k++)
        assert_forces_in_units(&s, in_float[k]);
    system_free(&s);
}

/* A pair much closer to each other than to the third body, in float. */
static void test_forces_of_a_tight_pair_do_not_overflow(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    struct system s = system_create(KITH_F32, 3, 3);
    put(s.x, 0, 1e-15);
    put(s.x, 6, 1);
    for (int64_t i = 0; i < 3; i++)
        put(s.m, i, 1);
    system_compute(context, NULL, &s);
    assert_near(get(s.a, 0), -1e30, 1e24);
    assert_near(get(s.phi, 1), -1e15, 1e9);
    kith_context_free(context);
    system_free(&s);
}

struct call {
    kith_forces_options options;
    kith_array targets, sources, masses, softening, target_softening, acceleration, potential;
};

static void assert_refused(const struct call *call, kith_status status, const char *words)
{
    kith_context *context = new_context(NULL, 1);
    assert_fails(kith_forces_compute(
                     context, &call->options,
                     PARTICLES(call->targets, {"softening", call->target_softening}),
                     PARTICLES(call->sources, {"m", call->masses}, {"softening", call->softening}),
                     call->acceleration, call->potential),
                 status, words);
    kith_context_free(context);
}

static double x4[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, m4[4] = {1, 1, 1, 1}, a4[12], phi4[4],
              own4[4];

static struct call good_call(void)
{
    return (struct call){
        .sources = kith_array_matrix(x4, KITH_F64, 4, 3),
        .masses = kith_array_vector(m4, KITH_F64, 4),
        .acceleration = kith_array_matrix(a4, KITH_F64, 4, 3),
        .potential = kith_array_vector(phi4, KITH_F64, 4),
    };
}

/* A call that is right but for one thing, and words of the message that names it. */
#define REFUSES(status, words, ...)                                                                \
    do {                                                                                           \
        struct call call = good_call();                                                            \
        __VA_ARGS__;                                                                               \
        assert_refused(&call, status, words);                                                      \
    } while (0)

/* Not one array for both, though neither has memory. */
static void test_forces_on_no_targets_of_no_sources(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    const kith_array none = kith_array_matrix(NULL, KITH_F64, 0, 3);
    const kith_array lengths = kith_array_vector(NULL, KITH_F64, 0);
    const kith_particles *both = PARTICLES(none, {"softening", lengths});
    assert_ok(kith_forces_compute(context, NULL, both, both, none, kith_array_none()));
    assert_ok(kith_forces_compute(context, NULL, PARTICLES(none, {"softening", lengths}), both,
                                  none, kith_array_none()));
    kith_context_free(context);
}

static void test_forces_refuse_wrong_shapes(void **state)
{
    (void)state;
    REFUSES(KITH_INVALID_ARGUMENT, "sources.positions", call.sources = no_array);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.positions 2 4 2 3", call.sources.shape[1] = 4);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.positions 1", call.sources.ndim = 1);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.positions -1", call.sources.ndim = -1;
            call.targets = call.sources);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.positions -1", call.sources.shape[0] = -1;
            call.masses = no_array);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.m 3 4", call.masses.shape[0] = 3);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.m 2 1",
            call.masses = kith_array_matrix(m4, KITH_F64, 4, 1));
    REFUSES(KITH_INVALID_ARGUMENT, "acceleration 4 2 4 3", call.acceleration.shape[1] = 2);
    REFUSES(KITH_INVALID_ARGUMENT, "potential 5 4", call.potential.shape[0] = 5);
    REFUSES(KITH_INVALID_ARGUMENT, "targets.positions 2 2 3",
            call.targets = kith_array_matrix(m4, KITH_F64, 2, 2));
    REFUSES(KITH_INVALID_ARGUMENT, "data sources.m 4 NULL", call.masses.data = NULL);
}

static void test_forces_refuse_wrong_types_and_places(void **state)
{
    (void)state;
    REFUSES(KITH_INVALID_ARGUMENT, "sources.positions int64 float64 float32",
            call.sources.dtype = KITH_I64);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.m float32 float64", call.masses.dtype = KITH_F32);
    REFUSES(KITH_UNSUPPORTED, "sources.positions host's", call.sources.device.kind = KITH_CUDA);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.m cuda:0 sources.positions host's",
            call.masses.device.kind = KITH_CUDA);
    REFUSES(KITH_INVALID_ARGUMENT, "potential 0", call.potential.device.kind = KITH_DEVICE_AUTO);
    REFUSES(KITH_INVALID_ARGUMENT, "7", call.sources.device.kind = (kith_device_kind)7);
    REFUSES(KITH_INVALID_ARGUMENT, "acceleration overlaps sources.positions",
            call.acceleration.data = x4);
    REFUSES(KITH_INVALID_ARGUMENT, "potential overlaps acceleration", call.potential.data = a4 + 5);
    REFUSES(KITH_INVALID_ARGUMENT, "potential 0 0", call.potential.strides[0] = 0);
}

static void test_forces_refuse_wrong_options(void **state)
{
    (void)state;
    const kith_array lengths = kith_array_vector(m4, KITH_F64, 4);
    static double other[3] = {5, 5, 5};
    const kith_array target = kith_array_matrix(other, KITH_F64, 1, 3);
    REFUSES(KITH_INVALID_ARGUMENT, "softening -0.5 0", call.options.softening = -0.5);
    REFUSES(KITH_INVALID_ARGUMENT, "softening nan nan", call.options.softening = NAN);
    REFUSES(KITH_INVALID_ARGUMENT, "gravitational_constant inf inf",
            call.options.gravitational_constant = INFINITY);
    REFUSES(KITH_INVALID_ARGUMENT, "softening 0.5 sources.softening", call.options.softening = 0.5;
            call.softening = lengths);
    REFUSES(KITH_INVALID_ARGUMENT, "targets targets.softening",
            call.target_softening = kith_array_vector(own4, KITH_F64, 4);
            call.softening = lengths);
    REFUSES(KITH_INVALID_ARGUMENT, "sources.softening", call.targets = target;
            call.acceleration.shape[0] = call.potential.shape[0] = 1; call.softening = lengths);
    REFUSES(KITH_INVALID_ARGUMENT, "method 99", call.options.method = (kith_forces_method)99);
}

static void test_forces_refuse_numbers_that_are_none(void **state)
{
    (void)state;
    double x[12], m[4] = {1, 1, INFINITY, 1}, lengths[4] = {0, 0, 0, -2};
    memcpy(x, x4, sizeof x);
    x[7] = NAN;
    REFUSES(KITH_INVALID_ARGUMENT, "row 2 sources.positions nan", call.sources.data = x);
    REFUSES(KITH_INVALID_ARGUMENT, "row 0 targets.positions nan",
            call.targets = kith_array_matrix(x + 6, KITH_F64, 1, 3);
            call.acceleration.shape[0] = call.potential.shape[0] = 1);
    REFUSES(KITH_INVALID_ARGUMENT, "row 2 sources.m inf", call.masses.data = m);
    REFUSES(KITH_INVALID_ARGUMENT, "row 3 sources.softening -2 0",
            call.softening = kith_array_vector(lengths, KITH_F64, 4));
}

static void test_forces_refuse_columns_that_are_not_in_the_table(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    const kith_array x = kith_array_matrix(x4, KITH_F64, 4, 3), none = kith_array_none();
    const kith_array m = kith_array_vector(m4, KITH_F64, 4),
                     a = kith_array_matrix(a4, KITH_F64, 4, 3);
    assert_fails(kith_forces_compute(context, NULL, NULL, PARTICLES(x, {"mass", m}), a, none),
                 KITH_INVALID_ARGUMENT, "sources column 'mass'");
    assert_fails(
        kith_forces_compute(context, NULL, NULL, PARTICLES(x, {"m", m}, {"m", m}), a, none),
        KITH_INVALID_ARGUMENT, "sources 'm'");
    assert_fails(kith_forces_compute(context, NULL, NULL, PARTICLES(x, {NULL, m}), a, none),
                 KITH_INVALID_ARGUMENT, "sources columns[0]");
    assert_fails(
        kith_forces_compute(context, NULL, PARTICLES(x, {"charge", m}), POINTS(x), a, none),
        KITH_INVALID_ARGUMENT, "targets column 'charge'");
    assert_fails(kith_forces_compute(context, NULL, NULL, NULL, a, none), KITH_INVALID_ARGUMENT,
                 "sources NULL");
    assert_ok(
        kith_forces_compute(context, NULL, NULL, PARTICLES(x, {"m", m}, {"m", none}), a, none));
    kith_context_free(context);
}

static void test_forces_ignore_columns_that_the_law_does_not_use(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    double bad[4] = {NAN, 1, 1, 1}, expected[12];
    const kith_array x = kith_array_matrix(x4, KITH_F64, 4, 3),
                     a = kith_array_matrix(a4, KITH_F64, 4, 3);
    assert_ok(kith_forces_compute(context, NULL, NULL, POINTS(x), a, no_array));
    memcpy(expected, a4, sizeof expected);
    assert_ok(kith_forces_compute(context, NULL, NULL,
                                  PARTICLES(x, {"q", kith_array_vector(bad, KITH_F64, 4)}), a,
                                  no_array));
    assert_memory_equal(expected, a4, sizeof expected);
    kith_context_free(context);
}

/* The same structure, or another one with the same positions. */
static void test_forces_of_particles_given_twice_leave_themselves_out(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    double lengths[4] = {1, 2, 3, 4}, expected[4];
    const kith_array x = kith_array_matrix(x4, KITH_F64, 4, 3),
                     m = kith_array_vector(m4, KITH_F64, 4);
    const kith_array e = kith_array_vector(lengths, KITH_F64, 4),
                     phi = kith_array_vector(phi4, KITH_F64, 4);
    const kith_particles *bodies = PARTICLES(x, {"m", m}, {"softening", e});
    assert_ok(kith_forces_compute(context, NULL, NULL, bodies, no_array, phi));
    memcpy(expected, phi4, sizeof expected);
    const kith_particles *const targets[] = {bodies, PARTICLES(x, {"softening", e}), POINTS(x),
                                             POINTS(no_array)};
    for (int k = 0; k < 4; k++) {
        memset(phi4, 0, sizeof phi4);
        assert_ok(kith_forces_compute(context, NULL, targets[k], bodies, no_array, phi));
        assert_memory_equal(expected, phi4, sizeof expected);
    }
    kith_context_free(context);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("forces_arguments");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_of_nothing_are_nothing),
        cmocka_unit_test_prestate(test_forces_of_absent_masses_are_of_ones, &random),
        cmocka_unit_test_prestate(test_forces_are_the_same_bits_for_every_layout, &random),
        cmocka_unit_test_prestate(test_forces_hold_for_lengths_and_masses_of_any_size, &random),
        cmocka_unit_test(test_forces_of_a_tight_pair_do_not_overflow),
        cmocka_unit_test(test_forces_refuse_wrong_shapes),
        cmocka_unit_test(test_forces_refuse_wrong_types_and_places),
        cmocka_unit_test(test_forces_on_no_targets_of_no_sources),
        cmocka_unit_test(test_forces_refuse_wrong_options),
        cmocka_unit_test(test_forces_refuse_numbers_that_are_none),
        cmocka_unit_test(test_forces_refuse_columns_that_are_not_in_the_table),
        cmocka_unit_test(test_forces_ignore_columns_that_the_law_does_not_use),
        cmocka_unit_test(test_forces_of_particles_given_twice_leave_themselves_out),
    };
    return cmocka_run_group_tests_name("forces_arguments", tests, NULL, NULL);
}
