/* Simulations and ensembles under laws on the GPU against those on the CPU. */

#include "gpu_simulating.h"

#include "law_forces.h"

/* Bodies that keep their distance, with charges. */
static kith_bodies *spread_bodies(struct random_numbers *random, int64_t systems, int64_t n,
                                  int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(systems * n, dimensions,
                                 KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING,
                                 &bodies));
    const int64_t side = (int64_t)ceil(pow((double)n, 1.0 / dimensions));
    for (int64_t row = 0; row < bodies->count; row++) {
        int64_t cell = row % n;
        for (int64_t c = 0; c < dimensions; c++, cell /= side) {
            const double place = (double)(cell % side) + random_uniform(random, 0.2, 0.8);
            bodies->position[row * dimensions + c] = 2 * place / (double)side - 1;
            bodies->velocity[row * dimensions + c] = random_uniform(random, -0.1, 0.1);
        }
        bodies->mass[row] = random_uniform(random, 0.5, 1);
        bodies->charge[row] = random_uniform(random, -1, 1);
        bodies->softening[row] = random_uniform(random, 0.1, 0.3);
    }
    return bodies;
}

static kith_simulation *simulate(kith_context *context, const struct simulated_case *the,
                                 const kith_law *law, const kith_bodies *bodies)
{
    /* So short a step that no pair of a steep law flies apart. */
    const kith_simulation_options options = {.dt = 1e-6,
                                             .integrator = the->integrator,
                                             .softening = the->softening == common ? 0.2 : 0,
                                             .softening_of_bodies = the->softening == of_bodies,
                                             .precision = the->dtype,
                                             .law = law};
    kith_simulation *simulation = NULL;
    if (the->systems > 0)
        assert_ok(
            kith_simulation_create_ensemble(context, &options, the->systems, bodies, &simulation));
    else
        assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    return simulation;
}

/* Every array of the state, forces and jerks too, in the norm. */
static void assert_near_saved(const struct simulated_case *the, const kith_law *law,
                              const kith_checkpoint *found, const kith_checkpoint *expected)
{
    const int64_t real = kith_dtype_bytes(the->dtype);
    const int64_t numbers = expected->bytes / real / expected->arrays;
    assert_int_equal(found->bytes, expected->bytes);
    for (int64_t k = 0; k < expected->arrays; k++) {
        const kith_array a =
            kith_array_vector((char *)found->state + k * numbers * real, the->dtype, numbers);
        const kith_array b =
            kith_array_vector((char *)expected->state + k * numbers * real, the->dtype, numbers);
        const double off = relative_difference(a, b);
        const double bound = (the->dtype == KITH_F64 ? 1e-12 : 1e-4) * (k == 3 ? 10 : 1);
        if (!(off < bound))
            fail_msg("%s, %s, %lld bodies, %lld systems, %dD, %s: array %lld is off by %g",
                     kith_law_text(law), the->integrator, (long long)the->bodies,
                     (long long)the->systems, (int)the->dimensions,
                     the->dtype == KITH_F64 ? "double" : "float", (long long)k, off);
    }
}

/* On both, at the start and after some steps; twice on the GPU, with the same bits. */
static void compare_with_cpu(struct random_numbers *random, const struct simulated_case *the,
                             const kith_law *law)
{
    kith_context *contexts[] = {new_context(NULL, 1), new_gpu_context(NULL), new_gpu_context(NULL)};
    kith_bodies *bodies =
        spread_bodies(random, the->systems > 0 ? the->systems : 1, the->bodies, the->dimensions);
    kith_simulation *simulations[3];
    kith_checkpoint saved[3] = {0};
    for (int steps = 0; steps <= 6; steps += 6)
        for (int k = 0; k < 3; k++) {
            if (steps == 0)
                simulations[k] = simulate(contexts[k], the, law, bodies);
            assert_ok(kith_simulation_step(simulations[k], steps));
            assert_ok(kith_simulation_save(simulations[k], &saved[k]));
            if (k > 0)
                assert_near_saved(the, law, &saved[k], &saved[0]);
        }
    assert_memory_equal(saved[1].state, saved[2].state, (size_t)saved[1].bytes);
    const kith_diagnostics expected = diagnosed(simulations[0]), found = diagnosed(simulations[1]);
    const double scale = fabs(expected.potential_energy) + expected.kinetic_energy;
    const double bound = the->dtype == KITH_F64 ? 1e-11 : 1e-4;
    assert_near(found.total_energy, expected.total_energy, bound * scale);
    for (int k = 0; k < 3; k++) {
        kith_checkpoint_free(&saved[k]);
        kith_simulation_free(simulations[k]);
        kith_context_free(contexts[k]);
    }
    kith_bodies_free(bodies);
}

static void test_cuda_simulations_under_every_law_go_as_on_the_cpu(void **state)
{
    static const char *const integrators[] = {"hermite4", "leapfrog", "rk4"};
    for (int k = 0; k < force_law_count; k++) {
        kith_law *law = new_law(force_laws[k]);
        for (int n = 0; n < (test_is_quick() ? 2 : 6); n++) {
            const kith_dtype dtype = n % 2 ? KITH_F32 : KITH_F64;
            const enum softening softening =
                (enum softening)(int)random_uniform(*state, 0, softening_count);
            const int32_t dimensions = random_uniform(*state, 0, 1) < 0.5 ? 2 : 3;
            const struct simulated_case one = {dtype,      n < 2 ? 300 : 33, 0,
                                               dimensions, softening,        integrators[n / 2]};
            const struct simulated_case many = {dtype,      n < 2 ? 3 : 9, n < 2 ? 150 : 70,
                                                dimensions, softening,     integrators[n / 2]};
            compare_with_cpu(*state, &one, law);
            compare_with_cpu(*state, &many, law);
        }
        kith_law_free(law);
    }
}

/* More sources than a block shares, dealt to several, and more bodies than a system has. */
static void test_cuda_jerks_of_many_bodies_go_as_on_the_cpu(void **state)
{
    kith_law *law = new_law("yukawa:0.7");
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        const struct simulated_case one = {dtype,     test_is_quick() ? 500 : 3001, 0, 3, common,
                                           "hermite4"};
        const struct simulated_case many = {dtype, 64, 33, 3, of_bodies, "hermite4"};
        compare_with_cpu(*state, &one, law);
        compare_with_cpu(*state, &many, law);
    }
    kith_law_free(law);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_simulation_laws"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("simulation_laws");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_simulations_under_every_law_go_as_on_the_cpu, &random),
        cmocka_unit_test_prestate(test_cuda_jerks_of_many_bodies_go_as_on_the_cpu, &random),
    };
    return cmocka_run_group_tests_name("cuda_simulation_laws", tests, NULL, NULL);
}
