/* The physics of kith_forces_compute. */

#include "forces_system.h"

static const kith_dtype precisions[] = {KITH_F64, KITH_F32};

/* Rounding of sums over a few hundred bodies. */
static double rounding(kith_dtype dtype)
{
    return dtype == KITH_F64 ? 1e-13 : 1e-6;
}

static void test_forces_pull_along_the_line_with_the_inverse_square(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    double x[] = {1, 1, 1, 4, 5, 1}, m[] = {7, 4}, a[6], phi[2];
    const kith_array sources = kith_array_matrix(x, KITH_F64, 2, 3);
    const kith_array masses = kith_array_vector(m, KITH_F64, 2);
    const kith_array acceleration = kith_array_matrix(a, KITH_F64, 2, 3);
    const kith_array potential = kith_array_vector(phi, KITH_F64, 2);
    const double g = 10;

    /* r = 5, so that a_0 = G m_1 (3, 4, 0) / 125 and φ_0 = −G m_1 / 5. */
    assert_ok(kith_forces_compute(context, &(kith_forces_options){.gravitational_constant = g},
                                  NULL, PARTICLES(sources, {"m", masses}), acceleration,
                                  potential));
    assert_near(a[0], g * 4 * 3 / 125, 1e-15);
    assert_near(a[1], g * 4 * 4 / 125, 1e-15);
    assert_near(a[2], 0, 0);
    assert_near(a[3], -g * 7 * 3 / 125, 1e-15);
    assert_near(phi[0], -g * 4 / 5, 1e-14);
    assert_near(phi[1], -g * 7 / 5, 1e-14);

    /* With ε = 12, s = 13. */
    assert_ok(kith_forces_compute(context, &(kith_forces_options){.softening = 12}, NULL,
                                  PARTICLES(sources, {"m", masses}), acceleration, potential));
    assert_near(a[0], 4 * 3 / 2197.0, 1e-17);
    assert_near(a[4], -7 * 4 / 2197.0, 1e-17);
    assert_near(phi[0], -4 / 13.0, 1e-15);
    kith_context_free(context);
}

static void test_forces_two_bodies_attract_equally(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 1);
    for (int p = 0; p < 2; p++) {
        struct system pair = system_random(random, precisions[p], 2, 3);
        put(pair.m, 0, 1);
        put(pair.m, 1, 1);
        system_compute(context, NULL, &pair);
        for (int64_t c = 0; c < 3; c++)
            assert_true(get(pair.a, c) == -get(pair.a, 3 + c) && get(pair.a, c) != 0);
        assert_true(get(pair.phi, 0) == get(pair.phi, 1));
        system_free(&pair);
    }
    kith_context_free(context);
}

static void test_forces_add_up_to_nothing(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 2);
    for (int p = 0; p < 2; p++) {
        struct system s = system_random(random, precisions[p], 300, 3);
        s.softened = true;
        system_compute(context, NULL, &s);
        for (int64_t c = 0; c < 3; c++) {
            double sum = 0, magnitudes = 0;
            for (int64_t i = 0; i < s.n; i++) {
                sum += get(s.m, i) * get(s.a, 3 * i + c);
                magnitudes += fabs(get(s.m, i) * get(s.a, 3 * i + c));
            }
            assert_less(fabs(sum), rounding(s.dtype) * magnitudes);
        }
        system_free(&s);
    }
    kith_context_free(context);
}

/* φ at one place, from sources that do not move. */
static double potential_at(kith_context *context, const kith_forces_options *options,
                           const struct system *sources, const double place[3])
{
    double target[3] = {place[0], place[1], place[2]}, phi = 0;
    assert_ok(kith_forces_compute(context, options,
                                  POINTS(kith_array_matrix(target, KITH_F64, 1, 3)),
                                  PARTICLES(sources->x, {"m", sources->m}), kith_array_none(),
                                  kith_array_vector(&phi, KITH_F64, 1)));
    return phi;
}

