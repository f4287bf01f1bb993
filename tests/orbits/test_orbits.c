/* Orbital elements: one orbit, there and back, and where an angle is undefined. */
#include "testing.h"

#include "testing_initial.h"

#include "random_numbers.h"

#include <float.h>

static const double pi = 3.14159265358979323846;

static double length_of(const double *a)
{
    return sqrt(dot3(a, a));
}

static double distance_of(const double *a, const double *b)
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return length_of(d);
}

/* The distance of two angles on the circle. */
static double angle_between(double a, double b)
{
    return fabs(remainder(a - b, 2 * pi));
}

static kith_orbit orbit_of(double mu, const double position[3], const double velocity[3])
{
    kith_orbit orbit;
    assert_ok(kith_orbit_compute(mu, position, velocity, &orbit));
    return orbit;
}

static void random_vector(struct random_numbers *numbers, double length, double vector[3])
{
    do
        for (int k = 0; k < 3; k++)
            vector[k] = random_uniform(numbers, -1, 1);
    while (dot3(vector, vector) > 1 || dot3(vector, vector) < 1e-4);
    const double factor = length / length_of(vector);
    for (int k = 0; k < 3; k++)
        vector[k] *= factor;
}

/* M of an ellipse is rounded in units of 2π: the time since pericenter by that much of a period,
 * and the body with it. */
static void assert_there_and_back(double mu, const double x[3], const double v[3])
{
    double position[3], velocity[3];
    const kith_orbit orbit = orbit_of(mu, x, v);
    assert_ok(kith_orbit_place(mu, &orbit, position, velocity));
    const double r = length_of(x), speed = length_of(v), fall = sqrt(2 * mu / r);
    const double late = (orbit.e < 1 ? 2 * pi : fabs(orbit.M)) / orbit.mean_motion;
    const double eps = 32 * DBL_EPSILON;
    const double dx = eps * (r + (speed + fall) * (orbit.e == 1 ? r / fall : late));
    const double dv = dx > 0.01 * r /* another place on the orbit */
                          ? 3 * sqrt(2 * mu / orbit.q)
                          : eps * (speed + fall + mu / (r * r) * (orbit.e == 1 ? r / fall : late));
    if (!(distance_of(x, position) <= dx && distance_of(v, velocity) <= dv))
        fail_msg("e %.17g, a %g, i %g, M %g, r %g: %.2g from the position (of %.2g), %.2g from the "
                 "velocity (of %.2g)",
                 orbit.e, orbit.a, orbit.i, orbit.M, r, distance_of(x, position), dx,
                 distance_of(v, velocity), dv);
}

static void test_states_are_the_same_after_elements_and_back(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("orbits");
    for (int sample = 0; sample < 200000; sample++) {
        double x[3], v[3];
        const double mu = pow(10, random_uniform(&numbers, -6, 6));
        const double r = pow(10, random_uniform(&numbers, -6, 6));
        const double excess = sample % 3 == 0   ? random_uniform(&numbers, -1, 3)
                              : sample % 3 == 1 ? pow(10, random_uniform(&numbers, -15, 0))
                                                : -pow(10, random_uniform(&numbers, -15, 0));
        random_vector(&numbers, r, x);
        random_vector(&numbers, sqrt(2 * mu / r * (1 + excess)), v);
        if (sample % 16 == 0)
            x[2] = v[2] = 0;
        if (length_of(v) > 0)
            assert_there_and_back(mu, x, v);
    }
}

static void assert_elements(const kith_orbit *found, const kith_orbit *expected, double tolerance)
{
    const bool hyperbola = expected->e > 1;
    const double M = hyperbola ? fabs(found->M - expected->M) / fmax(1, fabs(expected->M))
                               : angle_between(found->M, expected->M);
    if (!(fabs(found->a / expected->a - 1) <= tolerance &&
          fabs(found->e - expected->e) <= tolerance && fabs(found->i - expected->i) <= tolerance &&
          angle_between(found->Omega, expected->Omega) <= tolerance / sin(expected->i) &&
          angle_between(found->omega, expected->omega) <=
              tolerance * (1 / sin(expected->i) + 1 / expected->e) &&
          M <= tolerance * (1 + 1 / expected->e)))
        fail_msg("a %.17g e %.17g i %.17g Omega %.17g omega %.17g M %.17g, expected a %.17g e "
                 "%.17g i %.17g Omega %.17g omega %.17g M %.17g",
                 found->a, found->e, found->i, found->Omega, found->omega, found->M, expected->a,
                 expected->e, expected->i, expected->Omega, expected->omega, expected->M);
}

