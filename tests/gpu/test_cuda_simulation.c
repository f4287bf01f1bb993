/* Simulations on the GPU, against the CPU's. */

#include "gpu_simulating.h"

/* ‖a − b‖ / ‖b‖ */
static double difference_of(const double *a, const double *b, int64_t count)
{
    double difference2 = 0, norm2 = 0;
    for (int64_t k = 0; k < count; k++) {
        difference2 += (a[k] - b[k]) * (a[k] - b[k]);
        norm2 += b[k] * b[k];
    }
    return difference2 == 0 ? 0 : sqrt(difference2 / norm2);
}

static void assert_agrees(kith_simulation *simulation, kith_simulation *expected,
                          const kith_bodies *like, const struct simulated_case *the)
{
    const double bound = the->dtype == KITH_F64 ? 1e-13 : 2e-6;
    const int64_t numbers = like->count * like->dimensions;
    kith_bodies *a = state_of(simulation, like), *b = state_of(expected, like);
    const double of_position = difference_of(a->position, b->position, numbers);
    const double of_velocity = difference_of(a->velocity, b->velocity, numbers);
    if (!(of_position < bound && of_velocity < 10 * bound))
        fail_msg("%s, %lld bodies × %lld systems, %dD, dtype %d, softening %d: x differs by %g, "
                 "v by %g",
                 the->integrator, (long long)the->bodies, (long long)the->systems,
                 (int)the->dimensions, (int)the->dtype, (int)the->softening, of_position,
                 of_velocity);
    assert_true(a->time == b->time);
    kith_bodies_free(a);
    kith_bodies_free(b);
}

/* Both contexts advance the same bodies by some steps dt, and one of another length. */
static void compare_steps(kith_context *gpu, kith_context *cpu, const struct simulated_case *the,
                          double dt, const kith_bodies *bodies)
{
    kith_simulation *simulation = begin_under(gpu, the, NULL, dt, bodies);
    kith_simulation *expected = begin_under(cpu, the, NULL, dt, bodies);
    assert_ok(kith_simulation_step(simulation, 3));
    assert_ok(kith_simulation_step_by(simulation, -0.3 * dt));
    assert_ok(kith_simulation_step(expected, 3));
    assert_ok(kith_simulation_step_by(expected, -0.3 * dt));
    assert_agrees(simulation, expected, bodies, the);
    kith_simulation_free(simulation);
    kith_simulation_free(expected);
}

static void compare(kith_context *gpu, kith_context *cpu, const struct simulated_case *the,
                    const kith_bodies *bodies)
{
    compare_steps(gpu, cpu, the, the->softening == none ? 1e-5 : 1e-3, bodies);
}

static void compare_random(struct random_numbers *random, kith_context *gpu, kith_context *cpu,
                           struct simulated_case the)
{
    kith_bodies *bodies = random_bodies(random, &the);
    compare(gpu, cpu, &the, bodies);
    kith_bodies_free(bodies);
}

/* Of those with a fixed step, which come first. */
static const char *integrator_at(int64_t k)
{
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    return k < count && !list[k].adaptive && !list[k].central ? list[k].name : NULL;
}

