/* The functions of the CUDA backend's table, but forces. */

#include "gpu_testing.h"

#include <pthread.h>

#include "device/context.h"
#include "device/cuda.h"
#include "simulation/backend.h"

static void test_cuda_device_is_described(void **state)
{
    (void)state;
    kith_device_info info;
    assert_true(kith_device_describe((kith_device){KITH_CUDA, 0}, &info));
    assert_true(strlen(info.name) > 0 && strncmp(info.architecture, "sm_", 3) == 0);
    assert_true(info.multiprocessors > 0 && info.memory_bytes > 1 << 20);
    assert_false(kith_device_describe((kith_device){KITH_CUDA, 1000}, &info));
}

static void test_cuda_device_that_is_not_there_is_refused(void **state)
{
    (void)state;
    const kith_context_options options = {.device = {KITH_CUDA, 1000}};
    kith_context *context = NULL;
    assert_fails(kith_context_create(&options, &context), KITH_NO_DEVICE, "cuda:1000");
    assert_null(context);
}

static void test_cuda_is_what_auto_means(void **state)
{
    (void)state;
    kith_context *context = NULL;
    assert_ok(kith_context_create(NULL, &context));
    assert_int_equal(kith_context_device(context).kind, KITH_CUDA);
    kith_context_free(context);
}

static void test_cuda_context_works_on_the_callers_stream(void **state)
{
    (void)state;
    cudaStream_t stream = NULL;
    assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    kith_context *context = new_gpu_context(stream);
    assert_ptr_equal(kith_context_stream(context), stream);
    kith_context_free(context);
    assert_cuda(cudaStreamSynchronize(stream)); /* still the caller's */
    assert_cuda(cudaStreamDestroy(stream));

    context = new_gpu_context(NULL);
    assert_non_null(kith_context_stream(context));
    kith_context_free(context);
}

static void test_cuda_leaves_the_current_device_alone(void **state)
{
    (void)state;
    int devices = 0, current = -1;
    assert_cuda(cudaGetDeviceCount(&devices));
    assert_cuda(cudaSetDevice(devices - 1));
    kith_context *context = new_gpu_context(NULL);
    assert_ok(kith_context_synchronize(context));
    kith_context_free(context);
    assert_cuda(cudaGetDevice(&current));
    assert_int_equal(current, devices - 1);
    assert_cuda(cudaSetDevice(0));
}

static void test_cuda_memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    const struct device_services *services = context->services;
    for (int64_t count = 0; count < 100000; count = 3 * count + 1) {
        for (int again = 0; again < 2; again++) {
            void *memory = NULL;
            assert_ok(services->allocate(context, count, 7, "test", &memory));
            assert_true((memory == NULL) == (count == 0));
            assert_int_equal((uintptr_t)memory % 64, 0);
            char *copy = malloc((size_t)count * 7 + 1);
            assert_ok(services->copy_out(context, copy, memory, count * 7));
            for (int64_t k = 0; k < count * 7; k++)
                assert_int_equal(copy[k], 0);
            memset(copy, 0x55, (size_t)count * 7);
            assert_ok(services->copy_in(context, memory, copy, count * 7));
            services->release(context, memory);
            free(copy);
        }
    }
    kith_context_free(context);
}

static void test_cuda_copies_come_back_the_same(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const struct device_services *services = context->services;
    for (int64_t bytes = 1; bytes < 1 << 24; bytes = 7 * bytes + 3) {
        unsigned char *there = malloc((size_t)bytes), *back = malloc((size_t)bytes);
        for (int64_t k = 0; k < bytes; k++)
            there[k] = (unsigned char)random_uniform(random, 0, 256);
        void *memory = NULL;
        assert_ok(services->allocate(context, bytes, 1, "test", &memory));
        assert_ok(services->copy_in(context, memory, there, bytes));
        assert_ok(services->copy_out(context, back, memory, bytes));
        assert_memory_equal(there, back, (size_t)bytes);
        services->release(context, memory);
        free(there);
        free(back);
    }
    kith_context_free(context);
}

static void test_cuda_out_of_memory_says_how_much_and_the_context_goes_on(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    const struct device_services *services = context->services;
    void *memory = NULL;
    assert_fails(services->allocate(context, (int64_t)1 << 44, 8, "bodies", &memory),
                 KITH_OUT_OF_MEMORY, "140737488355328");
    assert_null(memory);
    assert_fails(services->allocate(context, INT64_MAX, 8, "", &memory), KITH_OUT_OF_MEMORY, "");
    assert_fails(cuda_scratch(context, (int64_t)1 << 47, &memory), KITH_OUT_OF_MEMORY, "working");
    assert_fails(cuda_scratch(context, INT64_MAX, &memory), KITH_OUT_OF_MEMORY, "working");

    assert_ok(services->allocate(context, 1000, 8, "few bodies", &memory));
    services->release(context, memory);
    assert_ok(kith_context_synchronize(context));
    kith_context_free(context);
}

