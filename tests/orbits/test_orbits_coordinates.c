/* Orbital elements of several bodies: heliocentric, Jacobi and barycentric; planets by elements. */
#include "testing.h"

#include <float.h>

#include "testing_initial.h"

#include "random_numbers.h"

static const double pi = 3.14159265358979323846;

static const kith_orbit_coordinates all_coordinates[] = {KITH_HELIOCENTRIC, KITH_JACOBI,
                                                         KITH_BARYCENTRIC};

/* Jupiter and Saturn by their mean elements at J2000 in the ecliptic (Standish 1992, Explanatory
 * Supplement, table 5.8.1): the osculating ones of the file are within their mutual
 * perturbations, which Jacobi coordinates have least of. */
static void test_the_outer_planets_have_the_sizes_of_the_almanac(void **state)
{
    (void)state;
    const double a[] = {5.203, 9.537, 19.19, 30.07, 39.48};
    const double e[] = {0.0484, 0.0542, 0.0472, 0.0086, 0.2488};
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_orbit orbits[5];
    for (int k = 0; k < 3; k++) {
        const kith_orbits_options options = {.coordinates = all_coordinates[k]};
        assert_ok(kith_orbits_compute(&options, bodies, orbits));
        for (int planet = 0; planet < 5; planet++) {
            assert_near(orbits[planet].a, a[planet], 0.01 * a[planet], "a", 0);
            assert_near(orbits[planet].e, e[planet], 0.012, "e", 0);
        }
        assert_near(orbits[4].i, 15.5 * pi / 180, 0.01,
                    "Pluto's inclination to the invariable plane", 0);
    }
    const kith_orbits_options jacobi = {.coordinates = KITH_JACOBI};
    assert_ok(kith_orbits_compute(&jacobi, bodies, orbits));
    assert_near(orbits[0].a, 5.2, 0.005, "a of Jupiter", 0);
    assert_near(orbits[1].a, 9.55, 0.02, "a of Saturn", 0);
    assert_near(orbits[0].period, 4332.6, 10, "period of Jupiter in days", 0);
    kith_bodies_free(bodies);
}

struct mean_longitudes {
    double first[2], last[2]; /* of Jupiter and Saturn, revolutions included */
};

static void follow_longitudes(const kith_orbit orbits[5], bool is_first,
                              struct mean_longitudes *are)
{
    for (int k = 0; k < 2; k++) {
        const double longitude = orbits[k].Omega + orbits[k].omega + orbits[k].M;
        are->last[k] += remainder(longitude - are->last[k], 2 * pi);
        if (is_first)
            are->first[k] = are->last[k];
    }
}

/* Saturn's eccentricity is least when Jupiter has it: 2π/(g_6 − g_5) = 54 030 years, by the secular
 * frequencies 4.257 and 28.245 arc seconds a year (Laskar 1990, Icarus 88, 266). Five mean motions
 * of Saturn less two of Jupiter make the great inequality, of 883 years (Murray & Dermott 1999,
 * §8.1).
 */
static void test_jupiter_and_saturn_have_the_periods_of_their_perturbations(void **state)
{
    (void)state;
    enum { frames = 36525, steps = 20 }; /* 1000 days, less than a quarter of Jupiter's period */
    const double year = 365.25, days = 1000;
    kith_context *context = NULL;
    kith_simulation *simulation = NULL;
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    const kith_simulation_options options = {.dt = days / steps, .integrator = "yoshida8"};
    const kith_orbits_options jacobi = {.coordinates = KITH_JACOBI};
    double least[2] = {1, 1}, when[2] = {0, 0};
    struct mean_longitudes longitudes = {{0}, {0}};
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    for (int frame = 0; frame < frames; frame++) {
        kith_orbit orbits[5];
        assert_ok(kith_simulation_get_bodies(simulation, bodies));
        assert_ok(kith_orbits_compute(&jacobi, bodies, orbits));
        follow_longitudes(orbits, frame == 0, &longitudes);
        const int half = frame > frames / 3;
        if (orbits[1].e < least[half]) {
            least[half] = orbits[1].e;
            when[half] = frame * days / year;
        }
        assert_ok(kith_simulation_step(simulation, steps));
    }
    const double time = (frames - 1) * days / year;
    const double motion[2] = {(longitudes.last[0] - longitudes.first[0]) / time,
                              (longitudes.last[1] - longitudes.first[1]) / time};
    const double inequality = 2 * pi / (5 * motion[1] - 2 * motion[0]);
    print_message("Saturn's e is least at %.0f and %.0f years; great inequality %.1f years\n",
                  when[0], when[1], inequality);
    assert_near(when[1] - when[0], 54030, 1000, "years between least eccentricities", 0);
    assert_near(inequality, 883, 9, "great inequality", 0);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Random bodies on bound and unbound orbits, the first of them heavy. */
static kith_bodies *random_bodies(struct random_numbers *numbers, int64_t count)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, KITH_MASS | KITH_VELOCITY, &bodies));
    for (int64_t k = 0; k < 3 * count; k++) {
        bodies->position[k] = random_uniform(numbers, -1, 1);
        bodies->velocity[k] = random_uniform(numbers, -2, 2);
    }
    for (int64_t i = 0; i < count; i++)
        bodies->mass[i] = i == 0 ? 5 : i == 2 ? 0 : random_uniform(numbers, 0.01, 1);
    bodies->units.gravitational_constant = 0.7;
    return bodies;
}