static void test_elements_are_the_same_after_a_state_and_back(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("orbits");
    for (int sample = 0; sample < 100000; sample++) {
        const bool hyperbola = sample % 2;
        const double mu = pow(10, random_uniform(&numbers, -6, 6));
        const double size = pow(10, random_uniform(&numbers, -6, 6));
        const kith_orbit orbit = {.a = hyperbola ? -size : size,
                                  .e = hyperbola ? random_uniform(&numbers, 1.05, 5)
                                                 : random_uniform(&numbers, 0.001, 0.95),
                                  .i = random_uniform(&numbers, 0.001, pi - 0.001),
                                  .Omega = random_uniform(&numbers, 0, 2 * pi),
                                  .omega = random_uniform(&numbers, 0, 2 * pi),
                                  .M = hyperbola ? random_uniform(&numbers, -10, 10)
                                                 : random_uniform(&numbers, 0, 2 * pi)};
        double x[3], v[3];
        assert_ok(kith_orbit_place(mu, &orbit, x, v));
        const kith_orbit found = orbit_of(mu, x, v);
        assert_elements(&found, &orbit, 2e-13);
        assert_near(found.q, orbit.a * (1 - orbit.e), 1e-12 * size, "q", 0);
        assert_true(found.Omega >= 0 && found.Omega < 2 * pi);
        assert_true(found.omega >= 0 && found.omega < 2 * pi);
        assert_true(hyperbola || (found.M >= 0 && found.M < 2 * pi));
    }
}

/* Vallado 2013, Fundamentals of Astrodynamics and Applications, example 2-5; km and s. */
static void test_an_orbit_of_a_textbook(void **state)
{
    (void)state;
    const double degree = pi / 180;
    const double x[3] = {6524.834, 6862.875, 6448.296}, v[3] = {4.901327, 5.533756, -1.976341};
    const kith_orbit orbit = orbit_of(398600.4418, x, v);
    assert_near(orbit.a, 36127.343, 0.01, "a", 0);
    assert_near(orbit.e, 0.832853, 1e-6, "e", 0);
    assert_near(orbit.i, 87.870 * degree, 1e-3 * degree, "i", 0);
    assert_near(orbit.Omega, 227.898 * degree, 1e-3 * degree, "Omega", 0);
    assert_near(orbit.omega, 53.38 * degree, 1e-2 * degree, "omega", 0);
    assert_near(orbit.true_anomaly, 92.335 * degree, 1e-3 * degree, "true anomaly", 0);
}

/* Node, pericenter and body at right angles, each seen from the one before. */
static void test_each_angle_turns_the_way_of_its_definition(void **state)
{
    (void)state;
    const double pole[3] = {0, 0, 1}, y[3] = {0, 1, 0}, minus_x[3] = {-1, 0, 0};
    double x[3], v[3];
    kith_orbit orbit = {.a = 2, .e = 0.5, .i = pi / 2, .omega = pi / 2};
    assert_ok(kith_orbit_place(1, &orbit, x, v)); /* node at x, pericenter at the pole, q = 1 */
    assert_near(distance_of(x, pole), 0, 1e-15, "distance from the pole", 0);
    assert_near(v[0], -sqrt(1.5), 1e-15, "v_x at pericenter", 0);
    orbit = (kith_orbit){.a = 1, .Omega = pi / 2, .i = pi / 2};
    assert_ok(kith_orbit_place(1, &orbit, x, v)); /* a circle, upwards through y */
    assert_near(distance_of(x, y), 0, 1e-15, "distance from y", 0);
    assert_near(distance_of(v, pole), 0, 1e-15, "velocity from the pole's direction", 0);
    orbit = (kith_orbit){.a = 1, .omega = pi / 2, .M = pi / 2};
    assert_ok(kith_orbit_place(1, &orbit, x, v));
    assert_near(distance_of(x, minus_x), 0, 1e-15, "distance from -x", 0);
}

static void test_a_circle_has_no_pericenter_and_its_anomaly_is_from_the_node(void **state)
{
    (void)state;
    double x[3], v[3];
    const kith_orbit circle = {.a = 3, .i = 0.4, .Omega = 5, .M = 2};
    assert_ok(kith_orbit_place(2, &circle, x, v));
    const kith_orbit found = orbit_of(2, x, v);
    assert_true(found.e == 0 && found.omega == 0 && found.q == found.a);
    assert_near(found.Omega, 5, 1e-15 * 10, "Omega", 0);
    assert_near(found.M, 2, 1e-15 * 10, "M", 0);
    assert_true(found.true_anomaly == found.M);
}