static void test_cuda_scratch_stays_where_it_is_until_it_must_grow(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    void *first = NULL, *second = NULL, *arrays = NULL;
    assert_ok(cuda_scratch(context, 1 << 22, &first));
    assert_ok(cuda_memory_of_arrays(context, 1 << 22, &arrays));
    assert_ptr_not_equal(first, arrays);
    for (int64_t bytes = 1; bytes <= 1 << 22; bytes *= 2) {
        assert_ok(cuda_scratch(context, bytes, &second));
        assert_ptr_equal(first, second);
    }
    assert_ok(cuda_scratch(context, 1 << 26, &second));
    assert_cuda(cudaMemsetAsync(second, 1, 1 << 26, cuda_stream(context)));
    assert_ok(kith_context_synchronize(context));
    kith_context_free(context);
}

/* A recorded graph must find its memory as long as the context lives. */
static void test_cuda_scratch_of_a_graph_is_kept_when_it_grows(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    cudaStream_t stream = cuda_stream(context);
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    void *memory = NULL, *same = NULL, *other = NULL;
    assert_ok(cuda_scratch(context, 1000, &memory));
    assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_ok(cuda_scratch(context, 1000, &same));
    assert_ptr_equal(memory, same);
    assert_cuda(cudaMemsetAsync(same, 7, 1000, stream));
    assert_fails(cuda_scratch(context, 1 << 30, &other), KITH_INVALID_ARGUMENT, "captured");
    assert_cuda(cudaStreamEndCapture(stream, &graph));
    assert_cuda(cudaGraphInstantiate(&instance, graph, 0));

    assert_ok(cuda_scratch(context, 1 << 26, &other));
    assert_cuda(cudaMemsetAsync(other, 9, 1 << 26, stream));
    assert_cuda(cudaGraphLaunch(instance, stream));
    char byte = 0;
    assert_ok(context->services->copy_out(context, &byte, memory, 1));
    assert_int_equal(byte, 7);
    assert_ok(context->services->copy_out(context, &byte, other, 1));
    assert_int_equal(byte, 9);
    assert_cuda(cudaGraphExecDestroy(instance));
    assert_cuda(cudaGraphDestroy(graph));
    kith_context_free(context);
}

static void fill(struct random_numbers *random, kith_dtype dtype, void *numbers, int64_t count)
{
    const kith_array array = kith_array_vector(numbers, dtype, count);
    for (int64_t i = 0; i < count; i++)
        put(array, i, random_uniform(random, -3, 3));
}

/* The combination of four arrays of random numbers on a context's device, into out. */
static void combine_on(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                       const double *factor, void *const numbers[4], void *out)
{
    const struct device_services *services = context->services;
    const int64_t each = kith_dtype_bytes(dtype);
    void *memory[4] = {0};
    for (int32_t k = 0; k < terms; k++) {
        assert_ok(services->allocate(context, count, each, "test", &memory[k]));
        assert_ok(services->copy_in(context, memory[k], numbers[k], count * each));
    }
    assert_ok(context->services->combine(context, dtype, count, terms, factor,
                                         (const void *const *)memory, memory[terms - 1]));
    assert_ok(services->copy_out(context, out, memory[terms - 1], count * each));
    for (int32_t k = 0; k < terms; k++)
        services->release(context, memory[k]);
}

/* The first of the four arrays and a lost of zeros, after the sum of terms was added to both twice;
 * terms come from the others, and the first of all. */
static void accumulate_on(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                          const double *factor, void *const numbers[4], void *sum, void *lost)
{
    const struct device_services *services = context->services;
    const int64_t each = kith_dtype_bytes(dtype);
    void *memory[5] = {0};
    memset(lost, 0, (size_t)(count * each));
    for (int32_t k = 0; k < 5; k++) {
        assert_ok(services->allocate(context, count, each, "test", &memory[k]));
        assert_ok(services->copy_in(context, memory[k], k < 4 ? numbers[k] : lost, count * each));
    }
    const void *const in[4] = {memory[1], memory[2], memory[3], memory[1]};
    for (int k = 0; k < 2; k++)
        assert_ok(
            services->accumulate(context, dtype, count, terms, factor, in, memory[0], memory[4]));
    assert_ok(services->copy_out(context, sum, memory[0], count * each));
    assert_ok(services->copy_out(context, lost, memory[4], count * each));
    for (int32_t k = 0; k < 5; k++)
        services->release(context, memory[k]);
}