/* The definition as a loop: the center of mass of bodies first to last − 1. */
static void center_of(const kith_bodies *bodies, int64_t last, double position[3],
                      double velocity[3], double *mass)
{
    *mass = 0;
    memset(position, 0, 3 * sizeof *position);
    memset(velocity, 0, 3 * sizeof *velocity);
    for (int64_t i = 0; i < last; i++) {
        *mass += bodies->mass[i];
        for (int k = 0; k < 3; k++) {
            position[k] += bodies->mass[i] * bodies->position[3 * i + k];
            velocity[k] += bodies->mass[i] * bodies->velocity[3 * i + k];
        }
    }
    for (int k = 0; k < 3; k++) {
        position[k] /= *mass;
        velocity[k] /= *mass;
    }
}

static void assert_same_orbit(const kith_orbit *found, const kith_orbit *expected)
{
    assert_near(found->a, expected->a, 1e-10 * fabs(expected->a), "a", 0);
    assert_near(found->e, expected->e, 1e-10 * expected->e, "e", 0);
    assert_near(found->i, expected->i, 1e-10, "i", 0);
    assert_near(remainder(found->Omega - expected->Omega, 2 * pi), 0, 1e-10, "Omega", 0);
    assert_near(remainder(found->omega - expected->omega, 2 * pi), 0, 1e-8, "omega", 0);
}

static void test_orbits_are_about_the_center_that_the_coordinates_say(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("coordinates");
    for (int sample = 0; sample < 200; sample++) {
        kith_bodies *bodies = random_bodies(&numbers, 6);
        for (int c = 0; c < 3; c++) {
            const kith_orbits_options options = {.coordinates = all_coordinates[c]};
            kith_orbit orbits[5];
            assert_ok(kith_orbits_compute(&options, bodies, orbits));
            for (int64_t i = 1; i < 6; i++) {
                double x[3], v[3], total = 0;
                center_of(bodies, c == 0 ? 1 : c == 1 ? i : 6, x, v, &total);
                for (int k = 0; k < 3; k++) {
                    x[k] = bodies->position[3 * i + k] - x[k];
                    v[k] = bodies->velocity[3 * i + k] - v[k];
                }
                kith_orbit expected;
                const double mu = 0.7 * (c == 2 ? total : total + bodies->mass[i]);
                assert_ok(kith_orbit_compute(mu, x, v, &expected));
                assert_same_orbit(&orbits[i - 1], &expected);
            }
        }
        kith_bodies_free(bodies);
    }
}

/* What rounding of a mean anomaly near 2 π moves a body by: of a nearly parabolic orbit that is far
 * more than the rounding of its position. */
static double motion_of_rounding(const kith_orbit *orbits, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, pow(fabs(orbits[i].a), 1.5));
    return 16 * DBL_EPSILON * most;
}

/* Placing is the inverse, but for the motion of the whole. */
static void test_bodies_are_where_they_were_after_orbits_and_back(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("coordinates");
    for (int sample = 0; sample < 300; sample++) {
        const kith_orbits_options options = {.coordinates = all_coordinates[sample % 3]};
        kith_bodies *bodies = random_bodies(&numbers, 6), *placed = random_bodies(&numbers, 6);
        memcpy(placed->mass, bodies->mass, 6 * sizeof *bodies->mass);
        kith_orbit orbits[5];
        double center[3], drift[3], total = 0;
        assert_ok(kith_orbits_compute(&options, bodies, orbits));
        assert_ok(kith_orbits_place(&options, orbits, placed));
        center_of(bodies, 6, center, drift, &total);
        const double moved = motion_of_rounding(orbits, 5);
        for (int64_t k = 0; k < 18; k++) {
            assert_near(placed->position[k], bodies->position[k] - center[k % 3], 1e-9 + moved,
                        "position", 0);
            assert_near(placed->velocity[k], bodies->velocity[k] - drift[k % 3], 1e-8 + 10 * moved,
                        "velocity", 0);
        }
        center_of(placed, 6, center, drift, &total);
        for (int k = 0; k < 3; k++) {
            assert_near(center[k], 0, 1e-12, "center of mass", 0);
            assert_near(drift[k], 0, 1e-12, "its velocity", 0);
        }
        kith_bodies_free(bodies);
        kith_bodies_free(placed);
    }
}

