/* Test particles on the GPU: bodies of mass 0 are targets and no sources. */

#include "gpu_simulating.h"

#include "simulation/massive.h"

static void fill_masses(struct random_numbers *random, int64_t massive, kith_bodies *bodies)
{
    for (int64_t i = 0; i < bodies->count; i++)
        bodies->mass[i] = 0;
    for (int64_t left = massive; left > 0;) {
        const int64_t i = (int64_t)random_uniform(random, 0, (double)bodies->count);
        left -= bodies->mass[i] == 0;
        bodies->mass[i] = 1 / (double)massive;
    }
}

static void check_diagnostics(kith_simulation *found, kith_simulation *expected, double tolerance)
{
    kith_diagnostics a, b;
    assert_ok(kith_simulation_diagnose(found, &a));
    assert_ok(kith_simulation_diagnose(expected, &b));
    const double scale = fabs(b.potential_energy) + b.kinetic_energy;
    assert_true(fabs(a.potential_energy - b.potential_energy) <= tolerance * scale);
    assert_true(fabs(a.total_energy - b.total_energy) <= tolerance * scale);
    assert_true(fabs(a.virial_ratio - b.virial_ratio) <= tolerance * (1 + fabs(b.virial_ratio)));
}

/* A CPU has the massive bodies as its only sources, too. */
static void test_cuda_test_particles_agree_with_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0), *cpu = cpu_context(0);
    static const char *const integrators[] = {"leapfrog", "hermite4", "rk4", "ias15", "yoshida4"};
    for (int k = 0; k < 10; k++) {
        const struct simulated_case the = {.dtype = k % 3 == 1 && k % 5 != 3 ? KITH_F32 : KITH_F64,
                                           .bodies = 8193 + 77 * k,
                                           .dimensions = k % 4 ? 3 : 2,
                                           .softening = k % 2 ? of_bodies : common,
                                           .integrator = integrators[k % 5]};
        const int64_t massive = k % 2 ? 1 + k : 302; /* in vectors that are not full */
        kith_bodies *bodies = random_bodies(random, &the);
        fill_masses(random, massive, bodies);
        kith_simulation *found = begin(gpu, &the, bodies), *expected = begin(cpu, &the, bodies);
        assert_non_null(found->massive);
        assert_int_equal(found->massive->count, massive);
        const double tolerance = the.dtype == KITH_F64 ? 1e-12 : 1e-5;
        check_diagnostics(found, expected, tolerance);
        const double until = the.softening == none ? 2e-4 : 0.02;
        assert_ok(kith_simulation_run(found, until));
        assert_ok(kith_simulation_run(expected, until));
        kith_bodies *a = state_of(found, bodies), *b = state_of(expected, bodies);
        const double off = distance_of_states(a, b);
        if (!(off < tolerance))
            fail_msg("%s: off by %g", the.integrator, off);
        check_diagnostics(found, expected, 10 * tolerance);
        free_both(found, expected, a, b);
        kith_bodies_free(bodies);
    }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* Other masses, with steps that were recorded before, and the same as from a start with those. */
static void test_cuda_masses_may_come_and_go(void **state)
{
    struct random_numbers *random = *state;
    kith_context *gpu = new_gpu_context(0);
    const struct simulated_case the = {.dtype = KITH_F64,
                                       .bodies = 9000,
                                       .dimensions = 3,
                                       .softening = common,
                                       .integrator = "leapfrog"};
    static const int64_t massive[] = {30, 500, 9000, 4};
    kith_bodies *bodies = random_bodies(random, &the);
    fill_masses(random, 100, bodies);
    kith_simulation *found = begin(gpu, &the, bodies);
    assert_ok(kith_simulation_step(found, 40));
    for (int k = 0; k < 4; k++) {
        fill_masses(random, massive[k], bodies);
        assert_ok(kith_simulation_set_bodies(found, bodies));
        kith_simulation *expected = begin(gpu, &the, bodies);
        assert_true(!found->massive == (massive[k] == 9000));
        assert_ok(kith_simulation_step(found, 40));
        assert_ok(kith_simulation_step(expected, 40));
        kith_bodies *a = state_of(found, bodies), *b = state_of(expected, bodies);
        assert_memory_equal(a->position, b->position, sizeof(double) * 3 * 9000);
        assert_memory_equal(a->velocity, b->velocity, sizeof(double) * 3 * 9000);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_simulation_free(expected);
    }
    kith_simulation_free(found);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_massive"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_massive");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_test_particles_agree_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_cuda_masses_may_come_and_go, &random),
    };
    return cmocka_run_group_tests_name("cuda_massive", tests, NULL, NULL);
}