static void test_forces_acceleration_is_minus_the_potentials_gradient(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 1);
    const kith_forces_options options = {.gravitational_constant = 2, .softening = 0.3};
    struct system s = system_random(random, KITH_F64, 50, 3);
    double place[3] = {0.1, -0.2, 0.3}, a[3];
    assert_ok(kith_forces_compute(
        context, &options, POINTS(kith_array_matrix(place, KITH_F64, 1, 3)),
        PARTICLES(s.x, {"m", s.m}), kith_array_matrix(a, KITH_F64, 1, 3), kith_array_none()));
    for (int c = 0; c < 3; c++) {
        const double h = 1e-5;
        double ahead[3] = {place[0], place[1], place[2]},
               behind[3] = {place[0], place[1], place[2]};
        ahead[c] += h;
        behind[c] -= h;
        const double slope = (potential_at(context, &options, &s, ahead) -
                              potential_at(context, &options, &s, behind)) /
                             (2 * h);
        assert_less(fabs(a[c] + slope), 1e-5 * (1 + fabs(a[c])));
    }
    system_free(&s);
    kith_context_free(context);
}

static void test_forces_do_not_depend_on_where_the_origin_is(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 2);
    struct system here = system_random(random, KITH_F64, 200, 3);
    struct system there = system_create(KITH_F64, here.n, 3);
    for (int64_t k = 0; k < 3 * here.n; k++)
        put(there.x, k, get(here.x, k) + (double)(k % 3 + 1));
    memcpy(there.m.data, here.m.data, (size_t)here.n * sizeof(double));
    const kith_forces_options options = {.softening = 0.05};
    system_compute(context, &options, &here);
    system_compute(context, &options, &there);
    assert_less(relative_difference(there.a, here.a), 1e-12);
    assert_less(relative_difference(there.phi, here.phi), 1e-13);
    system_free(&here);
    system_free(&there);
    kith_context_free(context);
}

static void test_forces_turn_with_the_bodies(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 2);
    struct system s = system_random(random, KITH_F64, 200, 2);
    struct system turned = system_create(KITH_F64, s.n, 2);
    struct system expected = system_create(KITH_F64, s.n, 2);
    const kith_forces_options options = {.softening = 0.05};
    const double angle = random_uniform(random, 0, 6), c = cos(angle), sn = sin(angle);
    for (int64_t i = 0; i < s.n; i++) {
        put(turned.m, i, get(s.m, i));
        put(turned.x, 2 * i, c * get(s.x, 2 * i) - sn * get(s.x, 2 * i + 1));
        put(turned.x, 2 * i + 1, sn * get(s.x, 2 * i) + c * get(s.x, 2 * i + 1));
    }
    system_compute(context, &options, &s);
    system_compute(context, &options, &turned);
    for (int64_t i = 0; i < s.n; i++) {
        put(expected.a, 2 * i, c * get(s.a, 2 * i) - sn * get(s.a, 2 * i + 1));
        put(expected.a, 2 * i + 1, sn * get(s.a, 2 * i) + c * get(s.a, 2 * i + 1));
    }
    assert_less(relative_difference(turned.a, expected.a), 1e-12);
    assert_less(relative_difference(turned.phi, s.phi), 1e-13);
    system_free(&s);
    system_free(&turned);
    system_free(&expected);
    kith_context_free(context);
}

static void test_forces_do_not_depend_on_the_order_of_the_bodies(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 2);
    struct system s = system_random(random, KITH_F64, 333, 3);
    struct system back = system_create(KITH_F64, s.n, 3);
    for (int64_t i = 0; i < s.n; i++) {
        put(back.m, i, get(s.m, s.n - 1 - i));
        for (int64_t c = 0; c < 3; c++)
            put(back.x, 3 * i + c, get(s.x, 3 * (s.n - 1 - i) + c));
    }
    system_compute(context, NULL, &s);
    system_compute(context, NULL, &back);
    double worst = 0;
    for (int64_t i = 0; i < s.n; i++)
        for (int64_t c = 0; c < 3; c++) {
            const double a = get(s.a, 3 * i + c), b = get(back.a, 3 * (s.n - 1 - i) + c);
            worst = worse_of(worst, fabs(a - b) / fmax(1, fabs(a)));
        }
    assert_less(worst, 1e-11);
    system_free(&s);
    system_free(&back);
    kith_context_free(context);
}