static void test_bodies_that_were_removed_have_no_orbit_and_do_not_attract(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("coordinates");
    for (int c = 0; c < 3; c++) {
        const kith_orbits_options options = {.coordinates = all_coordinates[c]};
        kith_bodies *bodies = random_bodies(&numbers, 6), *fewer = random_bodies(&numbers, 5);
        kith_orbit orbits[5], others[4];
        for (int64_t i = 0; i < 5; i++) {
            const int64_t from = i < 3 ? i : i + 1;
            fewer->mass[i] = bodies->mass[from];
            memcpy(fewer->position + 3 * i, bodies->position + 3 * from, 3 * sizeof(double));
            memcpy(fewer->velocity + 3 * i, bodies->velocity + 3 * from, 3 * sizeof(double));
        }
        for (int k = 9; k < 12; k++)
            bodies->position[k] = NAN;
        assert_ok(kith_orbits_compute(&options, bodies, orbits));
        assert_ok(kith_orbits_compute(&options, fewer, others));
        assert_true(isnan(orbits[2].a) && isnan(orbits[2].e) && isnan(orbits[2].M) &&
                    isnan(orbits[2].i) && isnan(orbits[2].Omega) && isnan(orbits[2].omega));
        for (int64_t k = 0; k < 4; k++)
            assert_memory_equal(&orbits[k < 2 ? k : k + 1], &others[k], sizeof *others);
        bodies->velocity[0] = NAN;
        assert_ok(kith_orbits_compute(&options, bodies, orbits));
        for (int64_t k = 0; k < 5; k++)
            assert_true(isnan(orbits[k].a));
        kith_bodies_free(bodies);
        kith_bodies_free(fewer);
    }
}

static void test_g_is_that_of_the_options_then_of_the_bodies_then_one(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.1});
    kith_orbit orbit;
    assert_ok(kith_orbits_compute(NULL, bodies, &orbit));
    assert_near(orbit.a, 1, 1e-14, "a", 0);
    bodies->units.gravitational_constant = 2;
    assert_ok(kith_orbits_compute(NULL, bodies, &orbit));
    assert_near(orbit.a, 1 / (2 / 0.9 - 1.1 / 0.9 / 2), 1e-14, "a under twice the G", 0);
    const kith_orbits_options options = {.gravitational_constant = 1};
    assert_ok(kith_orbits_compute(&options, bodies, &orbit));
    assert_near(orbit.a, 1, 1e-14, "a", 0);
    kith_bodies_free(bodies);
}

static void test_flat_bodies_and_bodies_without_masses_have_orbits(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    kith_orbit orbit;
    assert_ok(kith_bodies_create(2, 2, KITH_VELOCITY, &bodies));
    bodies->position[2] = 2;
    bodies->velocity[3] = -1;
    assert_ok(kith_orbits_compute(NULL, bodies, &orbit)); /* μ = 2: a circle, clockwise */
    assert_true(orbit.e == 0 && orbit.i == pi);
    assert_near(orbit.a, 2, 1e-15, "a", 0);
    kith_bodies_free(bodies);
}

static void test_no_bodies_and_a_star_alone_have_no_orbits(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 2; count++) {
        kith_bodies *bodies = NULL;
        assert_ok(kith_bodies_create(count, 3, KITH_VELOCITY, &bodies));
        assert_ok(kith_orbits_compute(NULL, bodies, NULL));
        assert_ok(kith_orbits_place(NULL, NULL, bodies));
        kith_bodies_free(bodies);
    }
}

static void test_sets_that_have_no_orbits_are_refused(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_orbit orbit = {.a = 1};
    kith_orbits_options options = {.gravitational_constant = -1};
    assert_fails(kith_orbits_compute(&options, bodies, &orbit), KITH_INVALID_ARGUMENT, "G -1");
    options = (kith_orbits_options){.coordinates = (kith_orbit_coordinates)7};
    assert_fails(kith_orbits_compute(&options, bodies, &orbit), KITH_INVALID_ARGUMENT,
                 "coordinates 7");
    assert_fails(kith_orbits_compute(NULL, NULL, &orbit), KITH_INVALID_ARGUMENT, "bodies");
    assert_fails(kith_orbits_compute(NULL, bodies, NULL), KITH_INVALID_ARGUMENT, "orbits");
    orbit.e = -1;
    assert_fails(kith_orbits_place(NULL, &orbit, bodies), KITH_INVALID_ARGUMENT, "e body 1 -1");
    bodies->mass[1] = -2;
    assert_fails(kith_orbits_compute(NULL, bodies, &orbit), KITH_INVALID_ARGUMENT, "body 1 -2");
    bodies->mass[1] = 1;
    bodies->mass[0] = 0;
    assert_fails(kith_orbits_compute(NULL, bodies, &orbit), KITH_INVALID_ARGUMENT, "body 0 0");
    bodies->mass[0] = 1;
    memcpy(bodies->position + 3, bodies->position, 3 * sizeof(double));
    assert_fails(kith_orbits_compute(NULL, bodies, &orbit), KITH_INVALID_ARGUMENT,
                 "position body 1 0");
    kith_bodies_free(bodies);
}

