/* The integrator hermite-block on the GPU, a step for each body, against the CPU's. */

#include "fields.h"
#include "gpu_simulating.h"

static kith_simulation_options blocks(double dt, double softening)
{
    return (kith_simulation_options){
        .dt = dt, .forces.softening = softening, .integrator = "hermite-block"};
}

/* Their steps are the same but where rounding decides, which changes results by what steps leave
 * out. With a large eta all steps are of dt: results differ by rounding. */
static void compare(kith_context *gpu, kith_context *cpu, const kith_bodies *bodies,
                    kith_simulation_options options, double *largest)
{
    const bool is_shared = options.eta > 1;
    kith_simulation *found = simulated(gpu, bodies, options);
    kith_simulation *expected = simulated(cpu, bodies, options);
    const double until = options.dt * (is_shared ? 3.5 : 7.3);
    assert_ok(kith_simulation_run(found, until));
    assert_ok(kith_simulation_run(expected, until));
    kith_bodies *a = state_of(found, bodies), *b = state_of(expected, bodies);
    const double off = distance_of_states(a, b);
    if (is_shared)
        assert_int_equal(kith_simulation_steps(found), kith_simulation_steps(expected));
    if (!(off < (is_shared ? 1e-13 : 1e-6)))
        fail_msg("%lld bodies in %d dimensions: off by %g", (long long)bodies->count,
                 (int)bodies->dimensions, off);
    largest[is_shared] = worse_of(largest[is_shared], off);
    free_both(found, expected, a, b);
}

static void test_bodies_move_as_on_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    static const int64_t counts[] = {1, 2, 3, 31, 64, 65, 257, 1000, 1025, 2049, 5001};
    const int sizes = test_is_quick() ? 9 : 11;
    kith_context *gpu = new_gpu_context(0), *cpu = cpu_context(0);
    double largest[2] = {0};
    for (int k = 0; k < 2 * sizes; k++) {
        kith_bodies *bodies = slow_bodies(random, 1, counts[k % sizes], k % 3 ? 3 : 2, 0.5, 0.1);
        kith_simulation_options options = blocks(0.125, k % 4 == 1 ? 0 : 0.15);
        options.softening_of_bodies = k % 4 == 3;
        if (options.softening_of_bodies)
            options.forces.softening = 0;
        options.eta = k < sizes ? 1e9 : k % 4 == 1 ? 0.005 : 0.02;
        if (k % 4 == 1) /* without softening long steps pass over encounters, in 2D above all */
            options.dt = 1e-4;
        compare(gpu, cpu, bodies, options, largest);
        kith_bodies_free(bodies);
    }
    print_message("largest difference %.2g, with equal steps %.2g\n", largest[0], largest[1]);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_bits_do_not_depend_on_runs_and_pieces(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    const double until = test_is_quick() ? 0.06 : 0.3;
    for (int k = 0; k < (test_is_quick() ? 1 : 3); k++) {
        kith_bodies *bodies =
            made("plummer", (kith_initial_options){.count = 300 + 1700 * k, .seed = 2});
        kith_simulation *whole = simulated(gpu, bodies, blocks(0.125, 0));
        kith_simulation *again = simulated(gpu, bodies, blocks(0.125, 0));
        kith_simulation *pieces = simulated(gpu, bodies, blocks(0.125, 0));
        kith_simulation *later = simulated(gpu, bodies, blocks(0.125, 0));
        assert_ok(kith_simulation_run(whole, until));
        assert_ok(kith_simulation_run(again, until));
        double time = 0;
        while (time < 0.8 * until) {
            kith_checkpoint checkpoint = {0};
            assert_ok(kith_simulation_run(pieces, fmax(time, kith_simulation_time(pieces))));
            assert_ok(kith_simulation_step(pieces, 3));
            assert_ok(kith_simulation_save(pieces, &checkpoint));
            assert_ok(kith_simulation_restore(later, &checkpoint));
            kith_checkpoint_free(&checkpoint);
            time += random_uniform(random, 0, until / 2);
        }
        assert_ok(kith_simulation_run(pieces, until));
        assert_ok(kith_simulation_run(later, until));
        kith_bodies *expected = state_of(whole, bodies);
        kith_simulation *const others[] = {again, pieces, later};
        for (int other = 0; other < 3; other++) {
            kith_bodies *now = state_of(others[other], bodies);
            assert_same_state(expected, now);
            kith_bodies_free(now);
            kith_simulation_free(others[other]);
        }
        kith_bodies_free(expected);
        kith_simulation_free(whole);
        kith_bodies_free(bodies);
    }
    kith_context_free(gpu);
}