static void test_forces_of_massless_bodies_vanish_but_they_feel(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    double x[] = {0, 0, 2, 0}, m[] = {3, 0}, a[4], phi[2];
    assert_ok(kith_forces_compute(
        context, NULL, NULL,
        PARTICLES(kith_array_matrix(x, KITH_F64, 2, 2), {"m", kith_array_vector(m, KITH_F64, 2)}),
        kith_array_matrix(a, KITH_F64, 2, 2), kith_array_vector(phi, KITH_F64, 2)));
    assert_true(a[0] == 0 && a[1] == 0 && phi[0] == 0);
    assert_near(a[2], -0.75, 1e-15);
    assert_near(phi[1], -1.5, 1e-15);
    kith_context_free(context);
}

static void test_forces_ignore_bodies_at_the_same_place(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 1);
    for (int p = 0; p < 2; p++) {
        /* Bodies 0 and 1 coincide; 2 is at distance 1 from both. */
        struct system s = system_create(precisions[p], 3, 3);
        put(s.x, 6, 1);
        for (int64_t k = 0; k < 3; k++)
            put(s.m, k, 1);
        system_compute(context, NULL, &s);
        for (int64_t i = 0; i < 2; i++) {
            assert_near(get(s.a, 3 * i), 1, 1e-6);
            assert_true(get(s.a, 3 * i + 1) == 0);
            assert_near(get(s.phi, i), -1, 1e-6);
        }
        assert_near(get(s.a, 6), -2, 1e-6);

        /* Softened, they do have a potential, −1/ε, though no force. */
        system_compute(context, &(kith_forces_options){.softening = 0.5}, &s);
        assert_near(get(s.phi, 0), -2 - 1 / sqrt(1.25), 1e-6);
        system_free(&s);
    }
    kith_context_free(context);
}

static void test_forces_equal_softenings_of_bodies_are_the_common_one(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 1);
    struct system common = system_random(random, KITH_F64, 100, 3);
    struct system own = common;
    own.a = new_matrix(KITH_F64, 100, 3);
    own.phi = new_vector(KITH_F64, 100);
    for (int64_t i = 0; i < 100; i++)
        put(common.softening, i, 0.1);
    system_compute(context, &(kith_forces_options){.softening = 0.1}, &common);
    own.softened = true;
    system_compute(context, NULL, &own);
    assert_less(relative_difference(own.a, common.a), 1e-13);
    assert_less(relative_difference(own.phi, common.phi), 1e-13);
    free(own.a.data);
    free(own.phi.data);
    system_free(&common);
    kith_context_free(context);
}

static void test_forces_bodies_given_as_targets_leave_themselves_out(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_context(NULL, 1);
    struct system s = system_random(random, KITH_F64, 70, 3);
    kith_array phi = new_vector(KITH_F64, 70);
    const kith_forces_options options = {.softening = 0.1};
    system_compute(context, &options, &s);
    assert_ok(kith_forces_compute(context, &options, POINTS(s.x), PARTICLES(s.x, {"m", s.m}),
                                  kith_array_none(), phi));
    assert_memory_equal(phi.data, s.phi.data, 70 * sizeof(double));
    free(phi.data);
    system_free(&s);
    kith_context_free(context);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("forces");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_pull_along_the_line_with_the_inverse_square),
        cmocka_unit_test_prestate(test_forces_two_bodies_attract_equally, &random),
        cmocka_unit_test_prestate(test_forces_add_up_to_nothing, &random),
        cmocka_unit_test_prestate(test_forces_acceleration_is_minus_the_potentials_gradient,
                                  &random),
        cmocka_unit_test_prestate(test_forces_do_not_depend_on_where_the_origin_is, &random),
        cmocka_unit_test_prestate(test_forces_turn_with_the_bodies, &random),
        cmocka_unit_test_prestate(test_forces_do_not_depend_on_the_order_of_the_bodies, &random),
        cmocka_unit_test(test_forces_of_massless_bodies_vanish_but_they_feel),
        cmocka_unit_test(test_forces_ignore_bodies_at_the_same_place),
        cmocka_unit_test_prestate(test_forces_equal_softenings_of_bodies_are_the_common_one,
                                  &random),
        cmocka_unit_test_prestate(test_forces_bodies_given_as_targets_leave_themselves_out,
                                  &random),
    };
    return cmocka_run_group_tests_name("forces", tests, NULL, NULL);
}