static void test_every_integrator_agrees_with_the_cpu(void **state)
{
    static const int64_t sizes[] = {6, 129, 2, 33, 1000, 3001};
    const int count = test_is_quick() ? 2 : 6;
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int64_t k = 0; integrator_at(k); k++)
        for (int size = 0; size < count; size++)
            for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
                compare_random(
                    *state, gpu, cpu,
                    (struct simulated_case){dtype, sizes[size], 0, 3, common, integrator_at(k)});
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_every_number_of_bodies_agrees_with_the_cpu(void **state)
{
    static const int64_t sizes[] = {0,    1,    2,    3,    5,    8,    9,    16,   17,   31,
                                    32,   33,   64,   100,  127,  128,  129,  200,  1023, 1024,
                                    1025, 1000, 2050, 4099, 6143, 6144, 8192, 8193, 12345};
    const int count = test_is_quick() ? 20 : sizeof sizes / sizeof sizes[0];
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int size = 0; size < count; size++)
        for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
            for (int32_t dimensions = 2; dimensions <= 3; dimensions++)
                for (enum softening softening = none; softening < softening_count; softening++) {
                    if (test_is_quick() && (int)softening != (size + dimensions) % softening_count)
                        continue;
                    compare_random(*state, gpu, cpu,
                                   (struct simulated_case){dtype, sizes[size], 0, dimensions,
                                                           softening,
                                                           size % 2 ? "leapfrog" : "ruth3"});
                }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_many_bodies_agree_with_the_cpu(void **state)
{
    const int64_t bodies = test_is_quick() ? 8193 : 65537;
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        compare_random(*state, gpu, cpu,
                       (struct simulated_case){dtype, bodies, 0, 3, common, "leapfrog"});
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* Sizes on both sides of where the block and the grid of blocks begin and end. */
static void test_hermite_of_every_number_of_bodies_agrees_with_the_cpu(void **state)
{
    static const int64_t sizes[] = {1, 17, 31, 64, 65, 127, 1023, 2, 4097, 4300, 8191, 8193};
    const int count = test_is_quick() ? 6 : sizeof sizes / sizeof sizes[0];
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int size = 0; size < count; size++)
        for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
            for (enum softening softening = common; softening < softening_count; softening++)
                compare_random(*state, gpu, cpu,
                               (struct simulated_case){dtype, sizes[size], 0, 2 + size % 2,
                                                       softening, "hermite4"});
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_ensembles_agree_with_the_cpu(void **state)
{
    static const int64_t sizes[][2] = {{1, 3},     {2, 77},    {3, 1},     {6, 100},   {8, 33},
                                       {9, 70},    {33, 5},    {64, 3},    {32, 9},    {2, 9001},
                                       {6, 20000}, {7, 9000},  {8, 8600},  {12, 5401}, {16, 5399},
                                       {24, 2701}, {31, 3001}, {47, 2700}, {63, 2701}};
    static const char *const integrators[] = {"leapfrog", "leapfrog-dkd", "yoshida4", "rk4",
                                              "hermite4"};
    const int count = test_is_quick() ? 9 : sizeof sizes / sizeof sizes[0];
    const int each = test_is_quick() ? 2 : 1;
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int size = 0; size < count; size++)
        for (int k = size % each; k < 5; k += each)
            for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
                for (enum softening softening = common; softening < softening_count; softening++)
                    compare_random(*state, gpu, cpu,
                                   (struct simulated_case){dtype, sizes[size][0], sizes[size][1],
                                                           k % 2 ? 2 : 3, softening,
                                                           integrators[k]});
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_coincident_and_massless_bodies_leave_each_other_alone(void **state)
{
    static const int64_t sizes[][2] = {{6, 0},  {20, 0}, {50, 0},   {300, 0},
                                       {6, 10}, {40, 3}, {6, 9000}, {13000, 0}};
    const int count = test_is_quick() ? 6 : sizeof sizes / sizeof sizes[0];
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int size = 0; size < count; size++)
        for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
            struct simulated_case the = {dtype, sizes[size][0], sizes[size][1],
                                         3,     common,         "leapfrog"};
            kith_bodies *bodies = random_bodies(*state, &the);
            for (int64_t k = 0; k < 3 * bodies->count; k++)
                bodies->position[k] = floor(2 * bodies->position[k] + 2) - 2; /* 64 places */
            for (int64_t i = 0; i < bodies->count; i += 3)
                bodies->mass[i] = 0;
            compare(gpu, cpu, &the, bodies);

            /* Without softening, all together at one place, which they never leave. */
            the.softening = none;
            for (int64_t k = 3; k < 3 * bodies->count; k++) {
                bodies->position[k] = bodies->position[k - 3];
                bodies->velocity[k] = bodies->velocity[k - 3];
            }
            compare(gpu, cpu, &the, bodies);
            kith_bodies_free(bodies);
        }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* Bodies without softening of which each two are at one place, and all then: those of a pair have
 * nothing to do with each other, whatever their masses. */
