#include "testing.h"

#include "testing_initial.h"

/* Adds Σ m column to sum: the momentum of velocities, the dipole of positions. */
static void sum_weighted(const kith_bodies *bodies, const double *column, double sum[3])
{
    for (int64_t i = 0; i < bodies->count; i++)
        for (int32_t k = 0; k < 3; k++)
            sum[k] += bodies->mass[i] * column[3 * i + k];
}

static void assert_centered(const kith_bodies *bodies, double tolerance)
{
    double center[3] = {0, 0, 0};
    double momentum[3] = {0, 0, 0};
    sum_weighted(bodies, bodies->position, center);
    sum_weighted(bodies, bodies->velocity, momentum);
    for (int32_t k = 0; k < 3; k++) {
        assert_near(center[k], 0, tolerance, "center of mass", 0);
        assert_near(momentum[k], 0, tolerance, "momentum", 0);
    }
}

static double distance(const kith_bodies *bodies, int64_t i, int64_t j)
{
    double d[3];
    for (int32_t k = 0; k < 3; k++)
        d[k] = bodies->position[3 * j + k] - bodies->position[3 * i + k];
    return sqrt(dot3(d, d));
}

/* Advances by yoshida8 in some steps, without softening, G = 1. */
static void advance(kith_bodies *bodies, double time, int64_t steps)
{
    kith_context *context = NULL;
    kith_simulation *simulation = NULL;
    const kith_simulation_options options = {.dt = time / (double)steps, .integrator = "yoshida8"};
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    assert_ok(kith_simulation_step(simulation, steps));
    assert_ok(kith_simulation_get_bodies(simulation, bodies));
    kith_simulation_free(simulation);
    kith_context_free(context);
}

static void test_initial_two_bodies_start_at_pericenter_of_a_unit_orbit(void **state)
{
    (void)state;
    const double eccentricity[] = {0, 0.3, 0.9};
    const double ratio[] = {1, 0.001, 7};
    for (int k = 0; k < 3; k++) {
        const double e = eccentricity[k];
        kith_bodies *bodies =
            made("two-body", (kith_initial_options){.eccentricity = e, .mass_ratio = ratio[k]});
        const double *m = bodies->mass;
        const double *x = bodies->position;
        const double *v = bodies->velocity;
        const double u[3] = {v[3] - v[0], v[4] - v[1], v[5] - v[2]};
        const double r = distance(bodies, 0, 1);
        assert_near(m[0] + m[1], 1, 1e-15, "total mass", 0);
        assert_near(m[1] / m[0], ratio[k], 1e-15 * ratio[k], "mass ratio", 0);
        assert_near(r, 1 - e, 1e-15, "pericenter", 0);
        assert_near(u[0] * (x[3] - x[0]) + u[1] * (x[4] - x[1]), 0, 1e-15, "radial speed", 0);
        assert_near(0.5 * dot3(u, u) - 1 / r, -0.5, 1e-14, "energy of the relative orbit", 0);
        assert_true((x[3] - x[0]) * u[1] > 0);
        assert_centered(bodies, 1e-16);
        kith_bodies_free(bodies);
    }
}

/* Each corner is pulled to the center of mass by ω² = 1 times its distance from it. */
static void test_initial_lagrange_triangle_is_in_rotating_equilibrium(void **state)
{
    (void)state;
    const double ratio[] = {0, 1, 0.3};
    for (int q = 0; q < 3; q++) {
        kith_bodies *bodies = made("lagrange", (kith_initial_options){.mass_ratio = ratio[q]});
        const double *x = bodies->position;
        const double *v = bodies->velocity;
        assert_centered(bodies, 1e-15);
        for (int i = 0; i < 3; i++) {
            double pull[3] = {0, 0, 0};
            for (int j = 0; j < 3; j++) {
                if (j != i)
                    assert_near(distance(bodies, i, j), 1, 1e-15, "side", 0);
                for (int k = 0; k < 3; k++)
                    pull[k] += bodies->mass[j] * (x[3 * j + k] - x[3 * i + k]);
            }
            for (int k = 0; k < 3; k++)
                assert_near(pull[k], -x[3 * i + k], 1e-15, "pull", 0);
            assert_near(v[3 * i], -x[3 * i + 1], 0, "speed along x", 0);
            assert_near(v[3 * i + 1], x[3 * i], 0, "speed along y", 0);
        }
        kith_bodies_free(bodies);
    }
}

/* Its first 60 rounds: with equal masses a disturbance would have grown by e^(4.4) in each. */
static void test_initial_lagrange_default_is_stable(void **state)
{
    (void)state;
    kith_bodies *bodies = made("lagrange", (kith_initial_options){0});
    advance(bodies, 60 * 6.283185307179586, 60 * 40);
    for (int i = 0; i < 3; i++)
        assert_near(distance(bodies, i, (i + 1) % 3), 1, 1e-6, "side", 0);
    kith_bodies_free(bodies);
}

static void test_initial_figure_eight_returns_after_its_period(void **state)
{
    (void)state;
    kith_bodies *start = made("figure-8", (kith_initial_options){0});
    kith_bodies *end = made("figure-8", (kith_initial_options){0});
    assert_centered(start, 0);
    advance(end, 6.325913982926228, 1500);
    for (int k = 0; k < 9; k++) {
        assert_near(end->position[k], start->position[k], 1e-12, "position", 0);
        assert_near(end->velocity[k], start->velocity[k], 1e-12, "velocity", 0);
    }
    kith_bodies_free(start);
    kith_bodies_free(end);
}

