/* The adaptive integrator ias15. */

#include "simulating.h"

static kith_simulation *adaptive(kith_context *context, const kith_bodies *bodies, double dt)
{
    return simulated(context, bodies, (kith_simulation_options){.dt = dt, .integrator = "ias15"});
}

static kith_checkpoint saved(kith_simulation *simulation)
{
    kith_checkpoint checkpoint = {0};
    assert_ok(kith_simulation_save(simulation, &checkpoint));
    return checkpoint;
}

static double shortest_step(kith_simulation *simulation)
{
    kith_checkpoint checkpoint = saved(simulation);
    const double shortest = checkpoint.least_step;
    kith_checkpoint_free(&checkpoint);
    return shortest;
}

static kith_bodies *bodies_at(int64_t count, const double (*position)[3], const double *mass)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    memcpy(bodies->position, position, (size_t)count * sizeof *position);
    memcpy(bodies->mass, mass, (size_t)count * sizeof *mass);
    return bodies;
}

/* The Pythagorean problem of Burrau (1913): 3, 4 and 5 at rest. */
static kith_bodies *pythagorean(void)
{
    static const double position[][3] = {{1, 3, 0}, {-2, -1, 0}, {1, -1, 0}}, mass[] = {3, 4, 5};
    return bodies_at(3, position, mass);
}