static void test_a_cluster_keeps_its_energy(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(0);
    const int64_t count = test_is_quick() ? 512 : 8192;
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = count, .seed = 1});
    kith_simulation *simulation = simulated(gpu, bodies, blocks(1.0 / 64, 0));
    const double start = diagnosed(simulation).total_energy;
    assert_ok(kith_simulation_run(simulation, test_is_quick() ? 1.0 / 32 : 0.25));
    const double off = fabs(diagnosed(simulation).total_energy / start - 1);
    print_message("%lld bodies, %lld steps: energy off by %.2g\n", (long long)count,
                  (long long)kith_simulation_steps(simulation), off);
    assert_true(off < 1e-6);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

/* Each bodies' own steps: the times of all are multiples of the shortest. */
static void test_steps_are_counted_as_on_the_cpu(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(0), *cpu = cpu_context(1);
    kith_bodies *bodies = made("two-body", (kith_initial_options){.eccentricity = 0.9});
    kith_simulation *found = simulated(gpu, bodies, blocks(0.5, 0));
    kith_simulation *expected = simulated(cpu, bodies, blocks(0.5, 0));
    for (int step = 0; step < 100; step++) {
        const int64_t steps = 1 + step % 7;
        assert_ok(kith_simulation_step(found, steps));
        assert_ok(kith_simulation_step(expected, steps));
        assert_int_equal(kith_simulation_steps(found), kith_simulation_steps(expected));
        assert_true(kith_simulation_time(found) == kith_simulation_time(expected));
    }
    kith_bodies *a = state_of(found, bodies), *b = state_of(expected, bodies);
    assert_true(distance_of_states(a, b) < 1e-9);
    free_both(found, expected, a, b);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_new_bodies_forget_the_past(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *bodies = slow_bodies(random, 1, 100, 3, 0.5, 0.1);
    kith_simulation *used = simulated(gpu, bodies, blocks(0.125, 0.1));
    kith_simulation *fresh = simulated(gpu, bodies, blocks(0.125, 0.1));
    assert_ok(kith_simulation_run(used, 0.7));
    assert_ok(kith_simulation_set_bodies(used, bodies));
    assert_ok(kith_simulation_run(used, 0.4));
    assert_ok(kith_simulation_run(fresh, 0.4));
    kith_bodies *a = state_of(used, bodies), *b = state_of(fresh, bodies);
    assert_same_state(a, b);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(used);
    kith_simulation_free(fresh);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

static void test_what_it_does_not_do_is_said(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0}), *missing = NULL;
    kith_simulation *simulation = NULL;
    kith_simulation_options options = blocks(0.1, 0);
    options.precision = KITH_F32;
    assert_fails(kith_simulation_create(gpu, &options, bodies, &simulation), KITH_UNSUPPORTED,
                 "hermite-block precision");
    options = blocks(0.1, 0);
    options.forces.method = KITH_FORCES_TILE_P;
    assert_fails(kith_simulation_create(gpu, &options, bodies, &simulation), KITH_UNSUPPORTED,
                 "hermite-block CPU");
    options = (kith_simulation_options){.dt = 0.1, .integrator = "hybrid"};
    assert_fails(kith_simulation_create(gpu, &options, bodies, &simulation), KITH_UNSUPPORTED,
                 "hybrid CPU");
    simulation = simulated(gpu, bodies, blocks(0.1, 0));
    assert_fails(kith_simulation_step_by(simulation, -1), KITH_UNSUPPORTED, "backwards");
    kith_simulation_free(simulation);
    bodies->velocity[1] = bodies->velocity[4] = 0; /* head-on */
    simulation = simulated(gpu, bodies, blocks(0.1, 0));
    assert_fails(kith_simulation_run(simulation, 9), KITH_INVALID_ARGUMENT, "body softening");
    kith_simulation_free(simulation);
    assert_ok(kith_bodies_create(0, 3, KITH_VELOCITY | KITH_MASS, &missing));
    simulation = simulated(gpu, missing, blocks(0.125, 0));
    assert_ok(kith_simulation_step(simulation, 3));
    assert_true(kith_simulation_time(simulation) == 0.375);
    assert_ok(kith_simulation_run(simulation, 1));
    assert_true(kith_simulation_time(simulation) == 1);
    kith_simulation_free(simulation);
    kith_bodies_free(missing);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_hermite_block"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_hermite_block");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_bodies_move_as_on_the_cpu, &random),
        cmocka_unit_test_prestate(test_bits_do_not_depend_on_runs_and_pieces, &random),
        cmocka_unit_test(test_a_cluster_keeps_its_energy),
        cmocka_unit_test(test_steps_are_counted_as_on_the_cpu),
        cmocka_unit_test_prestate(test_new_bodies_forget_the_past, &random),
        cmocka_unit_test(test_what_it_does_not_do_is_said),
    };
    return cmocka_run_group_tests_name("cuda_hermite_block", tests, NULL, NULL);
}
