/* The integrator whfast: planets about a star. */

#include "kepler_drifts.h"
#include "random_numbers.h"
#include "simulating.h"

static kith_simulation_options whfast(double dt, int32_t corrector, const char *kernel)
{
    return (kith_simulation_options){
        .dt = dt, .integrator = "whfast", .corrector = corrector, .kernel = kernel};
}

static const kith_simulation_options heliocentric = {
    .dt = 0.1, .integrator = "whfast", .coordinates = "democratic-heliocentric"};

static kith_bodies *bodies_of(int64_t count, int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, dimensions, KITH_VELOCITY | KITH_MASS, &bodies));
    return bodies;
}

/* A star of mass 1 and two planets of about that mass on moderately eccentric orbits. */
static kith_bodies *two_planets(double mass)
{
    static const double position[] = {0, 0, 0, 1, 0, 0, -0.3, 1.7, 0.1};
    static const double velocity[] = {0, 0, 0, 0, 1.05, 0.02, -0.76, -0.1, 0};
    kith_bodies *bodies = bodies_of(3, 3);
    memcpy(bodies->position, position, sizeof position);
    memcpy(bodies->velocity, velocity, sizeof velocity);
    bodies->mass[0] = 1;
    bodies->mass[1] = mass;
    bodies->mass[2] = 0.7 * mass;
    return bodies;
}

/* Planets on random orbits that do not cross; every fourth has no mass if some are test particles.
 */
static kith_bodies *random_planets(struct random_numbers *random, int64_t count, bool some_massless)
{
    kith_bodies *bodies = bodies_of(count, 3);
    double a = 1;
    bodies->mass[0] = random_uniform(random, 0.5, 2);
    for (int64_t i = 1; i < count; i++) {
        const kith_orbit orbit = {.a = a,
                                  .e = random_uniform(random, 0, 0.1),
                                  .i = random_uniform(random, 0, 0.1),
                                  .Omega = random_uniform(random, 0, 6),
                                  .omega = random_uniform(random, 0, 6),
                                  .M = random_uniform(random, 0, 6)};
        assert_ok(kith_orbit_place(bodies->mass[0], &orbit, bodies->position + 3 * i,
                                   bodies->velocity + 3 * i));
        bodies->mass[i] = some_massless && i % 4 == 3 ? 0 : random_uniform(random, 1e-6, 1e-4);
        a *= random_uniform(random, 1.4, 1.7);
    }
    return bodies;
}

/* The largest |E − E_0| over a time of 40, in units of the planets' mass. */
static double energy_error(kith_context *context, double mass, kith_simulation_options options)
{
    kith_bodies *bodies = two_planets(mass);
    kith_simulation *simulation = simulated(context, bodies, options);
    const double start = diagnosed(simulation).total_energy;
    double largest = 0;
    for (int step = 0; step < (int)(40 / options.dt); step++) {
        assert_ok(kith_simulation_step(simulation, 1));
        largest = worse_of(largest, fabs(diagnosed(simulation).total_energy - start) / mass);
    }
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    return largest;
}

/* Planets so light that errors quadratic in their masses do not show. */
static void test_correctors_have_their_order(void **state)
{
    (void)state;
    static const struct {
        int32_t corrector;
        double dt;
    } cases[] = {{0, 0.2}, {3, 0.2}, {5, 0.4}, {7, 0.4}, {11, 0.56}};
    kith_context *context = cpu_context(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int32_t order = cases[k].corrector;
        const double coarse = energy_error(context, 1e-6, whfast(cases[k].dt, order, "lazy"));
        const double fine = energy_error(context, 1e-6, whfast(cases[k].dt / 2, order, "lazy"));
        const double slope = log2(coarse / fine), expected = order > 0 ? order + 1 : 2;
        print_message("corrector %d: slope %.2f\n", (int)order, slope);
        if (!(fabs(slope - expected) < 0.1 * expected))
            fail_msg("corrector %d: the slope is %g", (int)order, slope);
    }
    const double less = energy_error(context, 1e-6, whfast(0.4, 11, "lazy"));
    assert_true(energy_error(context, 1e-6, whfast(0.4, 17, "lazy")) < less / 3);
    kith_context_free(context);
}