static void test_cuda_combines_to_the_same_bits_as_the_cpu(void **state)
{
    struct random_numbers *random = *state;
    const kith_dtype dtypes[] = {KITH_F64, KITH_F32};
    const int64_t counts[] = {0, 1, 31, 1000, 65537, 1000003};
    kith_context *gpu = new_gpu_context(NULL), *cpu = new_context(NULL, 1);
    for (int d = 0; d < 2; d++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (int32_t terms = 1; terms <= 4; terms++) {
                const int64_t count = counts[c], bytes = count * kith_dtype_bytes(dtypes[d]);
                void *numbers[4], *on_gpu = malloc((size_t)bytes + 1);
                void *on_cpu = malloc((size_t)bytes + 1);
                double factor[4];
                for (int k = 0; k < 4; k++) {
                    numbers[k] = malloc((size_t)bytes + 1);
                    fill(random, dtypes[d], numbers[k], count);
                    factor[k] = random_uniform(random, -2, 2);
                }
                combine_on(gpu, dtypes[d], count, terms, factor, numbers, on_gpu);
                combine_on(cpu, dtypes[d], count, terms, factor, numbers, on_cpu);
                assert_memory_equal(on_gpu, on_cpu, (size_t)bytes);
                void *lost[2] = {malloc((size_t)bytes + 1), malloc((size_t)bytes + 1)};
                accumulate_on(gpu, dtypes[d], count, terms, factor, numbers, on_gpu, lost[0]);
                accumulate_on(cpu, dtypes[d], count, terms, factor, numbers, on_cpu, lost[1]);
                assert_memory_equal(on_gpu, on_cpu, (size_t)bytes);
                assert_memory_equal(lost[0], lost[1], (size_t)bytes);
                free(lost[0]);
                free(lost[1]);
                for (int k = 0; k < 4; k++)
                    free(numbers[k]);
                free(on_gpu);
                free(on_cpu);
            }
    kith_context_free(gpu);
    kith_context_free(cpu);
}

struct worker {
    uint64_t seed;
    bool right;
};

/* Fills memory in a context of its own and reads it back, many times. */
static void *work(void *data)
{
    struct worker *worker = data;
    const kith_context_options options = {.device = {KITH_CUDA, 0}};
    kith_context *context = NULL;
    worker->right = kith_context_create(&options, &context) == KITH_OK;
    for (int64_t round = 1; worker->right && round < 50; round++) {
        enum { count = 4096 };
        double in[count], out[count];
        struct random_numbers random = {worker->seed + (uint64_t)round};
        const struct device_services *services = context->services;
        void *memory = NULL;
        for (int k = 0; k < count; k++)
            in[k] = random_uniform(&random, 0, 1);
        worker->right =
            services->allocate(context, count, sizeof in[0], "test", &memory) == KITH_OK &&
            services->copy_in(context, memory, in, sizeof in) == KITH_OK &&
            services->copy_out(context, out, memory, sizeof out) == KITH_OK &&
            memcmp(in, out, sizeof in) == 0;
        services->release(context, memory);
    }
    kith_context_free(context);
    return NULL;
}

static void test_cuda_contexts_on_two_threads_do_not_meet(void **state)
{
    (void)state;
    struct worker workers[2] = {{1, false}, {1000, false}};
    pthread_t threads[2];
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    for (int k = 0; k < 2; k++) {
        pthread_join(threads[k], NULL);
        assert_true(workers[k].right);
    }
}

int main(void)
{
    if (gpu_is_absent("cuda_backend"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_backend");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_device_is_described),
        cmocka_unit_test(test_cuda_device_that_is_not_there_is_refused),
        cmocka_unit_test(test_cuda_is_what_auto_means),
        cmocka_unit_test(test_cuda_context_works_on_the_callers_stream),
        cmocka_unit_test(test_cuda_leaves_the_current_device_alone),
        cmocka_unit_test(test_cuda_memory_is_zeroed_and_aligned),
        cmocka_unit_test_prestate(test_cuda_copies_come_back_the_same, &random),
        cmocka_unit_test(test_cuda_out_of_memory_says_how_much_and_the_context_goes_on),
        cmocka_unit_test(test_cuda_scratch_stays_where_it_is_until_it_must_grow),
        cmocka_unit_test(test_cuda_scratch_of_a_graph_is_kept_when_it_grows),
        cmocka_unit_test_prestate(test_cuda_combines_to_the_same_bits_as_the_cpu, &random),
        cmocka_unit_test(test_cuda_contexts_on_two_threads_do_not_meet),
    };
    return cmocka_run_group_tests_name("cuda_backend", tests, NULL, NULL);
}
