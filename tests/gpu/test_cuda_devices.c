/* Several GPUs of one machine: each computes the same, alone and concurrently with the others. With
 * one GPU there is nothing to test. */

#include "gpu_simulating.h"

#include <pthread.h>

#include "device/context.h"

enum { most_devices = 8, body_count = 3001 };

static int device_count(void)
{
    int devices = 0;
    assert_cuda(cudaGetDeviceCount(&devices));
    return devices < most_devices ? devices : most_devices;
}

static kith_context *context_on(int32_t device)
{
    const kith_context_options options = {.device = {KITH_CUDA, device}};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    assert_int_equal(kith_context_device(context).index, device);
    return context;
}

/* The system with its arrays in a device's memory. */
static struct system on_device(const struct system *s, int device)
{
    assert_cuda(cudaSetDevice(device));
    struct system there = gpu_system(s, true);
    kith_array *const arrays[] = {&there.x, &there.m, &there.softening, &there.a, &there.phi};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        arrays[k]->device.index = device;
    return there;
}

static void test_cuda_devices_give_the_same_forces(void **state)
{
    struct system s = system_random(*state, KITH_F32, body_count, 3), first = system_copy(&s);
    for (int device = 0; device < device_count(); device++) {
        struct system there = on_device(&s, device);
        kith_context *context = context_on(device);
        assert_cuda(cudaSetDevice(0)); /* kith chooses its own and leaves the caller's */
        system_compute(context, NULL, &there);
        assert_ok(kith_context_synchronize(context));
        gpu_fetch(&there, &s);
        system_compute(context, NULL, device == 0 ? &first : &s); /* staged from the host */
        assert_same_forces(&s, &first);
        int current = -1;
        assert_cuda(cudaGetDevice(&current));
        assert_int_equal(current, 0);
        kith_context_free(context);
        gpu_system_free(&there);
    }
    system_free(&s);
    system_free(&first);
}

static void test_cuda_arrays_of_another_device_are_refused(void **state)
{
    struct system s = system_random(*state, KITH_F64, 10, 3), there = on_device(&s, 1);
    kith_context *context = context_on(0);
    const kith_array without = kith_array_none();
    assert_fails(kith_forces_compute(context, NULL, POINTS(without),
                                     PARTICLES(there.x, {"m", without}), there.a, without),
                 KITH_INVALID_ARGUMENT, "sources.positions cuda:1");
    struct system said = there;
    said.x.device.index = said.a.device.index = 0;
    assert_fails(kith_forces_compute(context, NULL, POINTS(without),
                                     PARTICLES(said.x, {"m", without}), said.a, without),
                 KITH_INVALID_ARGUMENT, "memory cuda:1");
    kith_context_free(context);
    gpu_system_free(&there);
    system_free(&s);
    assert_cuda(cudaSetDevice(0));
}

struct worker {
    int32_t device;
    const struct simulated_case *the;
    const kith_bodies *bodies;
    kith_bodies *end;
};

static void *run(void *argument)
{
    struct worker *worker = argument;
    kith_context *context = context_on(worker->device);
    kith_simulation *simulation = begin(context, worker->the, worker->bodies);
    assert_ok(kith_simulation_step(simulation, 100));
    assert_ok(kith_simulation_get_bodies(simulation, worker->end));
    kith_simulation_free(simulation);
    kith_context_free(context);
    return NULL;
}

/* Small ones in one launch, a cooperative grid, an ensemble, and kernel by kernel. */
static void test_cuda_devices_simulate_beside_each_other(void **state)
{
    static const struct simulated_case cases[] = {
        {KITH_F64, 20, 0, 3, common, "leapfrog"},
        {KITH_F32, 1500, 0, 3, common, "yoshida4"},
        {KITH_F64, 6, 500, 2, of_bodies, "rk4"},
        {KITH_F32, 9001, 0, 3, common, "hermite4"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const int devices = device_count();
        struct worker workers[most_devices];
        pthread_t threads[most_devices];
        kith_bodies *bodies = random_bodies(*state, &cases[c]);
        for (int32_t k = 0; k < devices; k++) {
            workers[k] = (struct worker){.device = k, .the = &cases[c], .bodies = bodies};
            assert_ok(kith_bodies_create(bodies->count, bodies->dimensions, KITH_VELOCITY,
                                         &workers[k].end));
            assert_int_equal(pthread_create(&threads[k], NULL, run, &workers[k]), 0);
        }
        for (int32_t k = 0; k < devices; k++)
            pthread_join(threads[k], NULL);
        const size_t bytes = (size_t)(bodies->count * bodies->dimensions) * sizeof(double);
        for (int32_t k = 1; k < devices; k++) {
            assert_memory_equal(workers[k].end->position, workers[0].end->position, bytes);
            assert_memory_equal(workers[k].end->velocity, workers[0].end->velocity, bytes);
        }
        for (int32_t k = 0; k < devices; k++)
            kith_bodies_free(workers[k].end);
        kith_bodies_free(bodies);
    }
}

int main(void)
{
    if (gpu_is_absent("cuda_devices"))
        return exit_skipped;
    if (device_count() < 2) {
        printf("cuda_devices: skipped: there is one GPU\n");
        return exit_skipped;
    }
    struct random_numbers random = random_numbers_begin("cuda_devices");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_devices_give_the_same_forces, &random),
        cmocka_unit_test_prestate(test_cuda_arrays_of_another_device_are_refused, &random),
        cmocka_unit_test_prestate(test_cuda_devices_simulate_beside_each_other, &random),
    };
    return cmocka_run_group_tests_name("cuda_devices", tests, NULL, NULL);
}
