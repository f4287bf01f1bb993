/* Simulations on the GPU: their bits are always the same, whatever else happens. */

#include "gpu_simulating.h"

#include <pthread.h>

/* One of each kind of kernel. */
static const struct simulated_case each_kind[] = {
    {KITH_F64, 6, 0, 3, common, "leapfrog"},       {KITH_F32, 31, 0, 3, common, "pefrl"},
    {KITH_F64, 100, 0, 3, common, "yoshida4"},     {KITH_F32, 1000, 0, 3, common, "leapfrog"},
    {KITH_F64, 1025, 0, 3, of_bodies, "ruth3"},    {KITH_F32, 6, 9000, 3, common, "leapfrog"},
    {KITH_F64, 6, 50, 2, common, "leapfrog"},      {KITH_F64, 33, 5, 3, common, "leapfrog-dkd"},
    {KITH_F64, 300, 0, 3, common, "rk4"},          {KITH_F64, 300, 0, 3, common, "hermite4"},
    {KITH_F64, 6, 0, 3, common, "hermite4"},       {KITH_F32, 20, 0, 3, of_bodies, "rk4"},
    {KITH_F64, 50, 0, 3, of_bodies, "rk4"},        {KITH_F64, 6, 70, 3, of_bodies, "hermite4"},
    {KITH_F64, 2000, 0, 2, of_bodies, "pefrl"},    {KITH_F64, 50, 0, 2, common, "hermite4"},
    {KITH_F32, 900, 0, 3, of_bodies, "hermite4"},  {KITH_F32, 20, 3000, 3, common, "leapfrog"},
    {KITH_F64, 9, 3000, 3, of_bodies, "hermite4"}, {KITH_F32, 11000, 0, 3, common, "leapfrog"},
};
enum { kinds = sizeof each_kind / sizeof each_kind[0] };

/* For the sanitizers: one system of a thousand bodies in the first test, every other small one
 * after that. */
static bool is_left_out(int k, bool first_test)
{
    if (!test_is_quick())
        return false;
    return each_kind[k].bodies > 300 ? !first_test || each_kind[k].bodies != 1000
                                     : !first_test && k % 2 == 1;
}

static void test_the_bits_do_not_depend_on_how_steps_are_split(void **state)
{
    static const int64_t parts[] = {1, 0, 2, 7, 10};
    const int count = test_is_quick() ? 3 : 5;
    const int64_t all = test_is_quick() ? 3 : 20;
    kith_context *gpu = new_gpu_context(NULL);
    for (int k = 0; k < kinds; k++) {
        if (is_left_out(k, true))
            continue;
        kith_bodies *bodies = random_bodies(*state, &each_kind[k]);
        kith_simulation *whole = begin(gpu, &each_kind[k], bodies);
        kith_simulation *split = begin(gpu, &each_kind[k], bodies);
        assert_ok(kith_simulation_step(whole, all));
        for (int part = 0; part < count; part++)
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
    const int64_t steps = test_is_quick() ? 2 : 9;
    kith_context *gpu = new_gpu_context(NULL), *other = new_gpu_context(NULL);
    for (int k = 0; k < kinds; k++) {
        if (is_left_out(k, false))
            continue;
        kith_bodies *bodies = random_bodies(*state, &each_kind[k]);
        kith_simulation *simulation = begin(gpu, &each_kind[k], bodies);
        kith_simulation *resumed = begin(other, &each_kind[k], bodies);
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_step(simulation, steps));
        assert_ok(kith_simulation_save(simulation, &checkpoint));
        assert_ok(kith_simulation_step(simulation, steps));
        assert_ok(kith_simulation_restore(resumed, &checkpoint));
        assert_ok(kith_simulation_step(resumed, steps));
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
    assert_ok(kith_simulation_step(simulation, test_is_quick() ? 2 : 500));
    worker->end = state_of(simulation, worker->start);
    kith_simulation_free(simulation);
    kith_context_free(gpu);
    return NULL;
}

/* Also while the other one takes multiprocessors away. */
static void test_two_contexts_on_two_threads_give_the_same_bits(void **state)
{
    for (int k = 0; k < kinds - 1; k++) {
        if (is_left_out(k, false))
            continue;
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

/* As much of the device's memory as is to be had, but for a little. */
static void *take_most_memory(size_t but)
{
    size_t available = 0, total = 0;
    void *memory = NULL;
    assert_cuda(cudaMemGetInfo(&available, &total));
    for (size_t bytes = available - but; !memory && bytes > but; bytes -= but / 4)
        if (cudaMalloc(&memory, bytes) != cudaSuccess)
            cudaGetLastError();
    assert_non_null(memory);
    return memory;
}

static void test_bodies_that_do_not_fit_are_refused_and_the_context_goes_on(void **state)
{
    if (test_is_quick()) /* others may need the memory; test_cuda_faults refuses it by itself */
        skip();
    const struct simulated_case the = {KITH_F64, 2000000, 0, 3, common, "leapfrog-dkd"};
    const kith_simulation_options options = {.dt = 1e-3, .integrator = the.integrator};
    kith_context *gpu = new_gpu_context(NULL);
    kith_bodies *bodies = random_bodies(*state, &the);
    kith_simulation *simulation = NULL;
    void *memory = take_most_memory((size_t)64 << 20);
    assert_fails(kith_simulation_create(gpu, &options, bodies, &simulation), KITH_OUT_OF_MEMORY,
                 "bytes 48000000 cuda:0");
    assert_null(simulation);
    assert_cuda(cudaFree(memory));
    assert_ok(kith_simulation_create(gpu, &options, bodies, &simulation));
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(gpu);
}

int main(void)
{
    if (gpu_is_absent("cuda_bits"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_bits");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_the_bits_do_not_depend_on_how_steps_are_split, &random),
        cmocka_unit_test_prestate(test_a_checkpoint_goes_on_bit_for_bit, &random),
        cmocka_unit_test_prestate(test_two_contexts_on_two_threads_give_the_same_bits, &random),
        cmocka_unit_test_prestate(test_bodies_that_do_not_fit_are_refused_and_the_context_goes_on,
                                  &random),
    };
    return cmocka_run_group_tests_name("cuda_bits", tests, NULL, NULL);
}
