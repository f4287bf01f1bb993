/* Ensembles of ias15 on the GPU, each system with steps of its own, against the CPU's. */

#include "fields.h"
#include "gpu_simulating.h"

static kith_simulation_options options_of(int k)
{
    return (kith_simulation_options){.dt = 0.01,
                                     .integrator = "ias15",
                                     .forces.softening = k % 3 ? 0.25 : 0,
                                     .softening_of_bodies = k % 3 == 0};
}

static void run_in_pieces(kith_simulation *simulation)
{
    assert_ok(kith_simulation_run(simulation, 0.7));
    assert_ok(kith_simulation_step_by(simulation, 0.6));
    assert_ok(kith_simulation_step_by(simulation, -0.2));
    assert_ok(kith_simulation_run(simulation, 2));
}

/* Both are good to rounding. */
static void test_ensembles_agree_with_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0), *cpu = cpu_context(0);
    double largest = 0;
    for (int k = 0; k < (test_is_quick() ? 4 : 14); k++) {
        const int64_t count = k < 11 ? k + 1 : 16 * (k - 10) + (k == 13 ? 16 : 1);
        const int64_t systems = 1 + 2 * (int64_t)random_uniform(random, 0, 30);
        kith_bodies *bodies = slow_bodies(random, systems, count, k % 2 ? 2 : 3, 0.1, 0.2);
        kith_simulation *found = ensemble_of(gpu, systems, bodies, options_of(k));
        kith_simulation *expected = ensemble_of(cpu, systems, bodies, options_of(k));
        run_in_pieces(found);
        run_in_pieces(expected);
        kith_bodies *a = state_of(found, bodies), *b = state_of(expected, bodies);
        const double off = distance_of_states(a, b);
        largest = worse_of(largest, off);
        if (!(off < 1e-12))
            fail_msg("%lld systems of %lld bodies: off by %g", (long long)systems, (long long)count,
                     off);
        assert_true(kith_simulation_time(found) == 2);
        free_both(found, expected, a, b);
        kith_bodies_free(bodies);
    }
    print_message("largest difference %.2g\n", largest);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_systems_have_the_bits_that_they_have_alone(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    for (int k = 0; k < (test_is_quick() ? 3 : 12); k++) {
        const int64_t systems = 9, count = k < 10 ? 1 + k : 20 * (k - 8);
        kith_bodies *all = slow_bodies(random, systems, count, 3, 0.1, 0.2);
        kith_simulation *together = ensemble_of(gpu, systems, all, options_of(k));
        run_in_pieces(together);
        kith_bodies *ends = state_of(together, all);
        for (int64_t s = 0; s < systems; s++) {
            const kith_bodies one = kith_ensemble_system(all, systems, s);
            const kith_bodies end = kith_ensemble_system(ends, systems, s);
            kith_simulation *alone = ensemble_of(gpu, 1, &one, options_of(k));
            run_in_pieces(alone);
            kith_bodies *expected = state_of(alone, &one);
            assert_same_state(expected, &end);
            kith_bodies_free(expected);
            kith_simulation_free(alone);
        }
        kith_bodies_free(ends);
        kith_simulation_free(together);
        kith_bodies_free(all);
    }
    kith_context_free(gpu);
}

