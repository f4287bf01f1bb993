/* The integrator ias15 of one system on the GPU, against the CPU's. */

#include "fields.h"
#include "gpu_simulating.h"

static kith_simulation_options options_of(int k)
{
    return (kith_simulation_options){.dt = 0.01,
                                     .integrator = "ias15",
                                     .forces.softening = k % 3 ? 0.15 : 0,
                                     .softening_of_bodies = k % 3 == 0};
}

static void run_in_pieces(kith_simulation *simulation)
{
    assert_ok(kith_simulation_run(simulation, 0.2));
    assert_ok(kith_simulation_step_by(simulation, 0.3));
    assert_ok(kith_simulation_step_by(simulation, -0.2));
    assert_ok(kith_simulation_run_steps(simulation, 0.7, 2));
    assert_ok(kith_simulation_run(simulation, 0.7));
}

/* Both are good to rounding. */
static void test_bodies_move_as_on_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    static const int64_t counts[] = {0, 1, 2, 3, 33, 64, 65, 257, 1000, 4001};
    kith_context *gpu = new_gpu_context(0), *cpu = cpu_context(0);
    double largest = 0;
    for (int k = 0; k < (test_is_quick() ? 8 : 10); k++) {
        kith_bodies *bodies = slow_bodies(random, 1, counts[k], k % 4 ? 3 : 2, 0.5, 0.1);
        kith_simulation *found = simulated(gpu, bodies, options_of(k));
        kith_simulation *expected = simulated(cpu, bodies, options_of(k));
        run_in_pieces(found);
        run_in_pieces(expected);
        assert_true(kith_simulation_time(found) == 0.7);
        assert_true(llabs(kith_simulation_steps(found) - kith_simulation_steps(expected)) <= 1);
        kith_bodies *a = state_of(found, bodies), *b = state_of(expected, bodies);
        const double off = distance_of_states(a, b);
        largest = worse_of(largest, off);
        if (!(off < 1e-12))
            fail_msg("%lld bodies: off by %g", (long long)counts[k], off);
        free_both(found, expected, a, b);
        kith_bodies_free(bodies);
    }
    print_message("largest difference %.2g\n", largest);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_bits_do_not_depend_on_runs_and_resumes(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *bodies = slow_bodies(random, 1, 333, 3, 0.5, 0.1);
    kith_simulation *first = simulated(gpu, bodies, options_of(0));
    kith_simulation *second = simulated(gpu, bodies, options_of(0));
    kith_simulation *third = simulated(gpu, bodies, options_of(0));
    kith_checkpoint checkpoint = {0};
    assert_ok(kith_simulation_step(first, 7));
    assert_ok(kith_simulation_run(second, 0.3));
    assert_ok(kith_simulation_save(first, &checkpoint));
    assert_ok(kith_simulation_restore(second, &checkpoint));
    assert_ok(kith_simulation_run(first, 0.8));
    assert_ok(kith_simulation_run(second, 0.8));
    assert_ok(kith_simulation_run(third, 0.8));
    kith_bodies *a = state_of(first, bodies), *b = state_of(second, bodies);
    kith_bodies *c = state_of(third, bodies);
    assert_same_state(a, b);
    assert_same_state(a, c);
    /* Bodies filled in again forget the past. */
    assert_ok(kith_simulation_set_bodies(first, bodies));
    assert_ok(kith_simulation_run(first, 0.8));
    assert_ok(kith_simulation_get_bodies(first, b));
    assert_same_state(b, c);
    kith_checkpoint_free(&checkpoint);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_bodies_free(c);
    kith_simulation_free(first);
    kith_simulation_free(second);
    kith_simulation_free(third);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

static void test_energies_are_kept_to_rounding(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *comet = made("two-body", (kith_initial_options){.eccentricity = 0.9});
    kith_bodies *sphere = made("plummer", (kith_initial_options){.count = 500, .seed = 1});
    const kith_bodies *const each[] = {comet, sphere};
    const double share = test_is_quick() ? 0.1 : 1;
    for (int k = 0; k < 2; k++) {
        const kith_simulation_options options = {
            .dt = 0.01, .integrator = "ias15", .forces.softening = 0.02 * k};
        kith_simulation *simulation = simulated(gpu, each[k], options);
        const double start = diagnosed(simulation).total_energy;
        assert_ok(kith_simulation_run(simulation, share * (k == 0 ? 6 * pi : 0.2)));
        const double off = fabs(diagnosed(simulation).total_energy / start - 1);
        print_message("%lld bodies, %lld steps: energy off by %.2g\n", (long long)each[k]->count,
                      (long long)kith_simulation_steps(simulation), off);
        assert_true(off < 1e-13);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(comet);
    kith_bodies_free(sphere);
    kith_context_free(gpu);
}

/* Of polynomials on the device. */
static void test_the_state_within_the_last_step_is_that_of_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0), *cpu = cpu_context(0);
    kith_bodies *bodies = slow_bodies(random, 1, 100, 3, 0.5, 0.1);
    kith_simulation *found = simulated(gpu, bodies, options_of(1));
    kith_simulation *expected = simulated(cpu, bodies, options_of(1));
    kith_bodies *a = state_of(found, bodies), *b = state_of(expected, bodies);
    assert_ok(kith_simulation_step(found, 5));
    assert_ok(kith_simulation_step(expected, 5));
    const double time = kith_simulation_time(expected) - 1e-3;
    assert_ok(kith_simulation_get_bodies_at(found, time, a));
    assert_ok(kith_simulation_get_bodies_at(expected, time, b));
    assert_true(distance_of_states(a, b) < 1e-12);
    free_both(found, expected, a, b);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_what_fails_is_said(void **state)
{
    (void)state;
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_simulation *simulation = NULL;
    kith_simulation_options options = {.dt = 0.01, .integrator = "ias15", .precision = KITH_F32};
    assert_fails(kith_simulation_create(gpu, &options, bodies, &simulation), KITH_UNSUPPORTED,
                 "ias15 double");
    options.precision = KITH_F64;
    bodies->velocity[1] = bodies->velocity[4] = 0; /* head-on */
    simulation = simulated(gpu, bodies, options);
    assert_fails(kith_simulation_run(simulation, 9), KITH_INVALID_ARGUMENT, "ias15 softening");
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_ias15"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_ias15");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_bodies_move_as_on_the_cpu, &random),
        cmocka_unit_test_prestate(test_bits_do_not_depend_on_runs_and_resumes, &random),
        cmocka_unit_test(test_energies_are_kept_to_rounding),
        cmocka_unit_test_prestate(test_the_state_within_the_last_step_is_that_of_the_cpu, &random),
        cmocka_unit_test(test_what_fails_is_said),
    };
    return cmocka_run_group_tests_name("cuda_ias15", tests, NULL, NULL);
}