static void compare_pairs(struct random_numbers *random, kith_context *gpu, kith_context *cpu,
                          struct simulated_case the, double mass)
{
    const double dt = 1e-5 / sqrt(mass);
    kith_bodies *bodies = random_bodies(random, &the);
    for (int64_t i = 0; i < bodies->count; i++)
        bodies->mass[i] = i % 3 ? mass * bodies->mass[i] : 0;
    for (int64_t k = 0; k < 3 * bodies->count; k++)
        bodies->velocity[k] *= sqrt(mass);
    for (int64_t k = 0; k < 3 * bodies->count; k++) {
        bodies->position[k] = bodies->position[k / 6 * 6 + k % 3];
        bodies->velocity[k] = bodies->velocity[k / 6 * 6 + k % 3];
    }
    compare_steps(gpu, cpu, &the, dt, bodies);
    for (int64_t k = 3; k < 3 * bodies->count; k++) {
        bodies->position[k] = bodies->position[k % 3];
        bodies->velocity[k] = bodies->velocity[k % 3];
    }
    compare_steps(gpu, cpu, &the, dt, bodies);
    kith_bodies_free(bodies);
}

static void test_masses_of_any_size_at_one_place_leave_each_other_alone(void **state)
{
    static const int64_t sizes[][2] = {{6, 0},    {20, 0},   {50, 0},   {300, 0},   {2, 9001},
                                       {6, 9000}, {8, 8600}, {12, 20},  {24, 2701}, {40, 3},
                                       {64, 30},  {6, 1},    {1000, 0}, {2050, 0}};
    static const double masses[] = {1, 100, 1e6, 1e30};
    static const char *const integrators[] = {"leapfrog", "rk4", "hermite4"};
    const int count = test_is_quick() ? 12 : sizeof sizes / sizeof sizes[0];
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int size = 0; size < count; size++)
        for (int k = 0; k < 3; k++)
            for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
                for (int m = 0; m < (k == 2 && dtype == KITH_F32 ? 3 : 4); m++) /* jerks overflow */
                    compare_pairs(*state, gpu, cpu,
                                  (struct simulated_case){dtype, sizes[size][0], sizes[size][1], 3,
                                                          none, integrators[k]},
                                  masses[m]);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* Planets at one place, with a unit of time in which they go round their star very often; in these
 * coordinates they stay together. */