static void test_a_restored_ensemble_goes_on_bit_for_bit(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    const int64_t systems = 21, count = 6;
    kith_bodies *bodies = slow_bodies(random, systems, count, 3, 0.1, 0.2);
    kith_simulation *first = ensemble_of(gpu, systems, bodies, options_of(0));
    kith_simulation *second = ensemble_of(gpu, systems, bodies, options_of(0));
    kith_checkpoint checkpoint = {0};
    assert_ok(kith_simulation_run(first, 1));
    assert_ok(kith_simulation_run(second, 0.3));
    assert_ok(kith_simulation_save(first, &checkpoint));
    assert_ok(kith_simulation_restore(second, &checkpoint));
    assert_ok(kith_simulation_run(first, 2));
    assert_ok(kith_simulation_run(second, 2));
    kith_bodies *a = state_of(first, bodies), *b = state_of(second, bodies);
    assert_same_state(a, b);
    /* Bodies filled in again forget the past. */
    kith_simulation *third = ensemble_of(gpu, systems, bodies, options_of(0));
    assert_ok(kith_simulation_set_bodies(first, bodies));
    assert_ok(kith_simulation_run(first, 1));
    assert_ok(kith_simulation_run(third, 1));
    assert_ok(kith_simulation_get_bodies(first, a));
    assert_ok(kith_simulation_get_bodies(third, b));
    assert_same_state(a, b);
    kith_checkpoint_free(&checkpoint);
    kith_bodies_free(a);
    kith_bodies_free(b);
    kith_simulation_free(first);
    kith_simulation_free(second);
    kith_simulation_free(third);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

static void test_each_system_keeps_its_energy(void **state)
{
    (void)state;
    static const double eccentricities[] = {0, 0.5, 0.9, 0.99, 0.3};
    enum { systems = 5 };
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *each[systems], *bodies = NULL;
    for (int s = 0; s < systems; s++)
        each[s] = made("two-body", (kith_initial_options){.eccentricity = eccentricities[s]});
    assert_ok(kith_ensemble_join(systems, (const kith_bodies *const *)each, &bodies));
    kith_simulation *simulation = ensemble_of(
        gpu, systems, bodies, (kith_simulation_options){.dt = 0.01, .integrator = "ias15"});
    kith_diagnostics start[systems], end[systems];
    assert_ok(kith_simulation_diagnose_systems(simulation, 0, systems, start));
    assert_ok(kith_simulation_run(simulation, test_is_quick() ? pi : 20 * pi));
    assert_ok(kith_simulation_diagnose_systems(simulation, 0, systems, end));
    for (int s = 0; s < systems; s++) {
        const double off = fabs(end[s].total_energy / start[s].total_energy - 1);
        if (!(off < 1e-13))
            fail_msg("e = %g: energy off by %g", eccentricities[s], off);
        kith_bodies_free(each[s]);
    }
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

static void assert_failed(kith_status status, kith_status expected, const char *fields)
{
    assert_int_equal(status, expected);
    if (!has_fields(kith_error_message(), fields))
        fail_msg("'%s' has not '%s'", kith_error_message(), fields);
}

static void test_what_ensembles_cannot_do_is_said(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    kith_bodies *bodies = slow_bodies(random, 5, 2, 3, 0.1, 0.2);
    kith_simulation_options options = {.dt = 0.01, .integrator = "ias15"};
    kith_simulation *simulation = NULL;
    options.precision = KITH_F32;
    assert_failed(kith_simulation_create_ensemble(gpu, &options, 5, bodies, &simulation),
                  KITH_UNSUPPORTED, "system 0 ias15 double");
    options.precision = KITH_F64;
    for (int c = 0; c < 3; c++) { /* system 3 falls head-on */
        bodies->position[18 + c] = c == 0;
        bodies->position[21 + c] = -(c == 0);
        bodies->velocity[18 + c] = bodies->velocity[21 + c] = 0;
    }
    bodies->mass[6] = bodies->mass[7] = 1;
    simulation = ensemble_of(gpu, 5, bodies, options);
    assert_failed(kith_simulation_run(simulation, 9), KITH_INVALID_ARGUMENT, "system 3 ias15");
    kith_bodies *now = state_of(simulation, bodies);
    assert_same_state(now, bodies);
    kith_bodies_free(now);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_ensembles_ias15"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_ensembles_ias15");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_ensembles_agree_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_systems_have_the_bits_that_they_have_alone, &random),
        cmocka_unit_test_prestate(test_a_restored_ensemble_goes_on_bit_for_bit, &random),
        cmocka_unit_test(test_each_system_keeps_its_energy),
        cmocka_unit_test_prestate(test_what_ensembles_cannot_do_is_said, &random),
    };
    return cmocka_run_group_tests_name("cuda_ensembles_ias15", tests, NULL, NULL);
}