static void test_kernels_remove_errors_quadratic_in_the_masses(void **state)
{
    (void)state;
    static const char *const kernels[] = {"default", "lazy", "modified-kick", "composition"};
    kith_context *context = cpu_context(1);
    for (int k = 0; k < 4; k++) {
        const double coarse = energy_error(context, 1e-3, whfast(0.2, 17, kernels[k]));
        const double fine = energy_error(context, 1e-3, whfast(0.1, 17, kernels[k]));
        const double slope = log2(coarse / fine);
        print_message("%s: slope %.2f, error %.2g\n", kernels[k], slope, fine);
        if (!(fabs(slope - (k > 0 ? 4 : 2)) < 0.25))
            fail_msg("%s: the slope is %g", kernels[k], slope);
    }
    kith_context_free(context);
}

/* Against steps of ias15, which are good to rounding. */
static void test_an_orbit_that_is_left_and_a_heavy_planet_follow_ias15(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = two_planets(1e-4);
    bodies->velocity[4] = 1.8; /* more than √2: a hyperbola */
    kith_simulation *exact =
        simulated(context, bodies, (kith_simulation_options){.dt = 0.01, .integrator = "ias15"});
    kith_simulation *simulation = simulated(context, bodies, whfast(0.02, 11, "lazy"));
    kith_simulation_options other = heliocentric;
    other.dt = 0.001;
    kith_simulation *about_star = simulated(context, bodies, other);
    assert_ok(kith_simulation_run(exact, 20));
    assert_ok(kith_simulation_run(simulation, 20));
    assert_ok(kith_simulation_run(about_star, 20));
    kith_bodies *a = state_of(exact, bodies), *b = state_of(simulation, bodies);
    kith_bodies *c = state_of(about_star, bodies);
    assert_true(a->position[3] * a->position[3] + a->position[4] * a->position[4] > 400);
    print_message("off by %.2g and %.2g\n", distance_of_states(a, b), distance_of_states(a, c));
    assert_true(distance_of_states(a, b) < 1e-10);
    assert_true(distance_of_states(a, c) < 1e-8);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_bodies_free(c);
    kith_simulation_free(exact);
    kith_simulation_free(simulation);
    kith_simulation_free(about_star);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static kith_simulation_options outer_planets(double dt, int32_t corrector, const char *kernel)
{
    kith_simulation_options options = whfast(dt, corrector, kernel);
    options.forces.gravitational_constant = g_of_gauss;
    return options;
}

static void test_steps_undo_themselves_backwards(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation_options options[] = {outer_planets(200, 0, NULL), outer_planets(200, 7, NULL),
                                         outer_planets(200, 11, "composition"),
                                         outer_planets(200, 0, NULL)};
    options[3].coordinates = "democratic-heliocentric";
    for (int k = 0; k < 4; k++) {
        kith_simulation *simulation = simulated(context, bodies, options[k]);
        assert_ok(kith_simulation_step(simulation, 500));
        kith_bodies *there = state_of(simulation, bodies);
        for (int step = 0; step < 500; step++)
            assert_ok(kith_simulation_step_by(simulation, -200));
        kith_bodies *back = state_of(simulation, bodies);
        assert_true(distance_of_states(there, bodies) > 1);
        if (!(distance_of_states(back, bodies) < 1e-10))
            fail_msg("%d: %g from the start", k, distance_of_states(back, bodies));
        assert_true(fabs(kith_simulation_time(simulation)) == 0);
        kith_bodies_free(there);
        kith_bodies_free(back);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_the_outer_planets_keep_energy_and_angular_momentum(void **state)
{
    (void)state;
    const double years = 20000;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation *simulation = simulated(context, bodies, outer_planets(25, 17, "lazy"));
    const kith_diagnostics before = diagnosed(simulation);
    double largest = 0, mass = 0;
    for (int64_t i = 0; i < bodies->count; i++)
        mass += bodies->mass[i];
    for (int k = 0; k < 20; k++) {
        assert_ok(kith_simulation_step(simulation, (int64_t)(years * 365.25 / 25 / 20)));
        const kith_diagnostics now = diagnosed(simulation);
        largest = worse_of(largest, fabs(now.total_energy / before.total_energy - 1));
        assert_true(fabs(length_of(now.angular_momentum) / length_of(before.angular_momentum) - 1) <
                    1e-14);
        for (int c = 0; c < 3; c++) {
            const double way = before.momentum[c] / mass * kith_simulation_time(simulation);
            assert_true(fabs(now.center_of_mass[c] - before.center_of_mass[c] - way) < 1e-12);
        }
    }
    print_message("energy error %.2g after %g years\n", largest, years);
    assert_true(largest < 2e-14);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Five mean motions of Saturn are nearly two of Jupiter: what the difference does has a period of
 * 883 years (Laplace 1785; 880 to 890 from mean motions of the 20th century). */
static void test_jupiter_and_saturn_have_their_great_inequality(void **state)
{
    (void)state;
    enum { samples = 1000 };
    const double days = 400;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation *simulation = simulated(context, bodies, outer_planets(100, 11, NULL));
    kith_bodies *now = state_of(simulation, bodies);
    double longitude[2] = {0}, turned[2] = {0};
    for (int k = 0; k <= 10 * samples; k++) {
        assert_ok(kith_simulation_get_bodies(simulation, now));
        for (int planet = 0; planet < 2; planet++) {
            double x[3], v[3];
            kith_orbit orbit;
            for (int c = 0; c < 3; c++) {
                x[c] = now->position[3 * (planet + 1) + c] - now->position[c];
                v[c] = now->velocity[3 * (planet + 1) + c] - now->velocity[c];
            }
            assert_ok(kith_orbit_compute(g_of_gauss * (bodies->mass[0] + bodies->mass[planet + 1]),
                                         x, v, &orbit));
            const double here = orbit.Omega + orbit.omega + orbit.M;
            if (k > 0) {
                const double step = remainder(here - longitude[planet], 2 * pi);
                turned[planet] += step < 0 ? step + 2 * pi : step;
            }
            longitude[planet] = here;
        }
        assert_ok(kith_simulation_step(simulation, (int64_t)(days / 100)));
    }
    const double rate = (5 * turned[1] - 2 * turned[0]) / (10 * samples * days / 365.25);
    print_message("great inequality: %.1f years\n", 2 * pi / rate);
    assert_true(fabs(2 * pi / rate - 883) < 15);
    kith_bodies_free(now);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static kith_simulation_options any_options(struct random_numbers *random)
{
    static const char *const kernels[] = {NULL, "lazy", "modified-kick", "composition"};
    static const int32_t correctors[] = {0, 3, 5, 7, 11, 17};
    const int which = (int)random_uniform(random, 0, 9);
    if (which >= 6) {
        kith_simulation_options options = heliocentric;
        return options;
    }
    return whfast(0.1, correctors[which], kernels[which % 4]);
}

/* In the ecliptic of J2000 the planets turn Mercury's pericenter by 532.3 arc seconds a century,
 * along its orbit; general relativity, which is not here, adds 43.0 (Park et al. 2017, AJ 153,
 * 121). */
static void test_mercury_precesses_as_newton_says(void **state)
{
    (void)state;
    enum { frames = 1000, steps = 91 };
    const double days = 4;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("solar-system", (kith_initial_options){0});
    kith_simulation *simulation = simulated(context, bodies, whfast(days, 17, "lazy"));
    const kith_orbits_options jacobi = {.coordinates = KITH_JACOBI};
    kith_orbit last = {0};
    double turned = 0, t = 0, x = 0, tt = 0, tx = 0;
    for (int frame = 0; frame < frames; frame++) {
        kith_orbit orbits[16];
        assert_ok(kith_simulation_get_bodies(simulation, bodies));
        assert_ok(kith_orbits_compute(&jacobi, bodies, orbits));
        if (frame > 0)
            turned += remainder(orbits[0].omega - last.omega, 2 * pi) +
                      remainder(orbits[0].Omega - last.Omega, 2 * pi) * cos(orbits[0].i);
        last = orbits[0];
        const double time = frame * steps * days / 36525;
        t += time / frames;
        x += turned / frames;
        tt += time * time / frames;
        tx += time * turned / frames;
        assert_ok(kith_simulation_step(simulation, steps));
    }
    const double seconds = (tx - t * x) / (tt - t * t) * 180 * 3600 / pi;
    print_message("Mercury: %.2f arc seconds a century\n", seconds);
    assert_true(fabs(seconds - 532.3) < 1);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_systems_of_an_ensemble_have_the_bits_that_they_have_alone(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *one = cpu_context(1), *two = cpu_context(2);
    for (int trial = 0; trial < 12; trial++) {
        const int64_t count = 1 + (int64_t)random_uniform(&random, 0, trial % 3 == 0 ? 40 : 12);
        const int64_t systems = 1 + (int64_t)random_uniform(&random, 0, 40);
        const kith_simulation_options options = any_options(&random);
        kith_bodies *each[41], *all = NULL;
        for (int64_t s = 0; s < systems; s++)
            each[s] = random_planets(&random, count, trial % 2 == 0);
        assert_ok(kith_ensemble_join(systems, (const kith_bodies *const *)each, &all));
        kith_simulation *many = NULL;
        assert_ok(kith_simulation_create_ensemble(two, &options, systems, all, &many));
        assert_ok(kith_simulation_step(many, 20));
        kith_bodies *found = state_of(many, all);
        for (int64_t s = 0; s < systems; s++) {
            kith_simulation *alone = simulated(one, each[s], options);
            assert_ok(kith_simulation_step(alone, 20));
            kith_bodies *expected = state_of(alone, each[s]);
            const kith_bodies of_all = kith_ensemble_system(found, systems, s);
            const size_t bytes = (size_t)(3 * count) * sizeof(double);
            assert_memory_equal(of_all.position, expected->position, bytes);
            assert_memory_equal(of_all.velocity, expected->velocity, bytes);
            kith_bodies_free(expected);
            kith_simulation_free(alone);
            kith_bodies_free(each[s]);
        }
        kith_bodies_free(found);
        kith_simulation_free(many);
        kith_bodies_free(all);
    }
    kith_context_free(one);
    kith_context_free(two);
}

static void test_a_restored_simulation_goes_on_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    for (int trial = 0; trial < 12; trial++) {
        kith_bodies *bodies = random_planets(&random, 2 + trial, true);
        const kith_simulation_options options = any_options(&random);
        kith_simulation *through = simulated(context, bodies, options);
        kith_simulation *first = simulated(context, bodies, options);
        kith_simulation *second = simulated(context, bodies, options);
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_step(through, 30));
        for (int step = 0; step < 13; step++)
            assert_ok(kith_simulation_step(first, 1));
        assert_ok(kith_simulation_save(first, &checkpoint));
        assert_ok(kith_simulation_restore(second, &checkpoint));
        assert_ok(kith_simulation_step(second, 17));
        kith_bodies *a = state_of(through, bodies), *b = state_of(second, bodies);
        assert_same_state(a, b);
        /* A step of another length does not leave a trace in a checkpoint either. */
        assert_ok(kith_simulation_step_by(through, 0.03));
        assert_ok(kith_simulation_save(through, &checkpoint));
        assert_ok(kith_simulation_restore(second, &checkpoint));
        assert_ok(kith_simulation_step(through, 5));
        assert_ok(kith_simulation_step(second, 5));
        assert_ok(kith_simulation_get_bodies(through, a));
        assert_ok(kith_simulation_get_bodies(second, b));
        assert_same_state(a, b);
        kith_checkpoint_free(&checkpoint);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_simulation_free(through);
        kith_simulation_free(first);
        kith_simulation_free(second);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

static void test_test_particles_change_nothing(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin(__func__);
    kith_context *context = cpu_context(1);
    kith_bodies *with = random_planets(&random, 30, false), *without = bodies_of(5, 3);
    for (int64_t i = 5; i < 30; i++)
        with->mass[i] = 0;
    memcpy(without->position, with->position, 15 * sizeof(double));
    memcpy(without->velocity, with->velocity, 15 * sizeof(double));
    memcpy(without->mass, with->mass, 5 * sizeof(double));
    const kith_simulation_options each[] = {whfast(0.1, 5, NULL), heliocentric};
    for (int k = 0; k < 2; k++) {
        kith_simulation *many = simulated(context, with, each[k]);
        kith_simulation *few = simulated(context, without, each[k]);
        assert_ok(kith_simulation_step(many, 50));
        assert_ok(kith_simulation_step(few, 50));
        kith_bodies *a = state_of(many, with), *b = state_of(few, without);
        assert_memory_equal(a->position, b->position, 15 * sizeof(double));
        assert_memory_equal(a->velocity, b->velocity, 15 * sizeof(double));
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_simulation_free(many);
        kith_simulation_free(few);
    }
    kith_bodies_free(with);
    kith_bodies_free(without);
    kith_context_free(context);
}

static void test_the_plane_has_the_bits_of_space(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *space = two_planets(1e-3), *plane = bodies_of(3, 2);
    for (int i = 0; i < 3; i++) {
        space->position[3 * i + 2] = space->velocity[3 * i + 2] = 0;
        memcpy(plane->position + 2 * i, space->position + 3 * i, 2 * sizeof(double));
        memcpy(plane->velocity + 2 * i, space->velocity + 3 * i, 2 * sizeof(double));
        plane->mass[i] = space->mass[i];
    }
    kith_simulation *in_space = simulated(context, space, whfast(0.1, 3, NULL));
    kith_simulation *in_plane = simulated(context, plane, whfast(0.1, 3, NULL));
    assert_ok(kith_simulation_step(in_space, 100));
    assert_ok(kith_simulation_step(in_plane, 100));
    kith_bodies *a = state_of(in_space, space), *b = state_of(in_plane, plane);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(a->position + 3 * i, b->position + 2 * i, 2 * sizeof(double));
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(in_space);
    kith_simulation_free(in_plane);
    kith_bodies_free(space);
    kith_bodies_free(plane);
    kith_context_free(context);
}

/* Lengths far from 1 are kept in other units. */
static void test_results_do_not_depend_on_units(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = two_planets(1e-3), *scaled = two_planets(1e-3);
    const double length = 0x1p200, mass = 0x1p-30;
    for (int k = 0; k < 9; k++) {
        scaled->position[k] *= length;
        scaled->velocity[k] *= length;
    }
    for (int k = 0; k < 3; k++)
        scaled->mass[k] *= mass;
    kith_simulation_options other = whfast(0.1, 3, "lazy");
    other.forces.gravitational_constant = length * length * length / mass;
    kith_simulation *a = simulated(context, bodies, whfast(0.1, 3, "lazy"));
    kith_simulation *b = simulated(context, scaled, other);
    assert_ok(kith_simulation_step(a, 50));
    assert_ok(kith_simulation_step(b, 50));
    kith_bodies *first = state_of(a, bodies), *second = state_of(b, scaled);
    for (int k = 0; k < 9; k++)
        assert_true(first->position[k] == second->position[k] / length);
    kith_bodies_free(first);
    kith_bodies_free(second);
    kith_simulation_free(a);
    kith_simulation_free(b);
    kith_bodies_free(bodies);
    kith_bodies_free(scaled);
    kith_context_free(context);
}

/* G is as large as units of time make it. */
static void test_results_do_not_depend_on_the_unit_of_time(void **state)
{
    (void)state;
    static const int exponents[] = {-200, -20, -3, 3, 20, 200};
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = two_planets(1e-3), *scaled = two_planets(1e-3);
    for (int frame = 0; frame < 2; frame++) {
        kith_simulation_options options = frame == 0 ? whfast(0.1, 3, "lazy") : heliocentric;
        kith_simulation *a = simulated(context, bodies, options);
        assert_ok(kith_simulation_step(a, 50));
        kith_bodies *first = state_of(a, bodies);
        for (size_t n = 0; n < sizeof exponents / sizeof *exponents; n++) {
            const double rate = ldexp(1, exponents[n]); /* of one unit of time to the other */
            options.dt = 0.1 / rate;
            options.forces.gravitational_constant = rate * rate;
            for (int k = 0; k < 9; k++)
                scaled->velocity[k] = rate * bodies->velocity[k];
            kith_simulation *b = simulated(context, scaled, options);
            assert_ok(kith_simulation_step(b, 50));
            kith_bodies *second = state_of(b, scaled);
            assert_memory_equal(first->position, second->position, 9 * sizeof(double));
            kith_bodies_free(second);
            kith_simulation_free(b);
        }
        kith_bodies_free(first);
        kith_simulation_free(a);
    }
    kith_bodies_free(bodies);
    kith_bodies_free(scaled);
    kith_context_free(context);
}

static void test_a_star_alone_moves_straight_on(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    for (int64_t count = 0; count < 2; count++) {
        kith_bodies *bodies = bodies_of(count, 3);
        if (count > 0) {
            bodies->mass[0] = 1;
            bodies->position[0] = 3;
            bodies->velocity[1] = 2;
        }
        kith_simulation *simulation = simulated(context, bodies, heliocentric);
        assert_ok(kith_simulation_run(simulation, 1));
        kith_bodies *end = state_of(simulation, bodies);
        if (count > 0)
            assert_true(end->position[0] == 3 && fabs(end->position[1] - 2) < 1e-15);
        kith_bodies_free(end);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
}

static void assert_refused(kith_context *context, const kith_bodies *bodies,
                           kith_simulation_options options, kith_status status, const char *message)
{
    kith_simulation *simulation = NULL;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation), status, message);
}

static bool look_at_it(void *user, kith_simulation *simulation)
{
    kith_bodies *bodies = user;
    return kith_simulation_get_bodies(simulation, bodies) == KITH_OK;
}

static void test_a_heartbeat_sees_the_bodies_after_its_step(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = two_planets(1e-3), *seen = bodies_of(3, 3);
    kith_simulation *with = simulated(context, bodies, whfast(0.1, 5, NULL));
    kith_simulation *without = simulated(context, bodies, whfast(0.1, 5, NULL));
    assert_ok(kith_simulation_set_heartbeat(with, 7, look_at_it, seen));
    assert_ok(kith_simulation_step(with, 10));
    assert_ok(kith_simulation_step(without, 7));
    kith_bodies *expected = state_of(without, bodies);
    assert_same_state(seen, expected);
    kith_bodies_free(seen);
    kith_bodies_free(expected);
    kith_simulation_free(with);
    kith_simulation_free(without);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_what_whfast_cannot_do_is_said(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = two_planets(1e-3);
    kith_simulation_options options = whfast(0.1, 4, NULL);
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "corrector 4 0 3 5 7 11 17");
    options = whfast(0.1, 0, "fast");
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "kernel 'fast'");
    options = whfast(0.1, 0, NULL);
    options.coordinates = "barycentric";
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "coordinates 'barycentric'");
    options = heliocentric;
    options.corrector = 3;
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "corrector");
    options = whfast(0.1, 3, NULL);
    options.integrator = NULL;
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "integrator leapfrog");
    options = whfast(-0.1, 3, NULL);
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "dt -0.1");
    options = whfast(0.1, 0, NULL);
    options.precision = KITH_F32;
    assert_refused(context, bodies, options, KITH_UNSUPPORTED, "precision");
    options = whfast(0.1, 0, NULL);
    options.forces.softening = 0.1;
    assert_refused(context, bodies, options, KITH_UNSUPPORTED, "softening 0.1");
    options = whfast(0.1, 0, NULL);
    options.forces.gravitational_constant = -1;
    assert_refused(context, bodies, options, KITH_UNSUPPORTED, "> 0");
    options = whfast(0.1, 0, NULL);
    options.encounter = 0.1;
    assert_refused(context, bodies, options, KITH_UNSUPPORTED, "hybrid ias15");
    options = whfast(0.1, 0, NULL);
    memcpy(bodies->position + 6, bodies->position, 3 * sizeof(double));
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "body 2 0");
    bodies->mass[0] = 0;
    assert_refused(context, bodies, options, KITH_INVALID_ARGUMENT, "body 0 0");
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correctors_have_their_order),
        cmocka_unit_test(test_kernels_remove_errors_quadratic_in_the_masses),
        cmocka_unit_test(test_drifts_follow_kepler_to_rounding_at_any_eccentricity),
        cmocka_unit_test(test_an_orbit_that_is_left_and_a_heavy_planet_follow_ias15),
        cmocka_unit_test(test_steps_undo_themselves_backwards),
        cmocka_unit_test(test_the_outer_planets_keep_energy_and_angular_momentum),
        cmocka_unit_test(test_jupiter_and_saturn_have_their_great_inequality),
        cmocka_unit_test(test_mercury_precesses_as_newton_says),
        cmocka_unit_test(test_systems_of_an_ensemble_have_the_bits_that_they_have_alone),
        cmocka_unit_test(test_a_restored_simulation_goes_on_bit_for_bit),
        cmocka_unit_test(test_test_particles_change_nothing),
        cmocka_unit_test(test_the_plane_has_the_bits_of_space),
        cmocka_unit_test(test_results_do_not_depend_on_units),
        cmocka_unit_test(test_results_do_not_depend_on_the_unit_of_time),
        cmocka_unit_test(test_a_star_alone_moves_straight_on),
        cmocka_unit_test(test_a_heartbeat_sees_the_bodies_after_its_step),
        cmocka_unit_test(test_what_whfast_cannot_do_is_said),
    };
    return cmocka_run_group_tests_name("whfast", tests, NULL, NULL);
}
