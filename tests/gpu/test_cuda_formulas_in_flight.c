/* Code of formulas is unloaded only when the GPU has run it. */

#include "gpu_testing.h"

#include "random_numbers.h"

#include <math.h>

static struct random_numbers numbers;

enum { long_count = 400000, formulas = 17 }; /* a context keeps the code of 16 sets of formulas */

static int64_t count_of_points(void)
{
    return test_is_quick() ? long_count / 10 : long_count;
}

static kith_array on_gpu(void *data, int64_t rows, int64_t columns)
{
    kith_array array = kith_array_matrix(data, KITH_F32, rows, columns);
    array.device = (kith_device){KITH_CUDA, 0};
    return array;
}

/* n points of a cube with sides of 1. */
static float *new_points(int64_t n)
{
    float *host = malloc((size_t)n * 3 * sizeof *host), *device = NULL;
    assert_non_null(host);
    for (int64_t k = 0; k < 3 * n; k++)
        host[k] = (float)random_uniform(&numbers, 0, 1);
    assert_cuda(cudaMalloc((void **)&device, (size_t)n * 3 * sizeof *host));
    assert_cuda(cudaMemcpy(device, host, (size_t)n * 3 * sizeof *host, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static float *new_results(int64_t count)
{
    float *device = NULL;
    assert_cuda(cudaMalloc((void **)&device, (size_t)count * sizeof *device));
    assert_cuda(cudaMemset(device, 0, (size_t)count * sizeof *device));
    return device;
}

/* Formula k is 1 for all pairs of the cube. */
static void count_neighbors(kith_context *context, int k, kith_array positions, kith_array results)
{
    char text[32];
    snprintf(text, sizeof text, "r2 < %d", 100 + k);
    const kith_named_formula output = {"count", text};
    const kith_particles points = {.positions = positions};
    assert_ok(kith_sums_compute(context, NULL, NULL, &points, 1, &output, results));
}

static void test_a_sum_in_flight_keeps_its_code(void **state)
{
    (void)state;
    const int64_t n = count_of_points();
    float *points = new_points(n), *counts = new_results(n), *few = new_results(2);
    float *host = malloc((size_t)n * sizeof *host);
    assert_non_null(host);
    kith_context *first = new_gpu_context(NULL); /* puts the code into the cache folder */
    for (int k = 0; k < formulas; k++)
        count_neighbors(first, k, on_gpu(points, 2, 3), on_gpu(few, 2, 1));
    kith_context_free(first);

    kith_context *context = new_gpu_context(NULL);
    count_neighbors(context, 0, on_gpu(points, n, 3), on_gpu(counts, n, 1));
    for (int k = 1; k < formulas; k++)
        count_neighbors(context, k, on_gpu(points, 2, 3), on_gpu(few, 2, 1));
    assert_ok(kith_context_synchronize(context));
    assert_cuda(cudaMemcpy(host, counts, (size_t)n * sizeof *host, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < n; i++)
        assert_true(host[i] == (float)(n - 1));
    kith_context_free(context);
    free(host);
    assert_cuda(cudaFree(points));
    assert_cuda(cudaFree(counts));
    assert_cuda(cudaFree(few));
}

/* V = r²/2: the forces of n bodies of mass 1 on one at x are n·(center − x). */
static void test_forces_in_flight_keep_the_code_of_a_law_that_is_freed(void **state)
{
    (void)state;
    const int64_t n = count_of_points();
    float *points = new_points(n), *forces = new_results(3 * n);
    float *x = malloc((size_t)n * 6 * sizeof *x), *a = x + 3 * n;
    assert_non_null(x);
    kith_context *context = new_gpu_context(NULL);
    kith_law *law = NULL;
    assert_ok(kith_law_parse("expr:r2 / 2", 0, NULL, &law));
    const kith_forces_options options = {.law = law};
    const kith_particles bodies = {.positions = on_gpu(points, n, 3)};
    const kith_array none = kith_array_none();
    assert_ok(kith_forces_compute(context, &options, NULL, &bodies, on_gpu(forces, n, 3), none));
    kith_law_free(law);
    assert_ok(kith_context_synchronize(context));
    assert_cuda(cudaMemcpy(x, points, (size_t)n * 3 * sizeof *x, cudaMemcpyDeviceToHost));
    assert_cuda(cudaMemcpy(a, forces, (size_t)n * 3 * sizeof *a, cudaMemcpyDeviceToHost));
    for (int c = 0; c < 3; c++) {
        double center = 0;
        for (int64_t i = 0; i < n; i++)
            center += (double)x[3 * i + c] / (double)n;
        for (int64_t i = 0; i < n; i++)
            assert_true(fabs((double)a[3 * i + c] / (double)n - center + (double)x[3 * i + c]) <
                        1e-5);
    }
    kith_context_free(context);
    free(x);
    assert_cuda(cudaFree(points));
    assert_cuda(cudaFree(forces));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sum_in_flight_keeps_its_code),
        cmocka_unit_test(test_forces_in_flight_keep_the_code_of_a_law_that_is_freed),
    };
    if (gpu_is_absent("test_cuda_formulas_in_flight"))
        return exit_skipped;
    numbers = random_numbers_begin("formulas in flight");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
