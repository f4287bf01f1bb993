/* MEGNO and the Lyapunov exponent by variational equations. */

#include "simulating.h"

static kith_megno computed(kith_context *context, const kith_bodies *bodies,
                           kith_megno_options options, kith_megno_sample *samples)
{
    kith_megno megno;
    assert_ok(kith_megno_compute(context, &options, bodies, samples, &megno));
    return megno;
}

static kith_bodies *two_planets(double mass, double ratio)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(3, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    bodies->mass[0] = 1;
    for (int i = 1; i < 3; i++) {
        const kith_orbit orbit = {.a = i == 1 ? 1 : ratio, .e = 0.05, .i = 0.01, .M = 2.0 * i};
        assert_ok(kith_orbit_place(1, &orbit, bodies->position + 3 * i, bodies->velocity + 3 * i));
        bodies->mass[i] = mass;
    }
    return bodies;
}

/* On a Kepler orbit displacements grow in proportion to the time. */
static void test_regular_orbits_have_a_mean_of_two(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *kepler = made("two-body", (kith_initial_options){.eccentricity = 0.3});
    kith_bodies *planets = two_planets(1e-5, 2.3);
    kith_megno megno =
        computed(context, kepler, (kith_megno_options){.until = 3000 * pi, .seed = 1}, NULL);
    print_message("Kepler: %g, mean %g\n", megno.megno, megno.mean_megno);
    assert_true(fabs(megno.mean_megno - 2) < 0.03);
    assert_true(fabs(megno.lyapunov_exponent) < 1e-3);
    megno = computed(context, planets, (kith_megno_options){.until = 3000 * pi, .seed = 1}, NULL);
    print_message("planets: %g, mean %g\n", megno.megno, megno.mean_megno);
    assert_true(fabs(megno.mean_megno - 2) < 0.1);
    kith_bodies_free(kepler);
    kith_bodies_free(planets);
    kith_context_free(context);
}

/* Bodies of one mass on the corners of a triangle that turns: small displacements grow by
 * e^{2π/√2} a period (Routh 1875). */
static void test_a_triangle_has_its_exponent(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(3, 2, KITH_VELOCITY, &bodies));
    const double speed = 1 / sqrt(sqrt(3)); /* v² = Σ G m / (√3 r), of unit masses at r = 1 */
    for (int i = 0; i < 3; i++) {
        const double angle = 2 * pi * i / 3;
        bodies->position[2 * i] = cos(angle);
        bodies->position[2 * i + 1] = sin(angle);
        bodies->velocity[2 * i] = -speed * sin(angle);
        bodies->velocity[2 * i + 1] = speed * cos(angle);
    }
    enum { samples = 60 };
    kith_megno_sample sample[samples];
    const double period = 2 * pi / speed;
    const kith_megno megno = computed(
        context, bodies, (kith_megno_options){.until = 6 * period, .samples = samples}, sample);
    const double expected = speed / sqrt(2);
    /* Between whole periods late enough for the fastest mode alone. */
    const double grown = (sample[59].growth - sample[29].growth) / (3 * period);
    print_message("exponent: %g, of the last half %g, expected %g\n", megno.lyapunov_exponent,
                  grown, expected);
    assert_true(fabs(grown / expected - 1) < 1e-3);
    assert_true(fabs(megno.lyapunov_exponent / expected - 1) < 0.01);
    assert_true(fabs(megno.lyapunov_time * megno.lyapunov_exponent - 1) < 1e-14);
    assert_true(sample[59].time == 6 * period && sample[59].megno == megno.megno &&
                sample[59].mean_megno == megno.mean_megno);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Planets that are too close: nearby trajectories by ias15 part as the exponent says. */
