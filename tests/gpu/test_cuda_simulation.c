/* Simulations on the GPU: against the CPU's, and that their bits are always the same. */

#include "gpu_testing.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "program.h"
#include "simulating.h"

enum softening { none, common, of_bodies, softening_count };

/* What is simulated, systems = 0 for no ensemble. */
struct simulated_case {
    kith_dtype dtype;
    int64_t bodies, systems;
    int32_t dimensions;
    enum softening softening;
    const char *integrator;
};

static kith_bodies *random_bodies(struct random_numbers *random, const struct simulated_case *the)
{
    const int64_t rows = the->bodies * (the->systems > 0 ? the->systems : 1);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(rows, the->dimensions, KITH_VELOCITY | KITH_MASS | KITH_SOFTENING,
                                 &bodies));
    for (int64_t k = 0; k < rows * the->dimensions; k++) {
        bodies->position[k] = random_uniform(random, -1, 1);
        bodies->velocity[k] = random_uniform(random, -1, 1);
    }
    for (int64_t i = 0; i < rows; i++) {
        bodies->mass[i] = random_uniform(random, 0.1, 1) / (double)the->bodies;
        bodies->softening[i] = random_uniform(random, 0.05, 0.3);
    }
    return bodies;
}

static kith_simulation *begin(kith_context *context, const struct simulated_case *the,
                              const kith_bodies *bodies)
{
    const kith_simulation_options options = {
        .dt = the->softening == none ? 1e-5 : 1e-3,
        .integrator = the->integrator,
        .softening = the->softening == common ? 0.1 : 0,
        .softening_of_bodies = the->softening == of_bodies,
        .precision = the->dtype,
    };
    kith_simulation *simulation = NULL;
    if (the->systems > 0)
        assert_ok(
            kith_simulation_create_ensemble(context, &options, the->systems, bodies, &simulation));
    else
        assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    return simulation;
}

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

/* Both contexts advance the same bodies by some steps, and one of another length. */
static void compare(kith_context *gpu, kith_context *cpu, const struct simulated_case *the,
                    const kith_bodies *bodies)
{
    kith_simulation *simulation = begin(gpu, the, bodies), *expected = begin(cpu, the, bodies);
    const double h = the->softening == none ? -3e-6 : -3e-4;
    assert_ok(kith_simulation_step(simulation, 3));
    assert_ok(kith_simulation_step_by(simulation, h));
    assert_ok(kith_simulation_step(expected, 3));
    assert_ok(kith_simulation_step_by(expected, h));
    assert_agrees(simulation, expected, bodies, the);
    kith_simulation_free(simulation);
    kith_simulation_free(expected);
}

static void compare_random(struct random_numbers *random, kith_context *gpu, kith_context *cpu,
                           struct simulated_case the)
{
    kith_bodies *bodies = random_bodies(random, &the);
    compare(gpu, cpu, &the, bodies);
    kith_bodies_free(bodies);
}

static const char *integrator_at(int64_t k)
{
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    return k < count ? list[k].name : NULL;
}

static void test_every_integrator_agrees_with_the_cpu(void **state)
{
    static const int64_t sizes[] = {2, 6, 33, 129, 1000};
    const int count = test_is_quick() ? 4 : 5;
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
                                    1025, 2050, 4099, 6143, 6144, 8192, 8193, 12345};
    const int count = test_is_quick() ? 20 : sizeof sizes / sizeof sizes[0];
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 0);
    for (int size = 0; size < count; size++)
        for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
            for (int32_t dimensions = 2; dimensions <= 3; dimensions++)
                for (enum softening softening = none; softening < softening_count; softening++)
                    compare_random(*state, gpu, cpu,
                                   (struct simulated_case){dtype, sizes[size], 0, dimensions,
                                                           softening,
                                                           size % 2 ? "leapfrog" : "ruth3"});
    kith_context_free(gpu);
    kith_context_free(cpu);
}

static void test_ensembles_agree_with_the_cpu(void **state)
{
    static const int64_t sizes[][2] = {{1, 3},     {2, 77},   {3, 1},   {6, 100}, {8, 33},
                                       {9, 70},    {33, 5},   {64, 3},  {32, 9},  {2, 9001},
                                       {6, 20000}, {7, 9000}, {8, 8600}};
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

/* Metres, kilograms and seconds; and so small a G that kernels cannot take it in. */
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
                .dt = 1e-4, .gravitational_constant = g, .softening = 0.1 * length};
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

