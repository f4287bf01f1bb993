/* What is known of gravity from pencil and paper, or from the sky, and must come out of
 * simulations.
 */
#include "simulating.h"

#include <stdlib.h>

static void test_an_eccentric_orbit_follows_keplers_equation(void **state)
{
    (void)state;
    const double eccentricity = 0.9;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = eccentricity});
    kith_simulation *simulation = simulated(
        context, bodies, (kith_simulation_options){.dt = 2 * pi / 4000, .integrator = "yoshida8"});
    double largest = 0;
    for (int k = 1; k <= 200; k++) {
        assert_ok(kith_simulation_step(simulation, 40));
        kith_bodies *now = state_of(simulation, bodies);
        largest =
            worse_of(largest, kepler_error(now, eccentricity, kith_simulation_time(simulation)));
        kith_bodies_free(now);
    }
    print_message("e = 0.9, two periods: largest distance from Kepler's place %.2g\n", largest);
    assert_true(largest < 1e-9);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Pericenter is where x·v turns from negative to positive; the time between, by interpolation. */
static void test_the_period_of_an_orbit_is_keplers(void **state)
{
    (void)state;
    const double mass_ratio = 0.25;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies =
        made("two-body", (kith_initial_options){.eccentricity = 0.9, .mass_ratio = mass_ratio});
    kith_simulation *simulation =
        simulated(context, bodies, (kith_simulation_options){.dt = 1e-4, .integrator = "yoshida4"});
    double before = 1, period = 0;
    while (period == 0 && kith_simulation_time(simulation) < 10) {
        assert_ok(kith_simulation_step(simulation, 1));
        assert_ok(kith_simulation_get_bodies(simulation, bodies));
        double x_dot_v = 0;
        for (int k = 0; k < 3; k++)
            x_dot_v += (bodies->position[3 + k] - bodies->position[k]) *
                       (bodies->velocity[3 + k] - bodies->velocity[k]);
        if (before < 0 && x_dot_v >= 0)
            period = kith_simulation_time(simulation) - 1e-4 * x_dot_v / (x_dot_v - before);
        before = x_dot_v;
    }
    print_message("period − 2π: %.2g\n", period - 2 * pi);
    assert_true(fabs(period - 2 * pi) < 1e-7);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* The largest |side − 1| of a triangle over some of its periods, 2π. */
static double largest_side_error(kith_context *context, const kith_bodies *start, int periods)
{
    kith_simulation *simulation = simulated(
        context, start, (kith_simulation_options){.dt = 2 * pi / 400, .integrator = "yoshida8"});
    kith_bodies *now = state_of(simulation, start);
    double largest = 0;
    for (int k = 0; k < 10 * periods; k++) {
        assert_ok(kith_simulation_step(simulation, 40));
        assert_ok(kith_simulation_get_bodies(simulation, now));
        for (int i = 0; i < 3; i++) {
            const double *a = now->position + 3 * i, *b = now->position + 3 * ((i + 1) % 3);
            const double side[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
            largest = worse_of(largest, fabs(length_of(side) - 1));
        }
    }
    kith_bodies_free(now);
    kith_simulation_free(simulation);
    return largest;
}

/* Masses 1 : 0.01 : 0.01, where the triangle is stable (27 Σ m_i m_j < M², Gascheau 1843). */
static void test_a_lagrange_triangle_stays_equilateral_for_a_hundred_periods(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("lagrange", (kith_initial_options){0});
    const double error = largest_side_error(context, bodies, 100);
    print_message("stable triangle, 100 periods: side error %.2g\n", error);
    assert_true(error < 1e-10);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Equal masses are unstable: a disturbance grows e^{2π/√2} = 85-fold in a period, rounding too. So
 * from 1e-16 it takes three periods to reach 1e-10, and no integrator does better in doubles. */
static void test_a_triangle_of_equal_masses_turns_until_rounding_has_grown(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("lagrange", (kith_initial_options){0});
    for (int i = 0; i < 3; i++) {
        const double angle = 2 * pi * i / 3, radius = 1 / sqrt(3.0);
        bodies->mass[i] = 1.0 / 3;
        bodies->position[3 * i] = radius * cos(angle);
        bodies->position[3 * i + 1] = radius * sin(angle);
        bodies->position[3 * i + 2] = bodies->velocity[3 * i + 2] = 0;
        bodies->velocity[3 * i] = -radius * sin(angle);
        bodies->velocity[3 * i + 1] = radius * cos(angle);
    }
    const double error = largest_side_error(context, bodies, 3);
    print_message("triangle of equal masses, 3 periods: side error %.2g\n", error);
    assert_true(error < 1e-8);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_the_figure_eight_returns_to_its_start(void **state)
{
    (void)state;
    const double period = 6.325913982926228;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("figure-8", (kith_initial_options){0});
    kith_simulation *simulation = simulated(
        context, bodies, (kith_simulation_options){.dt = period / 1000, .integrator = "yoshida8"});
    assert_ok(kith_simulation_run(simulation, period / 2));
    kith_bodies *half = state_of(simulation, bodies);
    assert_true(distance_of_states(half, bodies) > 0.5);
    assert_ok(kith_simulation_run(simulation, period));
    kith_bodies *end = state_of(simulation, bodies);
    print_message("figure-8: %.2g from the start\n", distance_of_states(end, bodies));
    assert_true(distance_of_states(end, bodies) < 1e-9);
    kith_bodies_free(half);
    kith_bodies_free(end);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

struct energy_watch {
    double first_tenth, last_tenth, whole; /* largest |E − E_0| / |E_0| */
    double calm;                           /* the smallest in the last tenth */
    double momentum, angular_momentum;     /* largest change, over Σ m |v| and |L_0| */
};

enum { samples = 1000 };

static double change_of(const double now[3], const double start[3])
{
    const double difference[3] = {now[0] - start[0], now[1] - start[1], now[2] - start[2]};
    return length_of(difference);
}

static double sum_of_speeds(const kith_bodies *bodies)
{
    double sum = 0;
    for (int64_t i = 0; i < bodies->count; i++)
        sum += bodies->mass[i] * length_of(bodies->velocity + 3 * i);
    return sum;
}

static struct energy_watch watch_energy(const kith_bodies *bodies, kith_simulation_options options,
                                        double until)
{
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = simulated(context, bodies, options);
    const int64_t steps = llround(until / options.dt / samples);
    const kith_diagnostics start = diagnosed(simulation);
    struct energy_watch watch = {.calm = (double)INFINITY};
    for (int k = 0; k < samples; k++) {
        assert_ok(kith_simulation_step(simulation, steps));
        const kith_diagnostics now = diagnosed(simulation);
        const double error = fabs(now.total_energy / start.total_energy - 1);
        watch.whole = worse_of(watch.whole, error);
        if (k < samples / 10)
            watch.first_tenth = worse_of(watch.first_tenth, error);
        if (k >= samples - samples / 10) {
            watch.last_tenth = worse_of(watch.last_tenth, error);
            watch.calm = fmin(watch.calm, error);
        }
        watch.momentum = worse_of(watch.momentum, change_of(now.momentum, start.momentum));
        watch.angular_momentum =
            fmax(watch.angular_momentum, change_of(now.angular_momentum, start.angular_momentum));
    }
    watch.momentum /= sum_of_speeds(bodies);
    watch.angular_momentum /= length_of(start.angular_momentum);
    kith_simulation_free(simulation);
    kith_context_free(context);
    print_message("%d bodies, %s: energy error %.2g in the first tenth, %.2g in the last (least "
                  "%.2g); momentum %.2g, angular momentum %.2g\n",
                  (int)bodies->count, options.integrator, watch.first_tenth, watch.last_tenth,
                  watch.calm, watch.momentum, watch.angular_momentum);
    return watch;
}

/* It rises at each pericenter and falls again: bounded, and near zero between. */
static void test_the_energy_error_of_two_bodies_oscillates_with_the_orbit(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.5});
    const double dt = 2 * pi / 207; /* samples then fall on all phases */
    struct energy_watch watch = watch_energy(
        bodies, (kith_simulation_options){.dt = dt, .integrator = "leapfrog"}, dt * 40 * samples);
    assert_true(watch.last_tenth < 1.1 * watch.first_tenth);
    assert_true(watch.calm < 0.05 * watch.whole);
    assert_true(watch.whole < 5e-3);

    watch = watch_energy(bodies, (kith_simulation_options){.dt = dt, .integrator = "rk4"},
                         dt * 40 * samples);
    assert_true(watch.last_tenth > 5 * watch.first_tenth);
    kith_bodies_free(bodies);
}

/* Six bodies meet in close encounters, which come when they come. Each raises the error, and it
 * falls back after it: with a symplectic integrator the calm between encounters is as calm as ever.
 * That of Runge-Kutta keeps what it has lost. */
static void test_the_energy_error_of_six_bodies_falls_back_after_each_encounter(void **state)
{
    (void)state;
    kith_simulation_options options = {.dt = 5e-4, .forces.softening = 0.1};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        kith_bodies *bodies = made("six", (kith_initial_options){.seed = seed});
        options.integrator = "leapfrog";
        struct energy_watch watch = watch_energy(bodies, options, 50);
        assert_true(watch.whole < 0.02);
        assert_true(watch.calm < 0.02 * watch.whole);

        options.integrator = "rk4";
        watch = watch_energy(bodies, options, 50);
        assert_true(watch.calm > 0.2 * watch.whole);
        kith_bodies_free(bodies);
    }
}

static void test_the_energy_error_of_the_outer_solar_system_stays_bounded(void **state)
{
    (void)state;
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation_options options = {.dt = 100, .forces.gravitational_constant = g_of_gauss};
    const char *const symplectic[] = {"leapfrog", "yoshida4", "pefrl"};
    for (int k = 0; k < 3; k++) {
        options.integrator = symplectic[k];
        const struct energy_watch watch = watch_energy(bodies, options, 365250.0 * 100);
        assert_true(watch.last_tenth < 1.5 * watch.first_tenth);
        assert_true(watch.whole < 1e-3);
    }
    options.integrator = "rk4";
    const struct energy_watch watch = watch_energy(bodies, options, 365250.0 * 100);
    assert_true(watch.last_tenth > 5 * watch.first_tenth);
    kith_bodies_free(bodies);
}

/* Truncation is 10⁻¹⁶ with this step: what is left of 22 million evaluations is rounding, which is
 * 2·10⁻¹³ to 8·10⁻¹³ where sums are not compensated. */
static void test_rounding_moves_the_energy_of_a_million_steps_by_a_hundred_places(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    const kith_simulation_options options = {
        .integrator = "yoshida8", .dt = 25, .forces.gravitational_constant = g_of_gauss};
    kith_simulation *simulation = simulated(context, bodies, options);
    kith_diagnostics start, now;
    assert_ok(kith_simulation_diagnose(simulation, &start));
    for (int tenth = 1; tenth <= 10; tenth++) {
        assert_ok(kith_simulation_run(simulation, tenth * 3652500.0));
        assert_ok(kith_simulation_diagnose(simulation, &now));
        assert_true(fabs(now.total_energy / start.total_energy - 1) <= 2e-14);
    }
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_momentum_and_angular_momentum_are_kept_to_rounding(void **state)
{
    (void)state;
    const struct {
        const char *kind;
        double softening, dt;
        int64_t steps;
    } systems[] = {{"six", 0.1, 5e-4, 20000}, {"plummer", 0.02, 5e-3, 1000}};
    for (int k = 0; k < 2; k++) {
        kith_bodies *bodies =
            made(systems[k].kind, (kith_initial_options){.count = k ? 300 : 6, .seed = 11});
        const struct energy_watch watch =
            watch_energy(bodies,
                         (kith_simulation_options){.dt = systems[k].dt,
                                                   .forces.softening = systems[k].softening,
                                                   .integrator = "leapfrog"},
                         systems[k].dt * (double)systems[k].steps);
        assert_true(watch.momentum < 1e-12);
        assert_true(watch.angular_momentum < 1e-11);
        kith_bodies_free(bodies);
    }
}

/* Positions after a while of bodies that were first turned about an axis, shifted and reordered by
 * stride 5 (mod 6), turned and shifted back. */
static kith_bodies *end_in_another_frame(double angle, double shift, int stride)
{
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("six", (kith_initial_options){.seed = 3});
    kith_bodies *moved = made("six", (kith_initial_options){.seed = 3});
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 6; i++) {
        const double *x = bodies->position + 3 * i, *v = bodies->velocity + 3 * i;
        const int to = i * stride % 6;
        const double turned[3] = {c * x[0] - s * x[1] + shift, s * x[0] + c * x[1], x[2]};
        const double turned_v[3] = {c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]};
        memcpy(moved->position + 3 * to, turned, sizeof turned);
        memcpy(moved->velocity + 3 * to, turned_v, sizeof turned_v);
        moved->mass[to] = bodies->mass[i];
    }
    kith_simulation *simulation =
        simulated(context, moved, (kith_simulation_options){.dt = 1e-3, .forces.softening = 0.1});
    assert_ok(kith_simulation_step(simulation, 500));
    assert_ok(kith_simulation_get_bodies(simulation, moved));
    for (int i = 0; i < 6; i++) {
        const double *x = moved->position + 3 * (i * stride % 6);
        bodies->position[3 * i] = c * (x[0] - shift) + s * x[1];
        bodies->position[3 * i + 1] = -s * (x[0] - shift) + c * x[1];
        bodies->position[3 * i + 2] = x[2];
    }
    kith_simulation_free(simulation);
    kith_bodies_free(moved);
    kith_context_free(context);
    return bodies;
}

static void test_turning_shifting_and_reordering_bodies_changes_only_rounding(void **state)
{
    (void)state;
    const struct {
        double angle, shift;
        int stride;
    } frames[] = {{0.7, 0, 1}, {0, 100, 1}, {0, 0, 5}, {2.1, -30, 5}};
    kith_bodies *expected = end_in_another_frame(0, 0, 1);
    for (size_t k = 0; k < sizeof frames / sizeof frames[0]; k++) {
        kith_bodies *end = end_in_another_frame(frames[k].angle, frames[k].shift, frames[k].stride);
        assert_true(distance_of_states(end, expected) < 1e-10);
        kith_bodies_free(end);
    }
    kith_bodies_free(expected);
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Radii about the center of mass that hold a quarter, half and three quarters of equal masses. */
static void lagrangian_radii(const kith_bodies *bodies, const double center[3], double radii[3])
{
    double *r = malloc(sizeof *r * (size_t)bodies->count);
    for (int64_t i = 0; i < bodies->count; i++) {
        const double *x = bodies->position + 3 * i;
        const double d[3] = {x[0] - center[0], x[1] - center[1], x[2] - center[2]};
        r[i] = length_of(d);
    }
    qsort(r, (size_t)bodies->count, sizeof *r, compare_reals);
    for (int k = 0; k < 3; k++)
        radii[k] = r[bodies->count * (k + 1) / 4];
    free(r);
}

/* Ten crossing times, 2√2 each in standard units. A quantile of 1000 radii scatters by about 4 %
 * from one time to another; relaxation, softened, changes it less in that time. */
static void test_a_plummer_sphere_keeps_its_profile_for_ten_dynamical_times(void **state)
{
    (void)state;
    kith_context *context = cpu_context(0);
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 1000, .seed = 1});
    kith_simulation *simulation =
        simulated(context, bodies, (kith_simulation_options){.dt = 0.02, .forces.softening = 0.05});
    const kith_diagnostics start = diagnosed(simulation);
    double first[3], now[3];
    lagrangian_radii(bodies, start.center_of_mass, first);
    for (int k = 1; k <= 10; k++) {
        assert_ok(kith_simulation_run(simulation, k * 2 * sqrt(2.0)));
        assert_ok(kith_simulation_get_bodies(simulation, bodies));
        const kith_diagnostics diagnostics = diagnosed(simulation);
        lagrangian_radii(bodies, diagnostics.center_of_mass, now);
        print_message("t = %5.2f: virial ratio %.3f, radii %.3f %.3f %.3f of the first\n",
                      kith_simulation_time(simulation), diagnostics.virial_ratio, now[0] / first[0],
                      now[1] / first[1], now[2] / first[2]);
        assert_true(fabs(diagnostics.virial_ratio - 1) < 0.15);
        for (int q = 0; q < 3; q++)
            assert_true(fabs(now[q] / first[q] - 1) < 0.2);
        assert_true(fabs(diagnostics.total_energy / start.total_energy - 1) < 2e-3);
    }
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_eccentric_orbit_follows_keplers_equation),
        cmocka_unit_test(test_the_period_of_an_orbit_is_keplers),
        cmocka_unit_test(test_a_lagrange_triangle_stays_equilateral_for_a_hundred_periods),
        cmocka_unit_test(test_a_triangle_of_equal_masses_turns_until_rounding_has_grown),
        cmocka_unit_test(test_the_figure_eight_returns_to_its_start),
        cmocka_unit_test(test_the_energy_error_of_two_bodies_oscillates_with_the_orbit),
        cmocka_unit_test(test_the_energy_error_of_six_bodies_falls_back_after_each_encounter),
        cmocka_unit_test(test_the_energy_error_of_the_outer_solar_system_stays_bounded),
        cmocka_unit_test(test_rounding_moves_the_energy_of_a_million_steps_by_a_hundred_places),
        cmocka_unit_test(test_momentum_and_angular_momentum_are_kept_to_rounding),
        cmocka_unit_test(test_turning_shifting_and_reordering_bodies_changes_only_rounding),
        cmocka_unit_test(test_a_plummer_sphere_keeps_its_profile_for_ten_dynamical_times),
    };
    return cmocka_run_group_tests_name("physics", tests, NULL, NULL);
}