static void test_initial_six_are_within_the_ranges_stated(void **state)
{
    (void)state;
    const uint64_t seed = fresh_seed();
    double lightest = 10;
    double heaviest = 1;
    double farthest = 0;
    double fastest = 0;
    for (uint64_t s = 0; s < 200; s++) {
        kith_bodies *bodies = made("six", (kith_initial_options){.seed = seed + s});
        for (int i = 0; i < 6; i++) {
            lightest = fmin(lightest, bodies->mass[i]);
            heaviest = fmax(heaviest, bodies->mass[i]);
        }
        for (int k = 0; k < 18; k++) {
            farthest = fmax(farthest, fabs(bodies->position[k]));
            fastest = fmax(fastest, fabs(bodies->velocity[k]));
        }
        kith_bodies_free(bodies);
    }
    assert_true(lightest >= 1 && heaviest <= 10 && farthest <= 5 && fastest <= 1);
    assert_near(lightest, 1, 0.2, "lightest", seed);
    assert_near(heaviest, 10, 0.2, "heaviest", seed);
    assert_near(farthest, 5, 0.05, "farthest", seed);
    assert_near(fastest, 1, 0.01, "fastest", seed);
}

static void state_about_sun(const kith_bodies *bodies, int64_t i, double x[3], double v[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = bodies->position[3 * i + k] - bodies->position[k];
        v[k] = bodies->velocity[3 * i + k] - bodies->velocity[k];
    }
}

/* Sidereal periods in years: Allen's Astrophysical Quantities. The osculating ones of the fitted
 * elements are off by a part in 500 at most. */
static void test_initial_planets_have_their_periods(void **state)
{
    (void)state;
    const struct {
        const char *name;
        double years;
    } expected[] = {{"Mercury", 0.24085}, {"Venus", 0.61520},  {"Earth", 1.00002},
                    {"Mars", 1.88085},    {"Jupiter", 11.862}, {"Saturn", 29.457},
                    {"Uranus", 84.01},    {"Neptune", 164.79}, {"Pluto", 248.0}};
    const double k2 = 0.01720209895 * 0.01720209895;
    kith_bodies *bodies = made("solar-system", (kith_initial_options){0});
    assert_string_equal(bodies->name[0], "Sun");
    assert_centered(bodies, 1e-15);
    for (int64_t i = 1; i < 10; i++) {
        double x[3];
        double v[3];
        state_about_sun(bodies, i, x, v);
        const double mu = k2 * (1 + bodies->mass[i]);
        const double axis = 1 / (2 / sqrt(dot3(x, x)) - dot3(v, v) / mu);
        const double years = 2 * 3.141592653589793 * axis * sqrt(axis / mu) / 365.25;
        assert_string_equal(bodies->name[i], expected[i - 1].name);
        assert_near(years / expected[i - 1].years, 1, 0.0025, bodies->name[i], 0);
    }
    kith_bodies_free(bodies);
}

/* JPL's DE405 has the Earth-Moon barycenter at (-0.17716, 0.96724, 0) and Jupiter at (4.00117,
 * 2.93858, -0.10178) AU from the Sun at J2000.0; the elements err by up to 20″ and 400″ of
 * longitude. */
static void test_initial_planets_are_where_they_were_in_2000(void **state)
{
    (void)state;
    const double earth[3] = {-0.17716, 0.96724, 0};
    const double jupiter[3] = {4.00117, 2.93858, -0.10178};
    kith_bodies *bodies = made("solar-system", (kith_initial_options){0});
    double x[3];
    double v[3];
    for (int k = 0; k < 3; k++) {
        state_about_sun(bodies, 3, x, v);
        assert_near(x[k], earth[k], 1e-4, "Earth", 0);
        state_about_sun(bodies, 5, x, v);
        assert_near(x[k], jupiter[k], 1e-2, "Jupiter", 0);
    }
    kith_bodies_free(bodies);
}

/* Spot checks of the printed table, and that its origin is the barycenter. */
static void test_initial_outer_solar_system_is_the_published_one(void **state)
{
    (void)state;
    const char *const names[] = {"Sun", "Jupiter", "Saturn", "Uranus", "Neptune", "Pluto"};
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    for (int i = 0; i < 6; i++)
        assert_string_equal(bodies->name[i], names[i]);
    assert_true(bodies->mass[0] == 1.00000597682 && bodies->mass[5] == 0);
    assert_true(bodies->position[3] == 3.40546614227466);
    assert_true(bodies->velocity[17] == 6.58091931493844e-4);
    assert_centered(bodies, 1e-12);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initial_two_bodies_start_at_pericenter_of_a_unit_orbit),
        cmocka_unit_test(test_initial_lagrange_triangle_is_in_rotating_equilibrium),
        cmocka_unit_test(test_initial_lagrange_default_is_stable),
        cmocka_unit_test(test_initial_figure_eight_returns_after_its_period),
        cmocka_unit_test(test_initial_six_are_within_the_ranges_stated),
        cmocka_unit_test(test_initial_planets_have_their_periods),
        cmocka_unit_test(test_initial_planets_are_where_they_were_in_2000),
        cmocka_unit_test(test_initial_outer_solar_system_is_the_published_one),
    };
    return cmocka_run_group_tests_name("initial orbits", tests, NULL, NULL);
}