/* One of each kind of kernel. */
static const struct simulated_case each_kind[] = {
    {KITH_F64, 6, 0, 3, common, "leapfrog"},    {KITH_F32, 31, 0, 3, common, "pefrl"},
    {KITH_F64, 100, 0, 3, common, "yoshida4"},  {KITH_F32, 1000, 0, 3, common, "leapfrog"},
    {KITH_F64, 1025, 0, 3, of_bodies, "ruth3"}, {KITH_F32, 6, 9000, 3, common, "leapfrog"},
    {KITH_F64, 6, 50, 2, common, "leapfrog"},   {KITH_F64, 33, 5, 3, common, "leapfrog-dkd"},
    {KITH_F64, 300, 0, 3, common, "rk4"},       {KITH_F64, 300, 0, 3, common, "hermite4"},
    {KITH_F64, 6, 0, 3, common, "hermite4"},    {KITH_F32, 20, 0, 3, of_bodies, "rk4"},
    {KITH_F64, 50, 0, 3, of_bodies, "rk4"},     {KITH_F64, 6, 70, 3, of_bodies, "hermite4"},
    {KITH_F64, 2000, 0, 2, of_bodies, "pefrl"}, {KITH_F32, 11000, 0, 3, common, "leapfrog"},
};
enum { kinds = sizeof each_kind / sizeof each_kind[0] };

static void test_the_bits_do_not_depend_on_how_steps_are_split(void **state)
{
    static const int64_t parts[] = {1, 0, 7, 2, 10};
    kith_context *gpu = new_gpu_context(NULL);
    for (int k = 0; k < kinds - (test_is_quick() ? 1 : 0); k++) {
        kith_bodies *bodies = random_bodies(*state, &each_kind[k]);
        kith_simulation *whole = begin(gpu, &each_kind[k], bodies);
        kith_simulation *split = begin(gpu, &each_kind[k], bodies);
        assert_ok(kith_simulation_step(whole, 20));
        for (int part = 0; part < 5; part++)
            assert_ok(kith_simulation_step(split, parts[part]));
        kith_bodies *a = state_of(whole, bodies), *b = state_of(split, bodies);
        assert_same_state(a, b);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_bodies_free(bodies);
        kith_simulation_free(whole);
        kith_simulation_free(split);
    }
    kith_context_free(gpu);
}

static void test_a_checkpoint_goes_on_bit_for_bit(void **state)
{
    kith_context *gpu = new_gpu_context(NULL), *other = new_gpu_context(NULL);
    for (int k = 0; k < kinds - (test_is_quick() ? 1 : 0); k++) {
        kith_bodies *bodies = random_bodies(*state, &each_kind[k]);
        kith_simulation *simulation = begin(gpu, &each_kind[k], bodies);
        kith_simulation *resumed = begin(other, &each_kind[k], bodies);
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_step(simulation, 9));
        assert_ok(kith_simulation_save(simulation, &checkpoint));
        assert_ok(kith_simulation_step(simulation, 9));
        assert_ok(kith_simulation_restore(resumed, &checkpoint));
        assert_ok(kith_simulation_step(resumed, 9));
        kith_bodies *a = state_of(simulation, bodies), *b = state_of(resumed, bodies);
        assert_same_state(a, b);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_bodies_free(bodies);
        kith_checkpoint_free(&checkpoint);
        kith_simulation_free(simulation);
        kith_simulation_free(resumed);
    }
    kith_context_free(gpu);
    kith_context_free(other);
}

struct worker {
    pthread_t thread;
    const struct simulated_case *the;
    const kith_bodies *start;
    kith_bodies *end;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    kith_context *gpu = new_gpu_context(NULL);
    kith_simulation *simulation = begin(gpu, worker->the, worker->start);
    assert_ok(kith_simulation_step(simulation, test_is_quick() ? 20 : 500));
    worker->end = state_of(simulation, worker->start);
    kith_simulation_free(simulation);
    kith_context_free(gpu);
    return NULL;
}

