/* The integrator hermite-block: a step for each body. */

#include "testing.h"

#include "running.h"
#include "simulation/blocks_plan.h"

static kith_simulation_options blocks(double dt)
{
    return (kith_simulation_options){.dt = dt, .integrator = "hermite-block"};
}

static double energy_error(const char *integrator, const kith_bodies *bodies, double dt, double eta,
                           double until)
{
    kith_context *context = cpu_context(1);
    kith_simulation_options options = {.dt = dt, .integrator = integrator, .eta = eta};
    kith_simulation *simulation = simulated(context, bodies, options);
    const double start = diagnosed(simulation).total_energy;
    assert_ok(kith_simulation_run(simulation, until));
    const double end = diagnosed(simulation).total_energy;
    kith_simulation_free(simulation);
    kith_context_free(context);
    return fabs(end / start - 1);
}

/* Plummer spheres are seeded: what is measured here is the same on every run. */
static void test_a_cluster_takes_far_fewer_body_steps_than_shared_steps(void **state)
{
    (void)state;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 1024, .seed = 1});
    kith_run_options options = run_options(0.0625, 0.25, 0, NULL);
    options.simulation = blocks(0.0625);
    const kith_run_summary summary = run(options, bodies);
    assert_true(15 * summary.body_steps < 1024 * summary.steps);
    assert_true(summary.relative_energy_error < 3e-5);
    assert_true(summary.dt_max <= 0.0625 && summary.dt_min < summary.dt_max);
    assert_true(log2(0.0625 / summary.dt_min) == floor(log2(0.0625 / summary.dt_min)));
    kith_bodies_free(bodies);
}

/* Half the step, a sixteenth of the error and less: eta goes as its square. */
static void test_the_error_is_of_the_fourth_order_in_the_root_of_eta(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.5});
    const double coarse = energy_error("hermite-block", bodies, 0.25, 0.04, 20);
    const double fine = energy_error("hermite-block", bodies, 0.25, 0.0025, 20);
    assert_true(coarse < 1e-2 && fine < coarse / 60);
    kith_bodies_free(bodies);
}

/* In the middle of a step velocities have the snap at its start: with another one they would be off
 * by s³/6 of the difference, 4·10⁻⁶ here. */
static void test_bodies_in_the_middle_of_their_steps_are_where_they_should_be(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_simulation_options options = blocks(0.0625);
    options.eta = 10; /* all steps are of dt */
    kith_simulation *simulation = simulated(context, bodies, options);
    options = (kith_simulation_options){.dt = 0.0625, .integrator = "ias15"};
    kith_simulation *exact = simulated(context, bodies, options);
    assert_ok(kith_simulation_run(simulation, 10.5 * 0.0625));
    assert_ok(kith_simulation_run(exact, 10.5 * 0.0625));
    assert_int_equal(kith_simulation_steps(simulation), 11);
    kith_bodies *a = state_of(simulation, bodies), *b = state_of(exact, bodies);
    for (int64_t k = 0; k < 6; k++) {
        assert_true(fabs(a->position[k] - b->position[k]) < 1e-6);
        assert_true(fabs(a->velocity[k] - b->velocity[k]) < 1e-6);
    }
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(simulation);
    kith_simulation_free(exact);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Both bodies have the same steps, each from a multiple of its length: none goes across one of dt,
 * although steps become shorter and longer again at each pericenter. */
static void test_a_step_begins_at_a_multiple_of_its_length(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.9});
    kith_simulation *simulation = simulated(context, bodies, blocks(0.5));
    double time = 0, longest = 0, shortest = 1;
    while (time < 20) {
        assert_ok(kith_simulation_step(simulation, 1));
        const double now = kith_simulation_time(simulation), step = now - time;
        assert_true(fmod(time, step) == 0);
        longest = fmax(longest, step);
        shortest = fmin(shortest, step);
        time = now;
    }
    assert_true(longest >= 16 * shortest);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_bits_do_not_depend_on_threads_and_pieces(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("bits");
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 300, .seed = 2});
    kith_context *one = cpu_context(1), *four = cpu_context(4);
    kith_simulation *whole = simulated(one, bodies, blocks(0.125));
    kith_simulation *pieces = simulated(four, bodies, blocks(0.125));
    kith_simulation *later = simulated(four, bodies, blocks(0.125));
    assert_ok(kith_simulation_run(whole, 0.5));
    kith_bodies *expected = state_of(whole, bodies);
    double time = 0;
    while (time < 0.4) {
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_run(pieces, fmax(time, kith_simulation_time(pieces))));
        assert_ok(kith_simulation_step(pieces, 3));
        assert_ok(kith_simulation_save(pieces, &checkpoint));
        assert_ok(kith_simulation_restore(later, &checkpoint));
        kith_checkpoint_free(&checkpoint);
        time += random_uniform(&numbers, 0, 0.2);
    }
    assert_ok(kith_simulation_run(pieces, 0.5));
    assert_ok(kith_simulation_run(later, 0.5));
    kith_bodies *a = state_of(pieces, bodies), *b = state_of(later, bodies);
    assert_same_state(expected, a);
    assert_same_state(expected, b);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_bodies_free(expected);
    kith_simulation_free(whole);
    kith_simulation_free(pieces);
    kith_simulation_free(later);
    kith_context_free(one);
    kith_context_free(four);
    kith_bodies_free(bodies);
}