static void test_an_orbit_in_the_plane_has_its_node_at_x(void **state)
{
    (void)state;
    double x[3], v[3];
    const kith_orbit flat = {.a = 1, .e = 0.2, .Omega = 1, .omega = 2, .M = 0.5};
    assert_ok(kith_orbit_place(1, &flat, x, v));
    kith_orbit found = orbit_of(1, x, v);
    assert_true(found.i == 0 && found.Omega == 0);
    assert_near(found.omega, 3, 1e-14, "omega", 0);

    kith_orbit retrograde = flat;
    retrograde.i = pi; /* the node is crossed the other way round: pericenter at Omega − omega */
    assert_ok(kith_orbit_place(1, &retrograde, x, v));
    found = orbit_of(1, x, v);
    assert_true(found.i == pi && found.Omega == 0);
    assert_near(found.omega, 1, 1e-14, "omega", 0);
    assert_near(found.M, 0.5, 1e-14, "M", 0);
    assert_there_and_back(1, x, v);

    const double east[3] = {1, 0, 0}, north[3] = {0, 1, 0}, south[3] = {0, -1, 0};
    found = orbit_of(1, east, north);
    assert_true(found.i == 0 && found.e == 0 && found.Omega == 0 && found.M == 0 && found.a == 1);
    found = orbit_of(1, north, east); /* clockwise, at y: three quarters on from x */
    assert_true(found.i == pi && found.e == 0 && found.Omega == 0);
    assert_near(found.M, 1.5 * pi, 1e-15 * 10, "M", 0);
    found = orbit_of(1, east, south);
    assert_true(found.i == pi && found.M == 0);
}

static void test_a_parabola_has_barkers_mean_anomaly(void **state)
{
    (void)state;
    const double x[3] = {2, 0, 0}, v[3] = {0, 1, 0};
    kith_orbit found = orbit_of(1, x, v);
    assert_true(found.e == 1 && isinf(found.a) && found.M == 0);
    assert_near(found.q, 2, 1e-15, "q", 0);
    assert_true(isinf(found.period));
    assert_near(found.mean_motion, 0.25, 1e-15, "mean motion", 0); /* √(1/(2·8)) */
    for (int k = -40; k <= 40; k++) {
        double position[3], velocity[3];
        const kith_orbit orbit = {
            .a = INFINITY, .e = 1, .q = 0.7, .i = 1, .Omega = 2, .omega = 3, .M = k * 0.3};
        assert_ok(kith_orbit_place(1, &orbit, position, velocity));
        found = orbit_of(1, position, velocity);
        assert_true(found.e == 1 && isinf(found.a));
        assert_near(found.q, 0.7, 1e-13, "q", 0);
        assert_near(found.M, k * 0.3, 1e-13 * (1 + abs(k)), "M", 0);
        assert_near(found.Omega, 2, 1e-14 * 5, "Omega", 0);
        assert_near(found.omega, 3, 1e-13, "omega", 0);
    }
}

/* A comet at the distance r falls as on a parabola, whatever the sign of 1 − e. */
static void test_nothing_jumps_at_e_equal_to_one(void **state)
{
    (void)state;
    double parabola[3], position[3], velocity[3];
    const double q = 0.5, D = 3, time = (D + D * D * D / 3) / sqrt(1 / (2 * q * q * q));
    const kith_orbit limit = {.a = INFINITY, .e = 1, .q = q, .M = D + D * D * D / 3};
    assert_ok(kith_orbit_place(1, &limit, parabola, velocity));
    for (int sign = -1; sign <= 1; sign += 2)
        for (int digits = 3; digits <= 15; digits++) {
            const double gap = pow(10, -digits);
            kith_orbit orbit = {.a = -sign * q / gap, .e = 1 + sign * gap, .q = q};
            orbit.M = time / pow(fabs(orbit.a), 1.5);
            assert_ok(kith_orbit_place(1, &orbit, position, velocity));
            assert_near(distance_of(position, parabola), 0, 20 * gap + 1e-14, "distance", 0);
        }
}

static void test_a_straight_fall_has_a_size_and_no_angles(void **state)
{
    (void)state;
    const double x[3] = {1, 2, 2}, rest[3] = {0, 0, 0}, out[3] = {1, 2, 2};
    kith_orbit orbit = orbit_of(1, x, rest);
    assert_true(orbit.e == 1 && orbit.a == 1.5 && orbit.q == 0);
    assert_true(isnan(orbit.i) && isnan(orbit.Omega) && isnan(orbit.omega) && isnan(orbit.M));
    orbit = orbit_of(1, x, out);
    assert_true(orbit.e == 1 && orbit.a < 0 && isnan(orbit.M) && isinf(orbit.period));
    double position[3], velocity[3];
    assert_fails(kith_orbit_place(1, &orbit, position, velocity), KITH_INVALID_ARGUMENT, "e 1");
}