static void test_planets_at_one_place_leave_each_other_alone(void **state)
{
    const struct simulated_case the = {KITH_F64, 7, 3, 3, none, "whfast"};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    kith_bodies *bodies = random_bodies(*state, &the);
    for (int64_t i = 0; i < bodies->count; i++) {
        const int64_t planet = i % the.bodies, pair = (planet + 1) / 2;
        const double r = (double)pair, v = planet ? 1e15 / sqrt(r) : 0;
        bodies->mass[i] = planet ? 1e27 : 1e30;
        memcpy(bodies->position + 3 * i, (double[3]){r, 0, 0}, 3 * sizeof(double));
        memcpy(bodies->velocity + 3 * i, (double[3]){0, v, 0}, 3 * sizeof(double));
    }
    const kith_simulation_options options = {
        .dt = 1e-18, .integrator = the.integrator, .coordinates = "democratic-heliocentric"};
    kith_simulation *simulation = ensemble_of(gpu, the.systems, bodies, options);
    kith_simulation *expected = ensemble_of(cpu, the.systems, bodies, options);
    assert_ok(kith_simulation_step(simulation, 5));
    assert_ok(kith_simulation_step(expected, 5));
    assert_agrees(simulation, expected, bodies, &the);
    kith_simulation_free(simulation);
    kith_simulation_free(expected);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

/* Meters, kilograms and seconds; and a G too small for the kernels. */
static void test_every_unit_agrees_with_the_cpu(void **state)
{
    static const int64_t sizes[] = {6, 100, 500};
    static const double lengths[] = {1e13, 1e-13, 1}, constants[] = {6.67e-11, 6.67e-11, 1e-290};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int size = 0; size < 3; size++)
        for (int unit = 0; unit < 3; unit++) {
            const struct simulated_case the = {KITH_F64, sizes[size], 0, 3, none, "leapfrog"};
            kith_bodies *bodies = random_bodies(*state, &the);
            const double length = lengths[unit], g = constants[unit];
            const double mass = unit < 2 ? length * length * length / g : 1;
            for (int64_t k = 0; k < 3 * bodies->count; k++) {
                bodies->position[k] *= length;
                bodies->velocity[k] *= length;
            }
            for (int64_t i = 0; i < bodies->count; i++)
                bodies->mass[i] *= mass;
            const kith_simulation_options options = {
                .dt = 1e-4, .forces.gravitational_constant = g, .forces.softening = 0.1 * length};
            kith_simulation *simulation = simulated(gpu, bodies, options);
            kith_simulation *expected = simulated(cpu, bodies, options);
            assert_ok(kith_simulation_step(simulation, 5));
            assert_ok(kith_simulation_step(expected, 5));
            assert_agrees(simulation, expected, bodies, &the);
            kith_simulation_free(simulation);
            kith_simulation_free(expected);
            kith_bodies_free(bodies);
        }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_diagnostics_of_an_ensemble_agree_with_the_cpu(void **state)
{
    enum { systems = 40 };
    const struct simulated_case the = {KITH_F64, 6, systems, 3, of_bodies, "leapfrog"};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    kith_bodies *bodies = random_bodies(*state, &the);
    kith_simulation *simulation = begin(gpu, &the, bodies), *expected = begin(cpu, &the, bodies);
    kith_diagnostics a[systems], b[systems];
    assert_ok(kith_simulation_diagnose_systems(simulation, 0, systems, a));
    assert_ok(kith_simulation_diagnose_systems(expected, 0, systems, b));
    for (int s = 0; s < systems; s++) {
        assert_near(a[s].potential_energy, b[s].potential_energy,
                    1e-13 * fabs(b[s].potential_energy));
        assert_near(a[s].virial_ratio, b[s].virial_ratio, 1e-12 * fabs(b[s].virial_ratio));
    }
    kith_simulation_free(simulation);
    kith_simulation_free(expected);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_energy_is_kept_over_many_steps(void **state)
{
    (void)state;
    const int64_t sizes[] = {6, 100, 1000};
    kith_context *gpu = new_gpu_context(NULL);
    for (int size = 0; size < (test_is_quick() ? 1 : 3); size++) {
        kith_bodies *bodies = made("plummer", (kith_initial_options){.count = sizes[size]});
        kith_simulation *simulation =
            simulated(gpu, bodies, (kith_simulation_options){.dt = 1e-3, .forces.softening = 0.05});
        const double before = diagnosed(simulation).total_energy;
        assert_ok(kith_simulation_step(simulation, 10000));
        assert_near(diagnosed(simulation).total_energy, before, 1e-4 * fabs(before));
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(gpu);
}

static void test_masses_of_any_size_move_bodies_without_softening(void **state)
{
    static const char *const integrators[] = {"leapfrog", "rk4", "hermite4"};
    static const int64_t numbers[] = {2, 6, 40, 300, 3000};
    (void)state;
    kith_context *gpu = new_gpu_context(0);
    for (size_t k = 0; k < 3; k++)
        for (size_t n = 0; n < (test_is_quick() ? 4 : 5); n++) {
            assert_masses_scale(gpu, KITH_F32, integrators[k], numbers[n]);
            assert_masses_scale(gpu, KITH_F64, integrators[k], numbers[n]);
        }
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_simulation"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_simulation");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_every_integrator_agrees_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_every_number_of_bodies_agrees_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_many_bodies_agree_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_hermite_of_every_number_of_bodies_agrees_with_the_cpu,
                                  &random),
        cmocka_unit_test_prestate(test_ensembles_agree_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_coincident_and_massless_bodies_leave_each_other_alone,
                                  &random),
        cmocka_unit_test_prestate(test_masses_of_any_size_at_one_place_leave_each_other_alone,
                                  &random),
        cmocka_unit_test_prestate(test_planets_at_one_place_leave_each_other_alone, &random),
        cmocka_unit_test_prestate(test_every_unit_agrees_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_diagnostics_of_an_ensemble_agree_with_the_cpu, &random),
        cmocka_unit_test(test_energy_is_kept_over_many_steps),
        cmocka_unit_test(test_masses_of_any_size_move_bodies_without_softening),
    };
    return cmocka_run_group_tests_name("cuda_simulation", tests, NULL, NULL);
}
