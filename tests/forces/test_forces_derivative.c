/* How forces and potentials change along directions (kith_forces_derivative), against differences
 * of kith_forces_compute and against the reference. */

#include "forces_derivative.h"

#include <unistd.h>

/* x + h v. */
static kith_array displaced(kith_array x, kith_array v, double h)
{
    const kith_array to = new_matrix(KITH_F64, x.shape[0], x.shape[1]);
    for (int64_t k = 0; k < elements(x); k++)
        put(to, k, get(x, k) + h * get(v, k));
    return to;
}

/* The results with targets and sources displaced by ±h, their difference over 2h. */
static struct system difference(kith_context *context, const kith_forces_options *options,
                                const struct moving *targets, const struct moving *sources,
                                kith_array v, kith_array w)
{
    const double h = 3e-7; /* for bodies a thousandth apart, too */
    struct system side[2];
    for (int k = 0; k < 2; k++) {
        side[k] = system_create(KITH_F64, targets->s.n, targets->s.dimensions);
        const kith_array x = displaced(sources->s.x, w, k ? h : -h);
        const kith_array at = targets == sources ? x : displaced(targets->s.x, v, k ? h : -h);
        assert_ok(
            kith_forces_compute(context, options,
                                PARTICLES(at, {"m", targets->s.m}, {"q", targets->q},
                                          {"softening", targets->s.softened ? targets->s.softening
                                                                            : kith_array_none()}),
                                PARTICLES(x, {"m", sources->s.m}, {"q", sources->q},
                                          {"softening", sources->s.softened ? sources->s.softening
                                                                            : kith_array_none()}),
                                side[k].a, side[k].phi));
        if (at.data != x.data)
            free(at.data);
        free(x.data);
    }
    for (int64_t k = 0; k < elements(side[0].a); k++)
        put(side[1].a, k, (get(side[1].a, k) - get(side[0].a, k)) / (2 * h));
    for (int64_t k = 0; k < elements(side[0].phi); k++)
        put(side[1].phi, k, (get(side[1].phi, k) - get(side[0].phi, k)) / (2 * h));
    system_free(&side[0]);
    return side[1];
}

static void assert_slope(const char *text, const struct system *found,
                         const struct system *expected)
{
    const double of_a = relative_difference(found->a, expected->a);
    const double of_phi = relative_difference(found->phi, expected->phi);
    if (!(of_a < 2e-5 && of_phi < 2e-5))
        fail_msg("%s in %lldD: the derivatives are off by %g and %g", text,
                 (long long)found->dimensions, of_a, of_phi);
}

/* Of bodies that move together, and of targets and sources that move apart. */
static void check_slope(kith_context *context, struct random_numbers *random, const char *text,
                        int64_t dimensions)
{
    kith_law *law = text ? new_law(text) : NULL;
    struct moving bodies = moving_random(random, KITH_F64, 19, dimensions);
    struct moving others = moving_random(random, KITH_F64, 60, dimensions);
    struct system found = system_create(KITH_F64, 19, dimensions);
    const char *name = text ? text : "gravity";
    for (int softening = 0; softening < derivative_softenings; softening++) {
        kith_forces_options options = derivative_options(law, &bodies, softening);
        struct system expected =
            difference(context, &options, &bodies, &bodies, bodies.w, bodies.w);
        assert_ok(kith_forces_derivative(context, &options, NULL, PARTICLES_OF(&bodies.s),
                                         kith_array_none(), bodies.w, found.a, found.phi));
        assert_slope(name, &found, &expected);
        system_free(&expected);

        others.s.softened = bodies.s.softened;
        /* The cells of both are the same: half a cell apart no two meet. */
        for (int64_t k = 0; softening == 0 && k < elements(others.s.x); k++)
            put(others.s.x, k, get(others.s.x, k) + (dimensions == 2 ? 0.111 : 0.2));
        expected = difference(context, &options, &bodies, &others, bodies.v, others.w);
        assert_ok(kith_forces_derivative(context, &options, PARTICLES_OF(&bodies.s),
                                         PARTICLES_OF(&others.s), bodies.v, others.w, found.a,
                                         found.phi));
        assert_slope(name, &found, &expected);
        system_free(&expected);
    }
    system_free(&found);
    moving_free(&bodies);
    moving_free(&others);
    kith_law_free(law);
}

static const char *const smooth_laws[] = {NULL,
                                          "coulomb",
                                          "power:2.5",
                                          "yukawa:0.7",
                                          "lennard-jones:1.5,0.2",
                                          "morse:1,2,0.5",
                                          "gaussian:1",
                                          "multiquadric:0.3",
                                          "thin-plate",
                                          "distance",
                                          "expr:q_i*q_j*exp(-r/0.7)/r",
                                          "expr:q_i*q_j*(1 - 3*dx*dx/(r2 + 0.1))/(r*r2 + 0.1)"};
enum { smooth_law_count = sizeof smooth_laws / sizeof smooth_laws[0] };

