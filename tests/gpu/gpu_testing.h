#ifndef TESTS_GPU_TESTING_H
#define TESTS_GPU_TESTING_H

/* What the tests of the CUDA backend share. */

#include "forces_system.h"

#include <cuda_runtime_api.h>

/* CTest takes a test that returns this for skipped. */
enum { exit_skipped = 77 };

/* Prints why and returns true if there is no GPU. */
static inline bool gpu_is_absent(const char *test)
{
    kith_backend_info info;
    for (int32_t k = 0; kith_backend_describe(k, &info); k++)
        if (strcmp(info.name, "cuda") == 0 && info.device_count > 0)
            return false;
    printf("%s: skipped: there is no GPU\n", test);
    return true;
}

/* The tools of compute-sanitizer slow everything down: with KITH_TEST_QUICK set, tests do without
 * their large cases. */
static inline bool test_is_quick(void)
{
    const char *quick = getenv("KITH_TEST_QUICK");
    return quick && *quick;
}

/* KITH_TEST_ONLY=PATTERN runs the tests of these names, with * and ?, alone: each can then have its
 * own process under the sanitizers. */
__attribute__((constructor)) static void select_tests(void)
{
    const char *pattern = getenv("KITH_TEST_ONLY");
    if (pattern && *pattern)
        cmocka_set_test_filter(pattern);
}

#define assert_cuda(expression)                                                                    \
    do {                                                                                           \
        const cudaError_t assert_error = (expression);                                             \
        if (assert_error != cudaSuccess)                                                           \
            fail_msg("%s: %s", #expression, cudaGetErrorString(assert_error));                     \
    } while (0)

static inline kith_context *new_gpu_context(cudaStream_t stream)
{
    const kith_context_options options = {.device = {KITH_CUDA, 0}, .stream = stream};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    return context;
}

/* The system's forces as forces_reference.c has them, in double precision. */
static inline void system_reference(const kith_forces_options *options, struct system *s)
{
    kith_forces_options reference = *options;
    kith_context *context = new_context(NULL, 0);
    reference.solver = solver_named("reference");
    reference.method = KITH_FORCES_AUTO;
    system_compute(context, &reference, s);
    kith_context_free(context);
}

static inline struct system system_copy(const struct system *s)
{
    struct system copy = system_create(s->dtype, s->n, s->dimensions);
    const size_t bytes = (size_t)kith_dtype_bytes(s->dtype), n = (size_t)s->n;
    memcpy(copy.x.data, s->x.data, n * (size_t)s->dimensions * bytes);
    memcpy(copy.m.data, s->m.data, n * bytes);
    memcpy(copy.softening.data, s->softening.data, n * bytes);
    copy.softened = s->softened;
    return copy;
}

/* What docs and headers promise of n bodies' forces. */
static inline double promised_error(kith_dtype dtype, int64_t n)
{
    return dtype == KITH_F32 ? 1e-6 : 1e-14 * sqrt(n > 0 ? (double)n : 1);
}

static inline void assert_same_forces(const struct system *a, const struct system *b)
{
    const size_t bytes = (size_t)kith_dtype_bytes(a->dtype), n = (size_t)a->n;
    assert_memory_equal(a->a.data, b->a.data, n * (size_t)a->dimensions * bytes);
    assert_memory_equal(a->phi.data, b->phi.data, n * bytes);
}

/* An array on the device with gaps between its elements: rows `apart` elements longer than needed,
 * columns `column_stride` elements apart. Poisoned with NaN. */
static inline kith_array gpu_array_like(kith_array host, int64_t column_stride, int64_t apart)
{
    const int64_t columns = host.ndim == 2 ? host.shape[1] : 1;
    kith_array array = host;
    array.device = (kith_device){KITH_CUDA, 0};
    array.strides[0] = columns * column_stride + apart;
    array.strides[1] = column_stride;
    const size_t bytes =
        (size_t)(host.shape[0] * array.strides[0] + 1) * (size_t)kith_dtype_bytes(host.dtype);
    assert_cuda(cudaMalloc(&array.data, bytes));
    assert_cuda(cudaMemset(array.data, 0xff, bytes));
    assert_cuda(cudaDeviceSynchronize());
    return array;
}

/* Copies between a contiguous array on the host and one on the device, by way of all its memory. */
static inline void gpu_transfer(kith_array device, kith_array host, bool in)
{
    const int64_t rows = host.shape[0], columns = host.ndim == 2 ? host.shape[1] : 1;
    const size_t each = (size_t)kith_dtype_bytes(host.dtype);
    const size_t bytes = (size_t)(rows * device.strides[0] + 1) * each;
    char *all = malloc(bytes);
    assert_non_null(all);
    assert_cuda(cudaMemcpy(all, device.data, bytes, cudaMemcpyDeviceToHost));
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < columns; c++) {
            const int64_t stride = host.ndim == 2 ? device.strides[1] : 0;
            char *there = all + (size_t)(row * device.strides[0] + c * stride) * each;
            char *here = (char *)host.data + (size_t)(row * columns + c) * each;
            memcpy(in ? there : here, in ? here : there, each);
        }
    if (in)
        assert_cuda(cudaMemcpy(device.data, all, bytes, cudaMemcpyHostToDevice));
    assert_cuda(cudaDeviceSynchronize());
    free(all);
}

static inline kith_array gpu_array_of(kith_array host, int64_t column_stride, int64_t apart)
{
    const kith_array array = gpu_array_like(host, column_stride, apart);
    gpu_transfer(array, host, true);
    return array;
}

/* The system with all its arrays on the device; odd strides if it is to have gaps. */
static inline struct system gpu_system(const struct system *s, bool gaps)
{
    struct system on_device = *s;
    on_device.x = gpu_array_of(s->x, gaps ? 2 : 1, gaps ? 3 : 0);
    on_device.m = gpu_array_of(s->m, 1, gaps ? 4 : 0);
    on_device.softening = gpu_array_of(s->softening, 1, gaps ? 1 : 0);
    on_device.a = gpu_array_like(s->a, gaps ? 3 : 1, gaps ? 1 : 0);
    on_device.phi = gpu_array_like(s->phi, 1, gaps ? 2 : 0);
    return on_device;
}

static inline void gpu_system_free(struct system *s)
{
    cudaFree(s->x.data);
    cudaFree(s->m.data);
    cudaFree(s->softening.data);
    cudaFree(s->a.data);
    cudaFree(s->phi.data);
}

/* The results, from the device to the host's system. */
static inline void gpu_fetch(const struct system *on_device, struct system *s)
{
    gpu_transfer(on_device->a, s->a, false);
    gpu_transfer(on_device->phi, s->phi, false);
}

#endif
