/* Orbits over many periods, by the integrators for planets: energies, and places against those of
 * ias15. */

#include "random_numbers.h"
#include "simulating.h"

static kith_simulation_options adaptive(double dt)
{
    return (kith_simulation_options){.dt = dt, .integrator = "ias15"};
}

static kith_simulation_options whfast(double dt, const char *kernel)
{
    return (kith_simulation_options){
        .dt = dt, .integrator = "whfast", .corrector = 17, .kernel = kernel};
}

/* The state at a time, with the change of the energy. */
static kith_bodies *at_time(const kith_bodies *bodies, kith_simulation_options options, double time,
                            double *energy_error)
{
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = simulated(context, bodies, options);
    const double before = diagnosed(simulation).total_energy;
    assert_ok(kith_simulation_run(simulation, time));
    *energy_error = fabs(diagnosed(simulation).total_energy / before - 1);
    kith_bodies *end = state_of(simulation, bodies);
    kith_simulation_free(simulation);
    kith_context_free(context);
    return end;
}

static double largest_distance(const kith_bodies *a, const kith_bodies *b)
{
    double largest = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double off[3];
        for (int c = 0; c < 3; c++)
            off[c] = a->position[3 * i + c] - b->position[3 * i + c];
        largest = worse_of(largest, length_of(off));
    }
    return largest;
}

static void compare_with_ias15(const char *kind, double years, kith_simulation_options options,
                               double most_energy, double most_distance)
{
    kith_bodies *bodies = made(kind, (kith_initial_options){0});
    double energy_error, reference_error;
    kith_bodies *end = at_time(bodies, options, 365.25 * years, &energy_error);
    kith_bodies *reference = at_time(bodies, adaptive(1), 365.25 * years, &reference_error);
    const double off = largest_distance(end, reference);
    print_message("%s, %g years: off by %.2g AU, energies by %.2g and %.2g\n", kind, years, off,
                  energy_error, reference_error);
    assert_true(off < most_distance);
    assert_true(energy_error < most_energy);
    assert_true(reference_error < 2e-14);
    kith_bodies_free(end);
    kith_bodies_free(reference);
    kith_bodies_free(bodies);
}

static void test_the_outer_planets_are_where_ias15_puts_them(void **state)
{
    (void)state;
    compare_with_ias15("outer-solar-system", 100000, whfast(200, "lazy"), 1e-10, 1e-4);
}

static void test_eight_planets_are_where_ias15_puts_them(void **state)
{
    (void)state;
    compare_with_ias15("solar-system", 10000, whfast(5, NULL), 1e-11, 2e-5);
}

/* Root mean squares of the relative energy error of the outer planets in the second half of 10³,
 * 10⁴ and 10⁵ years. */
static void check_growth(kith_simulation_options options)
{
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation *simulation = simulated(context, bodies, options);
    const double before = diagnosed(simulation).total_energy;
    double rms[3] = {0};
    enum { samples = 50 };
    for (int decade = 0; decade < 3; decade++) {
        const double years = pow(10, 3 + decade);
        double sum = 0;
        for (int k = 1; k <= samples; k++) {
            const double time = 365.25 * years * (0.5 + 0.5 * k / samples);
            assert_ok(kith_simulation_run(simulation, time));
            const double error = diagnosed(simulation).total_energy / before - 1;
            sum += error * error;
        }
        rms[decade] = sqrt(sum / samples);
    }
    print_message("%s: %.2g %.2g %.2g\n", options.integrator, rms[0], rms[1], rms[2]);
    assert_true(rms[0] < 2e-15 && rms[1] < 6e-15 && rms[2] < 2e-14);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Steps at which truncation is below rounding; the fourth order needs too many. */
static void test_rounding_grows_with_the_root_of_time(void **state)
{
    (void)state;
    check_growth(adaptive(100));
    check_growth(whfast(10, "lazy"));
    check_growth((kith_simulation_options){.dt = 25, .integrator = "yoshida8"});
}

static void test_eccentric_orbits_keep_their_energy(void **state)
{
    (void)state;
    static const double eccentricities[] = {0.9, 0.99}, most[] = {2e-14, 1e-13};
    for (int k = 0; k < 2; k++) {
        kith_bodies *bodies =
            made("two-body", (kith_initial_options){.eccentricity = eccentricities[k]});
        double error;
        kith_bodies_free(at_time(bodies, adaptive(0.01), 200 * pi, &error));
        print_message("e = %g: energy off by %.2g after 100 orbits\n", eccentricities[k], error);
        assert_true(error < most[k]);
        kith_bodies_free(bodies);
    }
}

/* A ring about a star, with close encounters. */
static void test_a_thousand_planetesimals_keep_their_energy(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1001, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    bodies->mass[0] = 1;
    for (int64_t i = 1; i < bodies->count; i++) {
        const kith_orbit orbit = {.a = random_uniform(&random, 0.9, 1.1),
                                  .e = random_uniform(&random, 0, 0.02),
                                  .i = random_uniform(&random, 0, 0.01),
                                  .Omega = random_uniform(&random, 0, 2 * pi),
                                  .omega = random_uniform(&random, 0, 2 * pi),
                                  .M = random_uniform(&random, 0, 2 * pi)};
        assert_ok(kith_orbit_place(1, &orbit, bodies->position + 3 * i, bodies->velocity + 3 * i));
        bodies->mass[i] = 1e-9;
    }
    const kith_simulation_options hybrid = {.dt = 2 * pi / 20, .integrator = "hybrid"};
    double error;
    kith_bodies_free(at_time(bodies, hybrid, 2 * pi, &error));
    print_message("energy off by %.2g\n", error);
    assert_true(error < 1e-8);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_outer_planets_are_where_ias15_puts_them),
        cmocka_unit_test(test_eight_planets_are_where_ias15_puts_them),
        cmocka_unit_test(test_rounding_grows_with_the_root_of_time),
        cmocka_unit_test(test_eccentric_orbits_keep_their_energy),
        cmocka_unit_test(test_a_thousand_planetesimals_keep_their_energy),
    };
    return cmocka_run_group_tests_name("long_orbits", tests, NULL, NULL);
}