static void test_derivatives_are_the_slopes_of_forces_and_potentials(void **state)
{
    kith_context *context = new_context(NULL, 2);
    for (int k = 0; k < smooth_law_count; k++)
        for (int64_t dimensions = 2; dimensions <= 3; dimensions++)
            check_slope(context, *state, smooth_laws[k], dimensions);
    kith_context_free(context);
}

static void check_kernel(kith_context *context, struct random_numbers *random, const char *text,
                         kith_dtype dtype, int64_t n)
{
    kith_law *law = text ? new_law(text) : NULL;
    struct moving bodies = moving_random(random, dtype, n, 2 + n % 2);
    for (int softening = 0; softening < derivative_softenings; softening++) {
        const kith_forces_options options = derivative_options(law, &bodies, softening);
        struct system expected = derivative_reference(&options, &bodies);
        assert_ok(moving_derive(context, &options, &bodies, bodies.s.a, bodies.s.phi));
        assert_derivative(text ? text : "gravity", &bodies.s, &expected);
        system_free(&expected);
    }
    moving_free(&bodies);
    kith_law_free(law);
}

static void test_derivatives_of_every_kernel_agree_with_the_reference(void **state)
{
    static const int64_t counts[] = {1, 2, 33, 64, 70};
    for (int64_t k = 0; isa_at(k); k++) {
        if (!isa_at(k)->supported)
            continue;
        kith_context *context = new_context(isa_at(k)->name, 2);
        for (int law = -1; law < force_law_count; law++)
            for (int c = 0; c < 10; c++)
                check_kernel(context, *state, law < 0 ? NULL : force_laws[law],
                             c % 2 ? KITH_F32 : KITH_F64, counts[c / 2]);
        kith_context_free(context);
    }
}

/* v·H w = w·H v, H of the energy. */
static void test_second_derivatives_are_symmetric(void **state)
{
    kith_context *context = new_context(NULL, 1);
    for (int k = 0; k < smooth_law_count; k++) {
        kith_law *law = smooth_laws[k] ? new_law(smooth_laws[k]) : NULL;
        struct moving bodies = moving_random(*state, KITH_F64, 40, 3);
        const kith_forces_options options = derivative_options(law, &bodies, 1);
        const kith_array none = kith_array_none(), direction[2] = {bodies.v, bodies.w};
        double product[2] = {0}, scale = 0;
        for (int side = 0; side < 2; side++) {
            assert_ok(kith_forces_derivative(context, &options, NULL, PARTICLES_OF(&bodies.s), none,
                                             direction[side], bodies.s.a, none));
            for (int64_t e = 0; e < 120; e++) {
                const double term =
                    get(bodies.s.m, e / 3) * get(bodies.s.a, e) * get(direction[1 - side], e);
                product[side] += term;
                scale += fabs(term);
            }
        }
        assert_near(product[0], product[1], 1e-12 * scale);
        moving_free(&bodies);
        kith_law_free(law);
    }
    kith_context_free(context);
}

/* In meters and kilograms s⁵ is out of a float's range. */
static void test_derivatives_of_gravity_have_any_units(void **state)
{
    kith_context *context = new_context(NULL, 2);
    struct moving bodies = moving_random(*state, KITH_F32, 50, 3);
    const double length = 1.5e11, mass = 2e30, g = 6.674e-11;
    for (int64_t k = 0; k < 150; k++)
        put(bodies.s.x, k, get(bodies.s.x, k) * length);
    for (int64_t i = 0; i < 50; i++)
        put(bodies.s.m, i, get(bodies.s.m, i) * mass);
    const kith_forces_options options = {.gravitational_constant = g, .softening = 0.1 * length};
    struct system expected = derivative_reference(&options, &bodies);
    assert_ok(moving_derive(context, &options, &bodies, bodies.s.a, bodies.s.phi));
    assert_less(relative_difference(bodies.s.a, expected.a), 1e-5);
    assert_less(relative_difference(bodies.s.phi, expected.phi), 1e-5);
    assert_true(get(bodies.s.a, 0) != 0 && get(bodies.s.phi, 0) != 0);
    system_free(&expected);
    moving_free(&bodies);
    kith_context_free(context);
}

/* Of gravity no mass divides. */
static void test_a_body_without_mass_feels_the_others(void **state)
{
    (void)state;
    double x[2][3] = {{0, 0, 0}, {2, 0, 0}}, m[2] = {0, 1}, w[2][3] = {{0, 0, 0}, {1, 1, 0}};
    double a[2][3], phi[2];
    kith_context *context = new_context(NULL, 1);
    const kith_array none = kith_array_none();
    assert_ok(kith_forces_derivative(
        context, NULL, NULL,
        PARTICLES(kith_array_matrix(x, KITH_F64, 2, 3), {"m", kith_array_vector(m, KITH_F64, 2)}),
        none, kith_array_matrix(w, KITH_F64, 2, 3), kith_array_matrix(a, KITH_F64, 2, 3),
        kith_array_vector(phi, KITH_F64, 2)));
    assert_near(a[0][0], -0.25, 1e-15);
    assert_near(a[0][1], 0.125, 1e-15);
    assert_near(phi[0], 0.25, 1e-15);
    assert_true(a[1][0] == 0 && a[1][1] == 0 && phi[1] == 0);
    kith_context_free(context);
}