static void test_chaos_is_that_of_nearby_trajectories(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = two_planets(1e-4, 1.12), *near = two_planets(1e-4, 1.12);
    enum { samples = 10 };
    kith_megno_sample sample[samples];
    near->position[3] += 1e-11;
    const double until = 400 * pi;
    const kith_megno megno =
        computed(context, bodies, (kith_megno_options){.until = until, .samples = samples}, sample);
    const kith_simulation_options options = {.dt = 0.01, .integrator = "ias15"};
    kith_simulation *one = simulated(context, bodies, options);
    kith_simulation *other = simulated(context, near, options);
    double parted[samples];
    for (int k = 0; k < samples; k++) {
        assert_ok(kith_simulation_run(one, sample[k].time));
        assert_ok(kith_simulation_run(other, sample[k].time));
        kith_bodies *a = state_of(one, bodies), *b = state_of(other, bodies);
        parted[k] = log(distance_of_states(a, b) / 1e-11);
        print_message("t %g: MEGNO %g, mean %g, growth %g, of trajectories %g\n", sample[k].time,
                      sample[k].megno, sample[k].mean_megno, sample[k].growth, parted[k]);
        kith_bodies_free(a);
        kith_bodies_free(b);
    }
    assert_true(megno.mean_megno > 5 && megno.lyapunov_exponent > 0);
    for (int k = 0; k < samples && parted[k] < 18; k++)
        assert_true(fabs(sample[k].growth - parted[k]) < 4);
    kith_simulation_free(one);
    kith_simulation_free(other);
    kith_bodies_free(bodies);
    kith_bodies_free(near);
    kith_context_free(context);
}

static void test_bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1), *threads = cpu_context(3);
    kith_bodies *bodies = two_planets(1e-4, 1.12);
    const kith_megno_options options = {.until = 30, .seed = 5};
    const kith_megno a = computed(context, bodies, options, NULL);
    const kith_megno b = computed(threads, bodies, options, NULL);
    assert_memory_equal(&a, &b, sizeof a);
    const kith_megno c =
        computed(context, bodies, (kith_megno_options){.until = 30, .seed = 6}, NULL);
    assert_true(a.megno != c.megno && a.steps == c.steps);
    kith_bodies_free(bodies);
    kith_context_free(context);
    kith_context_free(threads);
}

static void assert_refused(kith_context *context, const kith_bodies *bodies,
                           kith_megno_options options, const char *fields)
{
    kith_megno megno;
    assert_int_equal(kith_megno_compute(context, &options, bodies, NULL, &megno),
                     KITH_INVALID_ARGUMENT);
    assert_true(has_fields(kith_error_message(), fields));
}

static void test_what_is_no_trajectory_is_refused(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = two_planets(1e-4, 1.5), *lone = NULL;
    bodies->time = 3;
    assert_refused(context, bodies, (kith_megno_options){.until = 3}, "until 3 time");
    assert_refused(context, bodies, (kith_megno_options){.until = 9, .dt = -1}, "dt -1");
    assert_refused(context, bodies, (kith_megno_options){.until = 9, .softening = -1},
                   "softening -1");
    assert_refused(context, bodies, (kith_megno_options){.until = 9, .samples = -1}, "samples -1");
    assert_refused(context, bodies, (kith_megno_options){.until = 9, .samples = 1}, "samples");
    bodies->mass[1] = -1;
    assert_refused(context, bodies, (kith_megno_options){.until = 9}, "mass 1");
    bodies->mass[1] = 1;
    memcpy(bodies->position + 3, bodies->position, 3 * sizeof(double));
    assert_refused(context, bodies, (kith_megno_options){.until = 9}, "bodies collide");
    assert_ok(kith_bodies_create(1, 3, KITH_VELOCITY, &lone));
    assert_refused(context, lone, (kith_megno_options){.until = 9}, "2");
    kith_bodies_free(lone);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regular_orbits_have_a_mean_of_two),
        cmocka_unit_test(test_a_triangle_has_its_exponent),
        cmocka_unit_test(test_chaos_is_that_of_nearby_trajectories),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_what_is_no_trajectory_is_refused),
    };
    return cmocka_run_group_tests_name("megno", tests, NULL, NULL);
}