/* Also while the other one takes multiprocessors away. */
static void test_two_contexts_on_two_threads_give_the_same_bits(void **state)
{
    for (int k = 0; k < kinds - 1; k++) {
        kith_bodies *bodies = random_bodies(*state, &each_kind[k]);
        struct worker workers[2];
        for (int w = 0; w < 2; w++) {
            workers[w] = (struct worker){.the = &each_kind[k], .start = bodies};
            assert_int_equal(pthread_create(&workers[w].thread, NULL, work, &workers[w]), 0);
        }
        for (int w = 0; w < 2; w++)
            assert_int_equal(pthread_join(workers[w].thread, NULL), 0);
        assert_same_state(workers[0].end, workers[1].end);
        kith_bodies_free(workers[0].end);
        kith_bodies_free(workers[1].end);
        kith_bodies_free(bodies);
    }
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
            simulated(gpu, bodies, (kith_simulation_options){.dt = 1e-3, .softening = 0.05});
        const double before = diagnosed(simulation).total_energy;
        assert_ok(kith_simulation_step(simulation, 10000));
        assert_near(diagnosed(simulation).total_energy, before, 1e-4 * fabs(before));
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_context_free(gpu);
}

static void test_the_program_runs_on_the_gpu_as_on_the_cpu(void **state)
{
    (void)state;
    if (test_is_quick())
        skip();
    const char *const run = "run @bodies.csv --dt 1e-3 --until 1 --softening 0.1 --quiet --json";
    assert_succeeded(program_run("make plummer -n 300 --seed 5 -o @bodies.csv"));
    const struct program_result *result = program_run("%s --device cpu", run);
    assert_succeeded(result);
    const double expected = program_json_number(result->out, "energy_final");
    result = program_run("%s --device cuda", run);
    assert_succeeded(result);
    assert_near(program_json_number(result->out, "energy_final"), expected, 1e-9 * fabs(expected));
    assert_true(program_json_number(result->out, "seconds") > 0);
}

static void sleep_for(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&time, NULL);
}

/* Killed in the middle, it goes on to the bits of a run that was not. */
static void test_a_killed_run_on_the_gpu_resumes_bit_for_bit(void **state)
{
    (void)state;
    if (test_is_quick())
        skip();
    const char *const run = "run @killed.csv --device cuda --dt 1e-6 --until 4 --softening 0.1 "
                            "--every 200001 --checkpoint-every 0.05 --quiet --json";
    assert_succeeded(program_run("make plummer -n 6 --seed 5 -o @killed.csv"));
    const struct program_result *result = program_run("%s -o @whole.h5", run);
    if (result->exit_code != 0 && strstr(result->err, "HDF5"))
        skip(); /* built without */
    assert_succeeded(result);
    const double energy = program_json_number(result->out, "energy_final");
    const double error = program_json_number(result->out, "max_relative_energy_error");
    const double seconds = program_json_number(result->out, "seconds");
    for (int k = 1; k <= 3; k++) {
        const int process = program_start("%s -o @killed.h5", run);
        sleep_for(0.3 + seconds * k / 4);
        kill(process, SIGKILL);
        waitpid(process, NULL, 0);
        result = program_run("%s --resume -o @killed.h5", run);
        assert_succeeded(result);
        assert_true(program_json_number(result->out, "energy_final") == energy);
        assert_true(program_json_number(result->out, "max_relative_energy_error") == error);
    }
}

int main(void)
{
    if (gpu_is_absent("cuda_simulation"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_simulation");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_every_integrator_agrees_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_every_number_of_bodies_agrees_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_ensembles_agree_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_coincident_and_massless_bodies_leave_each_other_alone,
                                  &random),
        cmocka_unit_test_prestate(test_every_unit_agrees_with_the_cpu, &random),
        cmocka_unit_test_prestate(test_the_bits_do_not_depend_on_how_steps_are_split, &random),
        cmocka_unit_test_prestate(test_a_checkpoint_goes_on_bit_for_bit, &random),
        cmocka_unit_test_prestate(test_two_contexts_on_two_threads_give_the_same_bits, &random),
        cmocka_unit_test_prestate(test_diagnostics_of_an_ensemble_agree_with_the_cpu, &random),
        cmocka_unit_test(test_energy_is_kept_over_many_steps),
        cmocka_unit_test(test_the_program_runs_on_the_gpu_as_on_the_cpu),
        cmocka_unit_test(test_a_killed_run_on_the_gpu_resumes_bit_for_bit),
    };
    return cmocka_run_group_tests_name("cuda_simulation", tests, NULL, NULL);
}