static void test_runs_have_frames_at_equal_times_and_resume_bit_for_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("resume");
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 64, .seed = 3});
    kith_run_options options = run_options(0.125, 3, 0, in_files("whole.h5"));
    options.simulation = blocks(0.125);
    options.simulation.eta = 0.01;
    options.every_time = 0.1;
    const kith_run_summary whole = run(options, bodies);
    int64_t frames = 0;
    double *times = frame_times(options.output, &frames);
    assert_int_equal(frames, 31);
    for (int64_t k = 0; k < frames; k++)
        assert_true(fabs(times[k] - 0.1 * (double)k) < 1e-14);
    free(times);
    assert_true(whole.max_relative_energy_error < 1e-5);
    options.output = in_files("pieces.h5");
    options.resume = true;
    for (int k = 0; k < 3; k++)
        run_and_cancel(options, bodies, random_uniform(&numbers, 0, whole.seconds / 2));
    const kith_run_summary pieces = run(options, bodies);
    assert_same_files(in_files("whole.h5"), options.output, "none");
    assert_true(pieces.body_steps == whole.body_steps && pieces.dt_min == whole.dt_min);
    options.simulation.eta = 0.04;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "eta 0.04");
    kith_bodies_free(bodies);
}

/* Each body a softening of its own, in two dimensions; and frames by any K. */
static void test_it_takes_softenings_of_bodies_and_two_dimensions(void **state)
{
    (void)state;
    for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
        kith_bodies *bodies =
            made("uniform-sphere",
                 (kith_initial_options){.count = 40, .seed = 4, .dimensions = dimensions});
        assert_ok(kith_bodies_add_columns(bodies, KITH_SOFTENING));
        for (int64_t i = 0; i < 40; i++)
            bodies->softening[i] = 0.05 + 0.01 * (double)i;
        kith_run_options options = run_options(0.0625, 0.5, 7, in_files("soft.h5"));
        options.simulation = blocks(0.0625);
        options.simulation.softening_of_bodies = true;
        assert_true(run(options, bodies).relative_energy_error < 1e-6);
        kith_bodies_free(bodies);
    }
}