static void test_planets_have_the_elements_that_they_were_made_with(void **state)
{
    (void)state;
    const kith_planet planets[] = {
        {1e-3, 1, 0.05, 0.1, 1, 2, 3}, {0, -2, 1.5, 2, 3, 4, -5}, {2e-3, 4, 0, 0, 0, 0, 1}};
    for (int c = 0; c < 3; c++) {
        const kith_orbits_options about = {.coordinates = all_coordinates[c]};
        kith_bodies *bodies =
            made("planets", (kith_initial_options){.planets = planets,
                                                   .planet_count = 3,
                                                   .star_mass = 2,
                                                   .gravitational_constant = 5,
                                                   .coordinates = about.coordinates});
        kith_orbit orbits[3];
        assert_int_equal(bodies->count, 4);
        assert_true(bodies->mass[0] == 2 && bodies->mass[3] == 2e-3);
        assert_true(bodies->units.gravitational_constant == 5);
        assert_ok(kith_orbits_compute(&about, bodies, orbits));
        for (int k = 0; k < 3; k++) {
            assert_near(orbits[k].a, planets[k].a, 1e-13, "a", 0);
            assert_near(orbits[k].e, planets[k].e, 1e-13, "e", 0);
            assert_near(orbits[k].i, planets[k].i, 1e-13, "i", 0);
            const double longitude = planets[k].Omega + planets[k].omega + planets[k].M;
            assert_near(
                remainder(orbits[k].Omega + orbits[k].omega + orbits[k].M - longitude, 2 * pi), 0,
                1e-12, "mean longitude", 0);
        }
        kith_bodies_free(bodies);
    }
}

static void assert_no_planets(kith_initial_options options, const char *kind, const char *words)
{
    kith_bodies *bodies = NULL;
    assert_fails(kith_initial_make(kind, &options, &bodies), KITH_INVALID_ARGUMENT, words);
    assert_null(bodies);
}

static void test_planets_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const kith_planet heavy = {.m = -1, .a = 1}, wide = {.a = -1, .e = 0.5};
    assert_no_planets((kith_initial_options){.planets = &heavy, .planet_count = 1}, "planets",
                      "body 1 -1");
    assert_no_planets((kith_initial_options){.planets = &wide, .planet_count = 1}, "planets",
                      "e a body 1 -1 0.5");
    assert_no_planets((kith_initial_options){.planets = &wide, .planet_count = 1}, "plummer",
                      "plummer elements");
    assert_no_planets((kith_initial_options){.planets = &wide, .planet_count = -1}, "planets",
                      "planet_count -1");
    assert_no_planets((kith_initial_options){.planet_count = 1}, "planets", "planet_count 1");
    assert_no_planets((kith_initial_options){.planets = &wide, .planet_count = INT64_MAX},
                      "planets", "count 1");
    assert_no_planets((kith_initial_options){.count = 3}, "planets", "count 3");
    assert_no_planets((kith_initial_options){.star_mass = -1}, "planets", "-1");
    assert_no_planets((kith_initial_options){.gravitational_constant = NAN}, "planets", "G");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_outer_planets_have_the_sizes_of_the_almanac),
        cmocka_unit_test(test_jupiter_and_saturn_have_the_periods_of_their_perturbations),
        cmocka_unit_test(test_orbits_are_about_the_center_that_the_coordinates_say),
        cmocka_unit_test(test_bodies_are_where_they_were_after_orbits_and_back),
        cmocka_unit_test(test_bodies_that_were_removed_have_no_orbit_and_do_not_attract),
        cmocka_unit_test(test_g_is_that_of_the_options_then_of_the_bodies_then_one),
        cmocka_unit_test(test_flat_bodies_and_bodies_without_masses_have_orbits),
        cmocka_unit_test(test_no_bodies_and_a_star_alone_have_no_orbits),
        cmocka_unit_test(test_sets_that_have_no_orbits_are_refused),
        cmocka_unit_test(test_planets_have_the_elements_that_they_were_made_with),
        cmocka_unit_test(test_planets_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests_name("orbits_coordinates", tests, NULL, NULL);
}