static void test_a_simulated_orbit_keeps_its_elements_and_its_mean_motion(void **state)
{
    (void)state;
    kith_context *context = NULL;
    kith_simulation *simulation = NULL;
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.4});
    const kith_simulation_options options = {.dt = 0.01, .integrator = "yoshida8"};
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    for (int k = 1; k <= 10; k++) {
        kith_orbit orbit;
        assert_ok(kith_simulation_step(simulation, 100));
        assert_ok(kith_simulation_get_bodies(simulation, bodies));
        assert_ok(kith_orbits_compute(NULL, bodies, &orbit));
        assert_near(orbit.a, 1, 1e-10, "a", 0);
        assert_near(orbit.e, 0.4, 1e-10, "e", 0);
        assert_near(angle_between(orbit.omega, 0), 0, 1e-10, "omega", 0);
        assert_near(angle_between(orbit.M, k), 0, 1e-10, "M", 0);
        assert_near(orbit.period, 2 * pi, 1e-9, "period", 0);
    }
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void assert_no_place(kith_orbit orbit, const char *words)
{
    double position[3], velocity[3];
    assert_fails(kith_orbit_place(1, &orbit, position, velocity), KITH_INVALID_ARGUMENT, words);
}

static void test_orbits_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    assert_no_place((kith_orbit){.a = 1, .e = -0.1}, "e -0.1");
    assert_no_place((kith_orbit){.a = 1, .e = NAN}, "e");
    assert_no_place((kith_orbit){.a = -1, .e = 0.5}, "e a -1 0.5");
    assert_no_place((kith_orbit){.a = 0, .e = 0.5}, "a 0");
    assert_no_place((kith_orbit){.a = 1, .e = 1.5}, "> 1 < 0");
    assert_no_place((kith_orbit){.a = 1, .e = 1}, "a e 1 1");
    assert_no_place((kith_orbit){.a = INFINITY, .e = 1}, "q 0");
    assert_no_place((kith_orbit){.a = INFINITY, .e = 0.5}, "a inf");
    assert_no_place((kith_orbit){.a = 1, .e = 0.5, .q = 0.6}, "q 0.6 1 - 0.5");
    assert_no_place((kith_orbit){.a = 1, .M = INFINITY}, "M inf");
    assert_no_place((kith_orbit){.a = 1, .i = NAN}, "i nan");
    assert_no_place((kith_orbit){.a = 1, .Omega = NAN}, "Omega nan");
    assert_no_place((kith_orbit){.a = 1, .omega = NAN}, "omega nan");
}

static void test_states_that_have_no_orbit_are_refused(void **state)
{
    (void)state;
    kith_orbit orbit;
    const double zero[3] = {0}, x[3] = {1, 0, 0}, bad[3] = {0, NAN, 0};
    assert_fails(kith_orbit_compute(1, zero, x, &orbit), KITH_INVALID_ARGUMENT, "position 0");
    assert_fails(kith_orbit_compute(1, x, bad, &orbit), KITH_INVALID_ARGUMENT, "NaN");
    assert_fails(kith_orbit_compute(0, x, x, &orbit), KITH_INVALID_ARGUMENT, "0");
    assert_fails(kith_orbit_compute(NAN, x, x, &orbit), KITH_INVALID_ARGUMENT, "");
    assert_fails(kith_orbit_compute(1, NULL, x, &orbit), KITH_INVALID_ARGUMENT, "position");
    assert_fails(kith_orbit_compute(1, x, NULL, &orbit), KITH_INVALID_ARGUMENT, "velocity");
    assert_fails(kith_orbit_compute(1, x, x, NULL), KITH_INVALID_ARGUMENT, "orbit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_are_the_same_after_elements_and_back),
        cmocka_unit_test(test_elements_are_the_same_after_a_state_and_back),
        cmocka_unit_test(test_an_orbit_of_a_textbook),
        cmocka_unit_test(test_each_angle_turns_the_way_of_its_definition),
        cmocka_unit_test(test_a_circle_has_no_pericenter_and_its_anomaly_is_from_the_node),
        cmocka_unit_test(test_an_orbit_in_the_plane_has_its_node_at_x),
        cmocka_unit_test(test_a_parabola_has_barkers_mean_anomaly),
        cmocka_unit_test(test_nothing_jumps_at_e_equal_to_one),
        cmocka_unit_test(test_a_straight_fall_has_a_size_and_no_angles),
        cmocka_unit_test(test_a_simulated_orbit_keeps_its_elements_and_its_mean_motion),
        cmocka_unit_test(test_orbits_that_do_not_exist_are_refused),
        cmocka_unit_test(test_states_that_have_no_orbit_are_refused),
    };
    return cmocka_run_group_tests_name("orbits", tests, NULL, NULL);
}