static void test_a_comet_keeps_its_energy_and_comes_back(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.99});
    kith_simulation *simulation = adaptive(context, bodies, 0.01);
    const double before = diagnosed(simulation).total_energy;
    assert_ok(kith_simulation_run(simulation, 200 * pi));
    assert_true(fabs(diagnosed(simulation).total_energy / before - 1) < 2e-13);
    assert_true(kith_simulation_steps(simulation) < 20000);
    kith_bodies *end = state_of(simulation, bodies);
    const double error = kepler_error(end, 0.99, 200 * pi);
    if (!(error < 1e-8))
        fail_msg("the comet is off by %g", error);
    kith_bodies_free(end);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_circular_orbits_follow_kepler_to_rounding(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_simulation *simulation = adaptive(context, bodies, 0.1);
    assert_ok(kith_simulation_run(simulation, 200));
    kith_bodies *end = state_of(simulation, bodies);
    assert_true(kepler_error(end, 0, 200) < 1e-12);
    /* 2π over (7! 10⁻⁹)^{1/7} steps an orbit. */
    assert_true(fabs((double)kith_simulation_steps(simulation) / (200 / 0.1751) - 1) < 0.02);
    kith_bodies_free(end);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Made by tools/make_pythagorean.py. Close encounters multiply errors: from rounding by 10¹⁰ up to
 * t = 70. */
static const struct {
    double time, place[3][2], tolerance;
} references[] = {
    {10,
     {{0.77848041013808549311, 0.14139230029008616862},
      {-2.0250924779781985862, 0.097219384146058396502},
      {1.1529857362997075731, -0.16261088749089841837}},
     1e-11},
    {30,
     {{0.85634049889731607107, 2.2870936636962499371},
      {-0.87798387903184995684, -0.86596382771574715336},
      {0.18858280388709032283, -0.67948513604515223955}},
     1e-10},
    {50,
     {{-2.7014614092655247252, -3.7972226827224479963},
      {1.5059381924206810666, 0.96081342493837606431},
      {0.41612629162276998183, 1.5096828696827679463}},
     1e-6},
    {70,
     {{6.9334635990118872905, 20.261804305951714139},
      {-2.0030060026059840875, -6.8724634358245448456},
      {-2.5576733573223451043, -6.6591118349113926068}},
     1e-3},
};

static void test_the_pythagorean_problem_follows_a_reference_in_more_digits(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = pythagorean();
    kith_simulation *simulation = adaptive(context, bodies, 0.01);
    const double before = diagnosed(simulation).total_energy;
    for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
        assert_ok(kith_simulation_run(simulation, references[k].time));
        kith_bodies *now = state_of(simulation, bodies);
        double error = 0;
        for (int i = 0; i < 3; i++)
            error = worse_of(error, hypot(now->position[3 * i] - references[k].place[i][0],
                                          now->position[3 * i + 1] - references[k].place[i][1]));
        print_message("t = %g: off by %.2g\n", references[k].time, error);
        if (!(error < references[k].tolerance))
            fail_msg("off by %g at %g", error, references[k].time);
        kith_bodies_free(now);
    }
    assert_true(fabs(diagnosed(simulation).total_energy / before - 1) < 1e-11);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* A body passes the middle six times a period, where its acceleration is 0 and a step that follows
 * from it would be too. */
static void test_the_figure_eight_does_not_stall(void **state)
{
    (void)state;
    const double period = 6.325913985;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("figure-8", (kith_initial_options){0});
    kith_simulation *simulation = adaptive(context, bodies, 0.01);
    const double before = diagnosed(simulation).total_energy;
    assert_ok(kith_simulation_run(simulation, 100 * period));
    assert_true(fabs(diagnosed(simulation).total_energy / before - 1) < 1e-14);
    assert_true(shortest_step(simulation) >= 1e-3 * period);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Of a body between two others only rounding is left of the acceleration. */
static void test_forces_that_cancel_do_not_shorten_steps(void **state)
{
    (void)state;
    static const double position[][3] = {{-1, 0.1, 0}, {0, 0, 0}, {1, -0.1, 0}};
    static const double mass[] = {1e-3, 1, 1e-3};
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = bodies_at(3, position, mass);
    for (int i = 0; i < 3; i += 2) {
        bodies->velocity[3 * i] = -bodies->position[3 * i + 1];
        bodies->velocity[3 * i + 1] = bodies->position[3 * i];
    }
    kith_simulation *simulation = adaptive(context, bodies, 0.05);
    assert_ok(kith_simulation_run(simulation, 30));
    assert_true(shortest_step(simulation) >= 0.05 * (1 - 1e-6));
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void assert_same_checkpoints(kith_simulation *one, kith_simulation *other)
{
    kith_checkpoint a = saved(one), b = saved(other);
    assert_int_equal(a.bytes, b.bytes);
    assert_memory_equal(a.state, b.state, (size_t)a.bytes);
    assert_true(a.steps == b.steps && a.start_time == b.start_time && a.lost_time == b.lost_time);
    assert_true(a.next_step == b.next_step && a.last_step == b.last_step);
    kith_checkpoint_free(&a);
    kith_checkpoint_free(&b);
}

/* Also of more bodies than the kernel of few has room for, and under another law. */
static void test_a_restored_simulation_goes_on_bit_for_bit(void **state)
{
    (void)state;
    kith_context *context = cpu_context(2);
    kith_law *law = NULL;
    assert_ok(kith_law_parse("yukawa:2", 0, NULL, &law));
    for (int k = 0; k < 4; k++) {
        kith_bodies *bodies =
            k == 0 ? pythagorean()
                   : made("plummer", (kith_initial_options){.count = k == 2 ? 80 : 9, .seed = 5});
        const kith_simulation_options options = {.dt = 0.01,
                                                 .integrator = "ias15",
                                                 .forces.softening = k == 2 ? 0.1 : 0,
                                                 .forces.law = k == 3 ? law : NULL};
        kith_simulation *whole = simulated(context, bodies, options);
        kith_simulation *first = simulated(context, bodies, options);
        kith_simulation *second = simulated(context, bodies, options);
        assert_ok(kith_simulation_step(whole, 50));
        assert_ok(kith_simulation_step(first, 7));
        assert_ok(kith_simulation_step(first, 0));
        assert_ok(kith_simulation_step(first, 16));
        kith_checkpoint checkpoint = saved(first);
        assert_ok(kith_simulation_restore(second, &checkpoint));
        assert_ok(kith_simulation_step(second, 27));
        assert_same_checkpoints(whole, second);
        const double until = kith_simulation_time(whole) * 1.37;
        assert_ok(kith_simulation_run(whole, until));
        while (kith_simulation_time(second) != until)
            assert_ok(kith_simulation_run_steps(second, until, 3));
        assert_same_checkpoints(whole, second);
        kith_checkpoint_free(&checkpoint);
        kith_simulation_free(whole);
        kith_simulation_free(first);
        kith_simulation_free(second);
        kith_bodies_free(bodies);
    }
    kith_law_free(law);
    kith_context_free(context);
}

/* The kernel of few bodies and that of any number have forces of different rounding. */
static void test_few_and_many_bodies_move_alike(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 30, .seed = 3});
    const kith_solver *reference = NULL;
    assert_ok(kith_solver_find("reference", &reference));
    kith_simulation_options options = {.dt = 0.01, .integrator = "ias15", .forces.softening = 0.05};
    kith_simulation *few = simulated(context, bodies, options);
    options.forces.solver = reference;
    kith_simulation *any = simulated(context, bodies, options);
    assert_ok(kith_simulation_run(few, 0.5));
    assert_ok(kith_simulation_run(any, 0.5));
    kith_bodies *a = state_of(few, bodies), *b = state_of(any, bodies);
    const double distance = distance_of_states(a, b);
    assert_true(distance > 0 && distance < 1e-11);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(few);
    kith_simulation_free(any);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Inside a step the polynomial of degree 7 is of lower order than at the end. */
static void test_states_within_a_step_are_between_those_at_its_ends(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.6});
    kith_simulation *simulation = adaptive(context, bodies, 0.1);
    kith_bodies *now = state_of(simulation, bodies);
    assert_ok(kith_simulation_get_bodies_at(simulation, 0, now));
    assert_fails(kith_simulation_get_bodies_at(simulation, 0.1, now), KITH_INVALID_ARGUMENT,
                 "0.1 0 0");
    double place = 0, drift = 0;
    for (int step = 0; step < 200; step++) {
        const double start = kith_simulation_time(simulation);
        assert_ok(kith_simulation_step(simulation, 1));
        const double end = kith_simulation_time(simulation);
        for (int k = 0; k <= 4; k++) {
            const double time = k < 4 ? start + (end - start) * k / 4 : end;
            assert_ok(kith_simulation_get_bodies_at(simulation, time, now));
            assert_true(now->time == time);
            const double energy = pow(hypot(2 * now->velocity[3], 2 * now->velocity[4]), 2) / 2 -
                                  1 / hypot(2 * now->position[3], 2 * now->position[4]);
            const double off = kepler_error(now, 0.6, time);
            const bool is_end = k == 0 || k == 4;
            place = worse_of(place, off);
            drift = worse_of(drift, fabs(energy + 0.5));
            assert_true(!is_end || (off < 1e-12 && fabs(energy + 0.5) < 1e-13));
        }
        assert_fails(kith_simulation_get_bodies_at(simulation, start - 1e-3, now),
                     KITH_INVALID_ARGUMENT, "");
    }
    print_message("within steps: places off by %.2g, energies by %.2g\n", place, drift);
    assert_true(place < 1e-11 && drift < 5e-9);
    kith_simulation_free(simulation);
    simulation = simulated(context, bodies, (kith_simulation_options){.dt = 0.1});
    assert_fails(kith_simulation_get_bodies_at(simulation, 0, now), KITH_UNSUPPORTED, "ias15");
    kith_simulation_free(simulation);
    kith_bodies_free(now);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_it_goes_back_to_the_start(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation *simulation = adaptive(context, bodies, 50);
    assert_ok(kith_simulation_step_by(simulation, 30000));
    assert_true(kith_simulation_time(simulation) == 30000);
    assert_ok(kith_simulation_step_by(simulation, -30000));
    assert_true(kith_simulation_time(simulation) == 0);
    kith_bodies *back = state_of(simulation, bodies);
    assert_true(distance_of_states(back, bodies) < 1e-11);
    kith_bodies_free(back);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Brouwer's law: errors of sums that round to nearest grow as the root of time. */
static void test_the_energy_of_the_outer_planets_stays_at_rounding(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("outer-solar-system", (kith_initial_options){0});
    kith_simulation *simulation = adaptive(context, bodies, 100);
    const double before = diagnosed(simulation).total_energy;
    double sum = 0;
    enum { samples = 100 };
    for (int k = 1; k <= samples; k++) {
        assert_ok(kith_simulation_run(simulation, 36525. * k));
        const double error = diagnosed(simulation).total_energy / before - 1;
        sum += error * error;
    }
    print_message("10⁴ years: rms error %.2g\n", sqrt(sum / samples));
    assert_true(sqrt(sum / samples) < 5e-15);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Two suns at rest to each other and a particle without mass, which nobody feels. */
static void test_a_test_particle_is_not_felt(void **state)
{
    (void)state;
    static const double position[][3] = {{-0.5, 0, 0}, {0.5, 0, 0}, {3, 0, 1}, {3, 0, 1}};
    static const double mass[] = {0.5, 0.5, 0, 0};
    kith_context *context = cpu_context(1);
    kith_bodies *ends[2];
    for (int k = 0; k < 2; k++) {
        kith_bodies *bodies = bodies_at(2 + 2 * k, position, mass);
        bodies->velocity[1] = -0.5;
        bodies->velocity[4] = 0.5;
        kith_simulation *simulation = adaptive(context, bodies, 0.01);
        assert_ok(kith_simulation_run(simulation, 3));
        ends[k] = state_of(simulation, bodies);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    for (int c = 0; c < 6; c++)
        assert_true(fabs(ends[0]->position[c] - ends[1]->position[c]) < 1e-13);
    assert_true(ends[1]->position[6] < 3);
    kith_bodies_free(ends[0]);
    kith_bodies_free(ends[1]);
    kith_context_free(context);
}

/* G is as large as units of time make it. */
static void test_results_do_not_depend_on_the_unit_of_time(void **state)
{
    (void)state;
    static const int exponents[] = {0, -100, -20, 3, 20, 100};
    kith_context *context = cpu_context(1);
    kith_bodies *expected = NULL;
    for (size_t n = 0; n < sizeof exponents / sizeof *exponents; n++) {
        const double rate = ldexp(1, exponents[n]); /* of one unit of time to the other */
        kith_bodies *bodies = made("figure-8", (kith_initial_options){0});
        for (int64_t k = 0; k < 3 * bodies->count; k++)
            bodies->velocity[k] *= rate;
        kith_simulation *simulation =
            simulated(context, bodies,
                      (kith_simulation_options){.dt = 0.01 / rate,
                                                .integrator = "ias15",
                                                .forces.gravitational_constant = rate * rate});
        assert_ok(kith_simulation_run(simulation, 1 / rate));
        kith_bodies *found = state_of(simulation, bodies);
        if (expected)
            assert_memory_equal(found->position, expected->position,
                                (size_t)(3 * found->count) * sizeof(double));
        else
            expected = state_of(simulation, bodies);
        kith_bodies_free(found);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_bodies_free(expected);
    kith_context_free(context);
}

static void test_bodies_at_one_place_are_refused_unless_softened(void **state)
{
    (void)state;
    static const double position[][3] = {{1, 2, 3}, {0, 0, 0}, {5, 2, 3}, {1, 2, 3}};
    static const double masses[] = {1, 1, 0, 2}, massless[] = {1, 1, 0, 0};
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = bodies_at(4, position, masses);
    kith_simulation_options options = {.dt = 0.01, .integrator = "ias15"};
    kith_simulation *simulation = NULL;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "0 3");
    assert_null(simulation);
    options.forces.softening = 0.1;
    simulation = simulated(context, bodies, options);
    kith_simulation_free(simulation);
    options.forces.softening = 0;
    memcpy(bodies->mass, massless, sizeof massless);
    simulation = simulated(context, bodies, options);
    memcpy(bodies->mass, masses, sizeof masses);
    assert_fails(kith_simulation_set_bodies(simulation, bodies), KITH_INVALID_ARGUMENT, "");
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_what_ias15_cannot_do_is_said(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_simulation_options options = {.dt = 0.01, .integrator = "ias15", .precision = KITH_F32};
    kith_simulation *simulation = NULL;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation), KITH_UNSUPPORTED,
                 "precision");
    options.precision = KITH_F64;
    options.dt = 0;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "dt 0");
    options.dt = -0.01;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "dt -0.01");
    options.dt = 0.01;
    simulation = simulated(context, bodies, options);
    assert_fails(kith_simulation_run(simulation, -1), KITH_INVALID_ARGUMENT, "until -1");
    assert_fails(kith_simulation_run_steps(simulation, 1, -1), KITH_INVALID_ARGUMENT, "steps -1");
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Two bodies that fall into each other head-on: there is no step through r = 0. */
static void test_a_head_on_collision_ends_with_a_message(void **state)
{
    (void)state;
    static const double position[][3] = {{0, 0, 0}, {1, 0, 0}}, mass[] = {1, 1};
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = bodies_at(2, position, mass);
    bodies->time = 5;
    kith_simulation *simulation = adaptive(context, bodies, 0.01);
    assert_fails(kith_simulation_run(simulation, 10), KITH_INVALID_ARGUMENT, "ias15");
    kith_bodies *end = state_of(simulation, bodies);
    assert_true(isfinite(end->position[0]) && end->time > 5.7 && end->time < 5.8);
    kith_bodies_free(end);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_comet_keeps_its_energy_and_comes_back),
        cmocka_unit_test(test_circular_orbits_follow_kepler_to_rounding),
        cmocka_unit_test(test_the_pythagorean_problem_follows_a_reference_in_more_digits),
        cmocka_unit_test(test_the_figure_eight_does_not_stall),
        cmocka_unit_test(test_results_do_not_depend_on_the_unit_of_time),
        cmocka_unit_test(test_forces_that_cancel_do_not_shorten_steps),
        cmocka_unit_test(test_a_restored_simulation_goes_on_bit_for_bit),
        cmocka_unit_test(test_few_and_many_bodies_move_alike),
        cmocka_unit_test(test_states_within_a_step_are_between_those_at_its_ends),
        cmocka_unit_test(test_it_goes_back_to_the_start),
        cmocka_unit_test(test_the_energy_of_the_outer_planets_stays_at_rounding),
        cmocka_unit_test(test_a_test_particle_is_not_felt),
        cmocka_unit_test(test_bodies_at_one_place_are_refused_unless_softened),
        cmocka_unit_test(test_what_ias15_cannot_do_is_said),
        cmocka_unit_test(test_a_head_on_collision_ends_with_a_message),
    };
    return cmocka_run_group_tests_name("ias15", tests, NULL, NULL);
}
