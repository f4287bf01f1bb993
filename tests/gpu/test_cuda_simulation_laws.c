/* Simulations and ensembles under laws on the GPU against those on the CPU. */

#include "gpu_simulating.h"

#include "law_forces.h"
#include "simulation/state.h"

/* Bodies that keep their distance, with charges. */
static kith_bodies *spread_bodies(struct random_numbers *random, int64_t systems, int64_t n,
                                  int32_t dimensions)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(systems * n, dimensions,
                                 KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING,
                                 &bodies));
    for (int64_t row = 0; row < bodies->count; row++) {
        place_apart(random, row % n, n, dimensions, bodies->position + row * dimensions);
        for (int64_t c = 0; c < dimensions; c++)
            bodies->velocity[row * dimensions + c] = random_uniform(random, -0.1, 0.1);
        bodies->mass[row] = random_uniform(random, 0.5, 1);
        bodies->charge[row] = random_uniform(random, -1, 1);
        bodies->softening[row] = random_uniform(random, 0.1, 0.3);
    }
    return bodies;
}

/* Every array of the state, forces and jerks too, in the norm; but for what did not fit into sums,
 * which the CPU alone keeps. */
static void assert_near_saved(const struct simulated_case *the, const kith_law *law,
                              const kith_checkpoint *found, const kith_checkpoint *expected)
{
    const int64_t real = kith_dtype_bytes(the->dtype);
    const int64_t numbers = expected->bytes / real / expected->arrays;
    assert_int_equal(found->bytes, expected->bytes);
    for (int64_t k = 0; k < expected->arrays; k++) {
        if (k == LOST_POSITION || k == LOST_VELOCITY)
            continue;
        const kith_array a =
            kith_array_vector((char *)found->state + k * numbers * real, the->dtype, numbers);
        const kith_array b =
            kith_array_vector((char *)expected->state + k * numbers * real, the->dtype, numbers);
        const double off = relative_difference(a, b);
        const double bound = (the->dtype == KITH_F64 ? 1e-12 : 1e-4) * (k == JERK ? 10 : 1);
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
    /* So short that no pair of a steep law flies apart: the more bodies, the closer they are. */
    const double dt = the->bodies > 100 ? 1e-8 : 1e-6;
    kith_simulation *simulations[3];
    kith_checkpoint saved[3] = {0};
    for (int steps = 0; steps <= 6; steps += 6)
        for (int k = 0; k < 3; k++) {
            if (steps == 0)
                simulations[k] = begin_under(contexts[k], the, law, dt, bodies);
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
    for (int k = 0; k < force_law_count; k += test_is_quick() ? 4 : 1) {
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

/* Whole steps in registers: all places of a warp, some of them left over. */
static void test_cuda_small_systems_under_laws_go_as_on_the_cpu(void **state)
{
    static const int64_t bodies[] = {1, 2, 3, 5, 6, 7, 8, 13, 16, 21, 31, 32, 33, 63, 64};
    static const int64_t systems[] = {0, 1, 37};
    static const char *const integrators[] = {"leapfrog", "yoshida4", "pefrl", "leapfrog-dkd"};
    enum { sizes = sizeof bodies / sizeof bodies[0] };
    for (int k = 0; k < 3 * sizes; k++) {
        kith_law *law = new_law(force_laws[k % force_law_count]);
        const struct simulated_case the = {k % 2 ? KITH_F32 : KITH_F64,
                                           bodies[k % sizes],
                                           systems[k / sizes],
                                           random_uniform(*state, 0, 1) < 0.3 ? 2 : 3,
                                           (enum softening)(k / 2 % softening_count),
                                           integrators[k % 4]};
        compare_with_cpu(*state, &the, law);
        kith_law_free(law);
    }
}

/* What a body would do to itself is out of range then, and must not be added even times 0. */
static void test_cuda_a_tiny_softening_does_no_harm(void **state)
{
    (void)state;
    static const char *const laws[] = {"lennard-jones", "power:12", "coulomb", "yukawa:0.7"};
    for (int k = 0; k < 16; k++) {
        const kith_dtype dtype = k % 2 ? KITH_F32 : KITH_F64;
        const struct simulated_case the = {dtype, 1 + k / 2 % 2, 0, 3, of_bodies, "leapfrog"};
        kith_law *law = new_law(laws[k / 4]);
        kith_context *contexts[] = {new_context(NULL, 1), new_gpu_context(NULL)};
        kith_bodies *bodies = NULL;
        kith_simulation *simulations[2];
        kith_checkpoint saved[2] = {0};
        assert_ok(kith_bodies_create(
            the.bodies, 3, KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING, &bodies));
        for (int64_t i = 0; i < the.bodies; i++) {
            bodies->position[3 * i] = 1.25 * (double)i;
            bodies->mass[i] = bodies->charge[i] = 1;
            bodies->softening[i] = dtype == KITH_F64 ? 1e-24 : k < 8 ? 1e-3 : 1e-14;
        }
        for (int c = 0; c < 2; c++) {
            simulations[c] = begin_under(contexts[c], &the, law, 1e-3, bodies);
            assert_ok(kith_simulation_step(simulations[c], 100));
            assert_ok(kith_simulation_save(simulations[c], &saved[c]));
        }
        assert_near_saved(&the, law, &saved[1], &saved[0]);
        for (int c = 0; c < 2; c++) {
            kith_checkpoint_free(&saved[c]);
            kith_simulation_free(simulations[c]);
            kith_context_free(contexts[c]);
        }
        kith_bodies_free(bodies);
        kith_law_free(law);
    }
}

static void test_cuda_small_systems_under_a_formula_go_as_under_its_law(void **state)
{
    kith_law *const laws[] = {new_law("yukawa:0.7"), new_law("expr:q_i*q_j*exp(-r/0.7)/r")};
    for (int k = 0; k < 6; k++) {
        const struct simulated_case the = {
            k % 2 ? KITH_F32 : KITH_F64, 3 + 7 * k, k < 3 ? 45 : 0, 3,
            k < 4 ? common : of_bodies,  "yoshida4"};
        kith_context *context = new_gpu_context(NULL);
        kith_bodies *bodies = spread_bodies(*state, k < 3 ? 45 : 1, the.bodies, 3);
        kith_checkpoint saved[2] = {0};
        for (int l = 0; l < 2; l++) {
            kith_simulation *simulation = begin_under(context, &the, laws[l], 1e-5, bodies);
            assert_ok(kith_simulation_step(simulation, 20));
            assert_ok(kith_simulation_save(simulation, &saved[l]));
            kith_simulation_free(simulation);
        }
        assert_near_saved(&the, laws[1], &saved[1], &saved[0]);
        for (int l = 0; l < 2; l++)
            kith_checkpoint_free(&saved[l]);
        kith_bodies_free(bodies);
        kith_context_free(context);
    }
    kith_law_free(laws[0]);
    kith_law_free(laws[1]);
}

/* 40 steps, after 20 of them with another range of the law; in pieces each of them by a simulation
 * of its own, which has no time to record a step. */
static void go_forty_steps(const struct simulated_case *the, const kith_bodies *bodies,
                           int64_t piece, kith_checkpoint *saved)
{
    kith_context *context = new_gpu_context(NULL);
    kith_law *law = new_law("yukawa:0.7");
    kith_simulation *simulation = begin_under(context, the, law, 1e-4, bodies);
    for (int64_t steps = 0; steps < 40; steps += piece) {
        if (steps == 20)
            assert_ok(kith_law_set(law, "L", 0.4));
        if (piece < 20) {
            assert_ok(kith_simulation_save(simulation, saved));
            kith_simulation_free(simulation);
            simulation = begin_under(context, the, law, 1e-4, bodies);
            assert_ok(kith_simulation_restore(simulation, saved));
        }
        assert_ok(kith_simulation_step(simulation, piece));
    }
    assert_ok(kith_simulation_save(simulation, saved));
    kith_simulation_free(simulation);
    kith_law_free(law);
    kith_context_free(context);
}

/* Recorded steps are those that are started kernel by kernel, and they notice what changes. */
static void test_cuda_steps_under_laws_are_the_same_however_they_are_split(void **state)
{
    static const struct simulated_case cases[] = {
        {KITH_F64, 7, 0, 3, common, "leapfrog"},   {KITH_F32, 6, 70, 3, none, "yoshida4"},
        {KITH_F32, 100, 0, 3, common, "leapfrog"}, {KITH_F64, 100, 0, 2, of_bodies, "rk4"},
        {KITH_F32, 100, 0, 3, common, "hermite4"}, {KITH_F64, 9, 70, 3, common, "hermite4"},
        {KITH_F32, 9, 70, 2, of_bodies, "rk4"},    {KITH_F64, 1000, 0, 3, common, "leapfrog"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const int64_t systems = cases[k].systems > 0 ? cases[k].systems : 1;
        kith_bodies *bodies = spread_bodies(*state, systems, cases[k].bodies, cases[k].dimensions);
        kith_checkpoint whole = {0}, pieces = {0};
        go_forty_steps(&cases[k], bodies, 20, &whole);
        go_forty_steps(&cases[k], bodies, 5, &pieces);
        assert_int_equal(whole.steps, pieces.steps);
        assert_int_equal(whole.evaluations, pieces.evaluations);
        assert_int_equal(whole.bytes, pieces.bytes);
        assert_memory_equal(whole.state, pieces.state, (size_t)whole.bytes);
        kith_checkpoint_free(&whole);
        kith_checkpoint_free(&pieces);
        kith_bodies_free(bodies);
    }
}

int main(void)
{
    if (gpu_is_absent("test_cuda_simulation_laws"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("simulation_laws");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_simulations_under_every_law_go_as_on_the_cpu, &random),
        cmocka_unit_test_prestate(test_cuda_jerks_of_many_bodies_go_as_on_the_cpu, &random),
        cmocka_unit_test_prestate(test_cuda_small_systems_under_laws_go_as_on_the_cpu, &random),
        cmocka_unit_test(test_cuda_a_tiny_softening_does_no_harm),
        cmocka_unit_test_prestate(test_cuda_small_systems_under_a_formula_go_as_under_its_law,
                                  &random),
        cmocka_unit_test_prestate(test_cuda_steps_under_laws_are_the_same_however_they_are_split,
                                  &random),
    };
    return cmocka_run_group_tests_name("cuda_simulation_laws", tests, NULL, NULL);
}