/* V(i, j) is then bilinear: target i has the charge 1. */
static void test_bodies_may_feel_with_other_charges_than_they_pull_with(void **state)
{
    kith_context *context = new_context(NULL, 2);
    struct moving bodies = moving_random(*state, KITH_F64, 50, 3);
    kith_law *law = new_law("yukawa:0.7");
    const kith_forces_options options = {.law = law, .softening = 0.1};
    const kith_array none = kith_array_none(), ones = new_vector(KITH_F64, 50);
    const kith_array phi = new_vector(KITH_F64, 50);
    for (int64_t i = 0; i < 50; i++)
        put(ones, i, 1);
    assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(bodies.s.x, {"q", bodies.q}),
                                  none, bodies.s.phi));
    assert_ok(kith_forces_compute(context, &options, PARTICLES(none, {"q", ones}),
                                  PARTICLES(bodies.s.x, {"q", bodies.q}), none, phi));
    for (int64_t i = 0; i < 50; i++)
        assert_near(get(bodies.q, i) * get(phi, i), get(bodies.s.phi, i), 1e-13);
    free(ones.data);
    free(phi.data);
    moving_free(&bodies);
    kith_law_free(law);
    kith_context_free(context);
}

static void test_derivatives_have_the_same_bits_with_any_threads(void **state)
{
    struct moving bodies = moving_random(*state, KITH_F32, 81, 2);
    struct system first = system_create(KITH_F32, 81, 2);
    for (int32_t threads = 1; threads <= 7; threads += 3) {
        kith_context *context = new_context(NULL, threads);
        assert_ok(moving_derive(context, NULL, &bodies, bodies.s.a, bodies.s.phi));
        if (threads == 1) {
            memcpy(first.a.data, bodies.s.a.data, 162 * sizeof(float));
            memcpy(first.phi.data, bodies.s.phi.data, 81 * sizeof(float));
        }
        assert_memory_equal(first.a.data, bodies.s.a.data, 162 * sizeof(float));
        assert_memory_equal(first.phi.data, bodies.s.phi.data, 81 * sizeof(float));
        kith_context_free(context);
    }
    system_free(&first);
    moving_free(&bodies);
}

static void test_derivatives_refuse_what_makes_no_sense(void **state)
{
    kith_context *context = new_context(NULL, 1);
    struct moving bodies = moving_random(*state, KITH_F64, 5, 3);
    const struct system *s = &bodies.s;
    const kith_array none = kith_array_none();
    kith_forces_options options = {0};
    assert_fails(kith_forces_derivative(context, NULL, NULL, PARTICLES(s->x, {"m", s->m}), none,
                                        none, s->a, s->phi),
                 KITH_INVALID_ARGUMENT, "target_directions source_directions");
    assert_fails(kith_forces_derivative(context, NULL, NULL, PARTICLES(s->x, {"m", s->m}), none,
                                        s->m, s->a, s->phi),
                 KITH_INVALID_ARGUMENT, "source_directions 1 2");
    assert_fails(kith_forces_derivative(context, NULL, NULL, PARTICLES(s->x, {"m", s->m}), none,
                                        bodies.w, bodies.w, s->phi),
                 KITH_INVALID_ARGUMENT, "acceleration_derivative overlaps source_directions");
    options.method = KITH_FORCES_SPLIT;
    assert_fails(moving_derive(context, &options, &bodies, s->a, s->phi), KITH_UNSUPPORTED,
                 "method split");
    options = (kith_forces_options){.sum = KITH_FORCES_SUM_VALUE};
    assert_fails(moving_derive(context, &options, &bodies, s->a, s->phi), KITH_INVALID_ARGUMENT,
                 "acceleration");
    put(bodies.w, 7, NAN);
    assert_fails(moving_derive(context, NULL, &bodies, s->a, s->phi), KITH_INVALID_ARGUMENT,
                 "row 2 source_directions");
    moving_free(&bodies);
    kith_context_free(context);
}

int main(void)
{
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    struct random_numbers random = random_numbers_begin("forces_derivative");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_derivatives_are_the_slopes_of_forces_and_potentials,
                                  &random),
        cmocka_unit_test_prestate(test_derivatives_of_every_kernel_agree_with_the_reference,
                                  &random),
        cmocka_unit_test_prestate(test_second_derivatives_are_symmetric, &random),
        cmocka_unit_test_prestate(test_derivatives_of_gravity_have_any_units, &random),
        cmocka_unit_test(test_a_body_without_mass_feels_the_others),
        cmocka_unit_test_prestate(test_bodies_may_feel_with_other_charges_than_they_pull_with,
                                  &random),
        cmocka_unit_test_prestate(test_derivatives_have_the_same_bits_with_any_threads, &random),
        cmocka_unit_test_prestate(test_derivatives_refuse_what_makes_no_sense, &random),
    };
    return cmocka_run_group_tests_name("forces_derivative", tests, NULL, NULL);
}
