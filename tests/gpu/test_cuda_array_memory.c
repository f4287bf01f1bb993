/* Arrays whose label says another place than their memory's are refused by every call, and the
 * context goes on. */

#include "gpu_testing.h"

#include "array_calls.h"

static kith_array on_device(kith_array host, size_t bytes)
{
    kith_array array = host;
    array.device = (kith_device){KITH_CUDA, 0};
    assert_cuda(cudaMalloc(&array.data, bytes));
    assert_cuda(cudaMemcpy(array.data, host.data, bytes, cudaMemcpyHostToDevice));
    return array;
}

/* The arguments on the host and, if they may be there, on the device. */
struct arguments {
    int count;
    bool device_is_fine;
    kith_array host[most_call_arrays], there[most_call_arrays];
};

static struct arguments arguments_of(const struct array_call *call)
{
    struct arguments all = {.count = call_array_count(call)};
    for (int k = 0; k < all.count; k++) {
        const struct call_array *one = &call->array[k];
        all.host[k] = all.there[k] = call_array_make(one);
        if (!one->host_only)
            all.there[k] = on_device(all.host[k], call_array_bytes(one));
        all.device_is_fine |= !one->host_only;
    }
    return all;
}

static void free_arguments(struct arguments *all)
{
    for (int k = 0; k < all->count; k++) {
        if (all->there[k].data != all->host[k].data)
            cudaFree(all->there[k].data);
        free(all->host[k].data);
    }
}

static void assert_refused(kith_context *context, const struct array_call *call, const char *name,
                           const kith_array *a)
{
    const kith_status status = call->call(context, a);
    if (status != KITH_INVALID_ARGUMENT)
        fail_msg("%s of a wrong %s returned '%s'", call->name, name, kith_status_name(status));
    if (strncmp(kith_error_message(), name, strlen(name)) != 0)
        fail_msg("%s: '%s' does not name %s", call->name, kith_error_message(), name);
    assert_ok(kith_context_synchronize(context));
}

static void test_cuda_host_memory_labeled_as_the_devices_is_refused(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    for (int c = 0; c < array_call_count; c++) {
        const struct array_call *call = &array_calls[c];
        struct arguments all = arguments_of(call);
        for (int k = 0; k < all.count && all.device_is_fine; k++) {
            if (call->array[k].host_only)
                continue;
            kith_array wrong[most_call_arrays];
            memcpy(wrong, all.there, sizeof wrong);
            wrong[k].data = all.host[k].data;
            assert_refused(context, call, call->array[k].name, wrong);
        }
        if (all.device_is_fine)
            assert_ok(call->call(context, all.there));
        assert_ok(kith_context_synchronize(context));
        free_arguments(&all);
    }
    kith_context_free(context);
}

static void test_cuda_device_memory_labeled_as_the_hosts_is_refused(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    void *memory = NULL;
    assert_cuda(cudaMalloc(&memory, 1 << 12));
    for (int c = 0; c < array_call_count; c++) {
        const struct array_call *call = &array_calls[c];
        struct arguments all = arguments_of(call);
        for (int k = 0; k < all.count; k++) {
            kith_array wrong[most_call_arrays];
            memcpy(wrong, all.host, sizeof wrong);
            wrong[k].data = memory;
            assert_refused(context, call, call->array[k].name, wrong);
        }
        assert_ok(call->call(context, all.host));
        free_arguments(&all);
    }
    cudaFree(memory);
    kith_context_free(context);
}

static void test_cuda_misaligned_arrays_are_refused(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    for (int c = 0; c < array_call_count; c++) {
        const struct array_call *call = &array_calls[c];
        struct arguments all = arguments_of(call);
        for (int k = 0; k < all.count; k++) {
            if (call->array[k].host_only)
                continue;
            kith_array wrong[most_call_arrays];
            memcpy(wrong, all.there, sizeof wrong);
            wrong[k].data = (char *)wrong[k].data + 4;
            assert_refused(context, call, call->array[k].name, wrong);
        }
        free_arguments(&all);
    }
    kith_context_free(context);
}