/* The items of a GPU: all targets, all sources, and room for their sums. */
static void test_items_of_a_block_cover_its_pairs(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("items");
    for (int k = 0; k < 20000; k++) {
        const int64_t bodies = 1 + (int64_t)exp(random_uniform(&numbers, 0, 16));
        const int64_t count = (int64_t)fmin(exp(random_uniform(&numbers, 0, 16)), (double)bodies);
        const int32_t grid = 1 + (int32_t)random_uniform(&numbers, 0, 600);
        const struct blocks_plan plan = blocks_plan_of(bodies, count, grid);
        const int64_t groups = (count + plan.targets - 1) / plan.targets;
        assert_true(plan.targets > 0 && blocks_threads % plan.targets == 0);
        assert_true(plan.items == groups * plan.parts);
        assert_true(plan.parts * plan.part_sources >= bodies);
        assert_true((plan.parts - 1) * plan.part_sources < bodies);
        assert_true(plan.items * plan.targets <= blocks_most_sums(bodies, grid));
        assert_true(groups == 1 || count * 2 > groups * plan.targets);
    }
    assert_true(blocks_plan_of(1000, 0, 100).items == 0);
}

static void test_no_bodies_take_steps_of_dt(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *none = NULL;
    assert_ok(kith_bodies_create(0, 3, KITH_VELOCITY | KITH_MASS, &none));
    kith_simulation *simulation = simulated(context, none, blocks(0.125));
    assert_ok(kith_simulation_step(simulation, 3));
    assert_true(kith_simulation_time(simulation) == 0.375);
    assert_ok(kith_simulation_run(simulation, 1.01));
    assert_true(kith_simulation_time(simulation) == 1.01);
    kith_simulation_free(simulation);
    kith_bodies_free(none);
    kith_context_free(context);
}

static void test_what_it_does_not_do_is_refused(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_simulation *simulation = NULL;
    kith_simulation_options options = blocks(0.1);
    options.precision = KITH_F32;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation), KITH_UNSUPPORTED,
                 "precision");
    options = blocks(0.1);
    options.eta = -1;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "eta -1");
    options = (kith_simulation_options){.dt = 0.1, .eta = 0.01, .integrator = "hermite4"};
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation),
                 KITH_INVALID_ARGUMENT, "eta 0.01 hermite4");
    options = blocks(0.1);
    assert_fails(kith_simulation_create_ensemble(context, &options, 1, bodies, &simulation),
                 KITH_UNSUPPORTED, "ensemble");
    simulation = simulated(context, bodies, options);
    assert_fails(kith_simulation_step_by(simulation, -1), KITH_UNSUPPORTED, "backwards");
    assert_ok(kith_simulation_step(simulation, 10));
    assert_fails(
        kith_simulation_get_bodies_at(simulation, kith_simulation_time(simulation), bodies),
        KITH_UNSUPPORTED, "output");
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Two bodies so near to each other that r⁻³ overflows. */
static void test_an_acceleration_that_is_not_finite_is_an_error(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    for (int32_t c = 0; c < bodies->dimensions; c++)
        bodies->position[c] = bodies->position[bodies->dimensions + c] = 0;
    bodies->position[bodies->dimensions] = 1e-120;
    kith_simulation *simulation = simulated(context, bodies, blocks(0.01));
    assert_fails(kith_simulation_step(simulation, 100), KITH_INVALID_ARGUMENT, "not finite");
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cluster_takes_far_fewer_body_steps_than_shared_steps),
        cmocka_unit_test(test_the_error_is_of_the_fourth_order_in_the_root_of_eta),
        cmocka_unit_test(test_bodies_in_the_middle_of_their_steps_are_where_they_should_be),
        cmocka_unit_test(test_a_step_begins_at_a_multiple_of_its_length),
        cmocka_unit_test(test_bits_do_not_depend_on_threads_and_pieces),
        cmocka_unit_test(test_runs_have_frames_at_equal_times_and_resume_bit_for_bit),
        cmocka_unit_test(test_it_takes_softenings_of_bodies_and_two_dimensions),
        cmocka_unit_test(test_items_of_a_block_cover_its_pairs),
        cmocka_unit_test(test_an_acceleration_that_is_not_finite_is_an_error),
        cmocka_unit_test(test_no_bodies_take_steps_of_dt),
        cmocka_unit_test(test_what_it_does_not_do_is_refused),
    };
    return cmocka_run_group_tests_name("hermite-block", tests, make_files_directory,
                                       remove_files_directory);
}