/* Managed memory, and memory of the host that the device reaches: page-locked or registered. */
static void test_cuda_memory_that_both_reach_is_fine(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    const struct array_call *call = &array_calls[0];
    for (int kind = 0; kind < 3; kind++) {
        struct arguments all = arguments_of(call);
        kith_array shared[most_call_arrays];
        void *before[most_call_arrays];
        for (int k = 0; k < all.count; k++) {
            const size_t bytes = call_array_bytes(&call->array[k]);
            void *data = NULL;
            if (kind == 0)
                assert_cuda(cudaMallocManaged(&data, bytes, cudaMemAttachGlobal));
            else if (kind == 1)
                assert_cuda(cudaHostAlloc(&data, bytes, cudaHostAllocMapped));
            else {
                data = aligned_alloc(4096, 4096);
                assert_non_null(data);
                assert_cuda(cudaHostRegister(data, 4096, cudaHostRegisterMapped));
            }
            memcpy(data, all.host[k].data, bytes);
            shared[k] = all.there[k];
            shared[k].data = before[k] = data;
        }
        assert_ok(call->call(context, shared));
        assert_ok(kith_context_synchronize(context));
        for (int k = 0; k < all.count; k++)
            shared[k].device = (kith_device){KITH_CPU, 0};
        assert_ok(call->call(context, shared));
        for (int k = 0; k < all.count; k++) {
            if (kind == 0)
                cudaFree(before[k]);
            else if (kind == 1)
                cudaFreeHost(before[k]);
            else {
                cudaHostUnregister(before[k]);
                free(before[k]);
            }
        }
        free_arguments(&all);
    }
    kith_context_free(context);
}

/* The call of tests/properties that lost the device: positions whose label alone was changed. */
static void test_cuda_many_points_of_the_host_do_not_lose_the_device(void **state)
{
    (void)state;
    enum { n = 9 };
    kith_context *context = new_gpu_context(NULL);
    double x[3 * n];
    for (int k = 0; k < 3 * n; k++)
        x[k] = 0.1 + 0.03 * k;
    kith_array positions = kith_array_matrix(x, KITH_F64, n, 3);
    const kith_pairs_options options = {.cutoff = 0.5};
    kith_pairs *pairs = NULL;
    positions.device = (kith_device){KITH_CUDA, 0};
    assert_fails(kith_pairs_compute(context, &options, positions, NULL, &pairs),
                 KITH_INVALID_ARGUMENT, "positions cuda:0 labeled");
    assert_null(pairs);
    positions.device = (kith_device){KITH_CPU, 0};
    assert_ok(kith_pairs_compute(context, &options, positions, NULL, &pairs));
    assert_true(pairs->count > 0);
    kith_pairs_free(pairs);
    kith_context_free(context);
}

static void test_cuda_memory_of_another_device_is_refused(void **state)
{
    (void)state;
    int devices = 0;
    assert_cuda(cudaGetDeviceCount(&devices));
    if (devices < 2)
        return; /* nothing to mistake */
    kith_context *context = new_gpu_context(NULL);
    for (int c = 0; c < array_call_count; c++) {
        const struct array_call *call = &array_calls[c];
        struct arguments all = arguments_of(call);
        void *memory = NULL;
        assert_cuda(cudaSetDevice(1));
        assert_cuda(cudaMalloc(&memory, 1 << 12));
        for (int k = 0; k < all.count; k++) {
            if (call->array[k].host_only)
                continue;
            kith_array wrong[most_call_arrays];
            memcpy(wrong, all.there, sizeof wrong);
            wrong[k].data = memory;
            assert_refused(context, call, call->array[k].name, wrong);
            assert_true(has_fields(kith_error_message(), "cuda:0 cuda:1"));
        }
        assert_cuda(cudaFree(memory));
        assert_cuda(cudaSetDevice(0));
        free_arguments(&all);
    }
    kith_context_free(context);
}

int main(void)
{
    if (gpu_is_absent("cuda_array_memory"))
        return exit_skipped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_host_memory_labeled_as_the_devices_is_refused),
        cmocka_unit_test(test_cuda_device_memory_labeled_as_the_hosts_is_refused),
        cmocka_unit_test(test_cuda_misaligned_arrays_are_refused),
        cmocka_unit_test(test_cuda_memory_that_both_reach_is_fine),
        cmocka_unit_test(test_cuda_many_points_of_the_host_do_not_lose_the_device),
        cmocka_unit_test(test_cuda_memory_of_another_device_is_refused),
    };
    return cmocka_run_group_tests_name("cuda_array_memory", tests, NULL, NULL);
}
