/* The interaction matrix on a GPU: what the CPU's tests check, of host arrays; and arrays on the
 * device, of more elements than 32 bits count. */

#include "gpu_testing.h"
#include "matrix_checks.h"

static kith_context *shared;
static struct random_numbers numbers;

static void every_law_gives_the_reference(void **state)
{
    (void)state;
    for (int k = 0; k < matrix_table_law_count; k++)
        for (int dtype = 0; dtype < 2; dtype++) {
            const kith_matrix_options keep = {.softening = 0.05, .diagonal = KITH_DIAGONAL_KEEP};
            const kith_matrix_options plain = {0};
            const kith_dtype type = dtype ? KITH_F32 : KITH_F64;
            check_all(shared, &numbers, matrix_laws[k], type, 131, 0, plain);
            if (!test_is_quick())
                check_all(shared, &numbers, matrix_laws[k], type, 300, 1300, keep);
        }
}

static void every_size_and_method_gives_the_reference(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 5, 31, 32, 33, 63, 65, 127, 129, 257, 513, 700};
    static const kith_matrix_options options[] = {
        {.diagonal = KITH_DIAGONAL_VALUE, .diagonal_value = 7.5},
        {.symmetric = true},
        {.method = KITH_MATRIX_TILE_P},
        {.method = KITH_MATRIX_TILE_P, .block = 1},
        {.method = KITH_MATRIX_TILE_P, .block = 256, .diagonal = KITH_DIAGONAL_VALUE},
        {.method = KITH_MATRIX_TILE_P2, .block = 32},
        {.method = KITH_MATRIX_TILE_P2, .block = 3, .diagonal = KITH_DIAGONAL_VALUE}};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k += test_is_quick() ? 4 : 1)
        for (size_t o = 0; o < sizeof options / sizeof options[0]; o++)
            for (int dtype = 0; dtype < 2; dtype++)
                check_all(shared, &numbers, o % 2 ? "power:1" : "gravity",
                          dtype ? KITH_F32 : KITH_F64, sizes[k], 0, options[o]);
}

static void a_formula_gives_the_reference(void **state)
{
    (void)state;
    const char *name = matrix_laws[matrix_table_law_count];
    for (int dtype = 0; dtype < 2; dtype++) {
        kith_law *law = matrix_law(name);
        struct matrix_set rows = matrix_set_create(&numbers, dtype ? KITH_F32 : KITH_F64, 201, 3);
        const struct matrix_case c = {
            shared, name, law, {.softening = 0.1, .diagonal = KITH_DIAGONAL_KEEP}, &rows, NULL};
        check_elements(&c);
        check_sums(&c, &numbers);
        kith_law_free(law);
        matrix_set_free(&rows);
    }
}

/* The particles of a set with all arrays on the device, with gaps. */
static kith_particles on_device(const struct matrix_set *set)
{
    return (kith_particles){
        .positions = gpu_array_of(set->particles.positions, 2, 3),
        .columns = {{"m", gpu_array_of(set->particles.columns[0].values, 1, 1)},
                    {"q", gpu_array_of(set->particles.columns[1].values, 1, 0)}}};
}

static void free_on_device(kith_particles *particles)
{
    cudaFree(particles->positions.data);
    cudaFree(particles->columns[0].values.data);
    cudaFree(particles->columns[1].values.data);
}

/* The same bits as of arrays on the host, which go through the same kernels. */
static void arrays_on_the_device_give_the_same_bits(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < 2; dtype++) {
        struct matrix_set rows = matrix_set_create(&numbers, dtype ? KITH_F32 : KITH_F64, 203, 3);
        const struct matrix_case c = {shared, "gravity", NULL, {.softening = 0}, &rows, NULL};
        kith_particles particles = on_device(&rows);
        const kith_array expected = case_matrix(&c, KITH_MATRIX_AUTO);
        const kith_array found = matrix_new(rows.dtype, 203, 203);
        const kith_array sums = matrix_new_vector(rows.dtype, 203);
        const kith_array expected_sums = matrix_new_vector(rows.dtype, 203);
        const kith_array there = gpu_array_like(found, 1, 0), apart = gpu_array_like(found, 2, 5);
        const kith_array sums_there = gpu_array_like(sums, 1, 2);
        for (int k = 0; k < 2; k++) {
            assert_ok(kith_matrix_compute(shared, NULL, NULL, &particles, NULL, k ? apart : there));
            assert_ok(kith_context_synchronize(shared));
            gpu_transfer(k ? apart : there, found, false);
            assert_memory_equal(found.data, expected.data,
                                203 * 203 * (size_t)kith_dtype_bytes(rows.dtype));
        }
        assert_ok(kith_matrix_reduce(shared, NULL, NULL, &rows.particles, NULL, KITH_REDUCE_SUM,
                                     expected_sums));
        assert_ok(
            kith_matrix_reduce(shared, NULL, NULL, &particles, NULL, KITH_REDUCE_SUM, sums_there));
        assert_ok(kith_context_synchronize(shared));
        gpu_transfer(sums_there, sums, false);
        assert_memory_equal(sums.data, expected_sums.data,
                            203 * (size_t)kith_dtype_bytes(rows.dtype));
        cudaFree(there.data);
        cudaFree(apart.data);
        cudaFree(sums_there.data);
        free_on_device(&particles);
        free(expected.data);
        free(found.data);
        free(sums.data);
        free(expected_sums.data);
        matrix_set_free(&rows);
    }
}

/* What a call writes of arrays on the device is what it writes of those on the host. */
static void check_reductions_there(const struct matrix_case *c, const kith_particles *particles)
{
    const int64_t n = c->rows->n;
    const kith_array b = matrix_column(&numbers, c->rows->dtype, 2 * n, -1, 1);
    const kith_array both = kith_array_matrix(b.data, b.dtype, n, 2);
    const kith_array b_there = gpu_array_of(both, 1, 3);
    for (int k = 0; k <= KITH_REDUCE_ARGMIN + 1; k++) {
        const bool is_product = k > KITH_REDUCE_ARGMIN;
        const kith_dtype dtype = k == KITH_REDUCE_ARGMIN ? KITH_I64 : c->rows->dtype;
        kith_array expected = matrix_new(dtype, n, 2), found = matrix_new(dtype, n, 2);
        if (!is_product) {
            expected = kith_array_vector(expected.data, dtype, n);
            found = kith_array_vector(found.data, dtype, n);
        }
        const kith_array there = gpu_array_like(found, 1, 2);
        const kith_matrix_reduction what = (kith_matrix_reduction)k;
        if (is_product) {
            assert_ok(kith_matrix_multiply(shared, c->law, &c->options, &c->rows->particles, NULL,
                                           both, expected));
            assert_ok(
                kith_matrix_multiply(shared, c->law, &c->options, particles, NULL, b_there, there));
        } else {
            assert_ok(kith_matrix_reduce(shared, c->law, &c->options, &c->rows->particles, NULL,
                                         what, expected));
            assert_ok(
                kith_matrix_reduce(shared, c->law, &c->options, particles, NULL, what, there));
        }
        assert_ok(kith_context_synchronize(shared));
        gpu_transfer(there, found, false);
        assert_memory_equal(found.data, expected.data,
                            (size_t)(is_product ? 2 * n : n) * (size_t)kith_dtype_bytes(dtype));
        cudaFree(there.data);
        free(expected.data);
        free(found.data);
    }
    cudaFree(b_there.data);
    free(b.data);
}

static void diagonals_that_are_asked_for_count_on_the_device(void **state)
{
    static const char *const laws[] = {"gravity", "gaussian:0.4", "expr:m_i*q_j/(1 + r2)"};
    static const kith_matrix_options options[] = {
        {.softening = 0.1, .diagonal = KITH_DIAGONAL_KEEP},
        {.softening = 0.1, .diagonal = KITH_DIAGONAL_VALUE, .diagonal_value = -3.1},
        {.softening = 0.1, .diagonal = KITH_DIAGONAL_VALUE, .diagonal_value = 0.7},
        {.softening = 0.1, .diagonal_value = 77}};
    (void)state;
    for (int k = 0; k < 3 * 2 * 4; k++) {
        kith_law *law = matrix_law(laws[k % 3]);
        const kith_dtype dtype = k / 3 % 2 ? KITH_F32 : KITH_F64;
        struct matrix_set rows = matrix_set_create(&numbers, dtype, 203 + 500 * (k % 2), 3);
        kith_particles particles = on_device(&rows);
        const struct matrix_case c = {shared, laws[k % 3], law, options[k / 6], &rows, NULL};
        check_reductions_there(&c, &particles);
        check_extremes(&c);
        check_product(&c, &numbers);
        check_histogram(&c, 17, -4, 1.5);
        free_on_device(&particles);
        kith_law_free(law);
        matrix_set_free(&rows);
    }
}

static void numbers_that_are_none_are_told_by_synchronize(void **state)
{
    (void)state;
    struct matrix_set rows = matrix_set_create(&numbers, KITH_F64, 100, 3);
    matrix_put(rows.particles.columns[0].values, 41, NAN);
    kith_particles particles = on_device(&rows);
    const kith_array host = matrix_new(KITH_F64, 100, 100);
    const kith_array matrix = gpu_array_like(host, 1, 0);
    assert_ok(kith_matrix_compute(shared, NULL, NULL, &particles, NULL, matrix));
    assert_fails(kith_context_synchronize(shared), KITH_INVALID_ARGUMENT, "41 rows.m nan");
    assert_ok(kith_context_synchronize(shared));
    cudaFree(matrix.data);
    free(host.data);
    free_on_device(&particles);
    matrix_set_free(&rows);
}

/* Row i of a matrix of n × n floats on the device is what the row computed alone is. */
static void check_row(const kith_particles *particles, kith_array matrix, int64_t i,
                      const kith_matrix_options *options)
{
    const int64_t n = matrix.shape[0];
    kith_particles one = {.positions = particles->positions};
    one.positions.data = (float *)one.positions.data + i * one.positions.strides[0];
    one.positions.shape[0] = 1;
    kith_array row = matrix;
    row.shape[0] = 1;
    assert_cuda(cudaMalloc(&row.data, (size_t)n * 4));
    kith_law *law = matrix_law("power:1");
    assert_ok(kith_matrix_compute(shared, law, options, &one, particles, row));
    assert_ok(kith_context_synchronize(shared));
    float *a = malloc((size_t)n * 4), *b = malloc((size_t)n * 4);
    assert_non_null(a);
    assert_non_null(b);
    assert_cuda(cudaMemcpy(a, row.data, (size_t)n * 4, cudaMemcpyDeviceToHost));
    assert_cuda(cudaMemcpy(b, (float *)matrix.data + i * n, (size_t)n * 4, cudaMemcpyDeviceToHost));
    for (int64_t j = 0; j < n; j++)
        if (a[j] != b[j])
            fail_msg("n = %lld: element %lld, %lld is %.9g, not %.9g", (long long)n, (long long)i,
                     (long long)j, b[j], a[j]);
    free(a);
    free(b);
    cudaFree(row.data);
    kith_law_free(law);
}

static void more_elements_than_32_bits_count(void **state)
{
    static const int64_t sizes[] = {65537, 70000};
    const kith_matrix_options options[] = {
        {.diagonal = KITH_DIAGONAL_KEEP, .softening = 0.01},
        {.diagonal = KITH_DIAGONAL_KEEP, .softening = 0.01, .method = KITH_MATRIX_TILE_P},
        {.diagonal = KITH_DIAGONAL_KEEP, .softening = 0.01, .symmetric = true}};
    (void)state;
    for (size_t k = 0; k < 2 && !test_is_quick(); k++) {
        const int64_t n = sizes[k];
        struct matrix_set set = matrix_set_create(&numbers, KITH_F32, n, 3);
        kith_particles particles = {.positions = gpu_array_of(set.particles.positions, 1, 0)};
        kith_array matrix = kith_array_matrix(NULL, KITH_F32, n, n);
        matrix.device = (kith_device){KITH_CUDA, 0};
        assert_cuda(cudaMalloc(&matrix.data, (size_t)n * (size_t)n * 4));
        kith_law *law = matrix_law("power:1");
        for (size_t o = 0; o < sizeof options / sizeof options[0]; o++) {
            assert_cuda(cudaMemset(matrix.data, 0xff, (size_t)n * (size_t)n * 4));
            assert_ok(kith_matrix_compute(shared, law, &options[o], &particles, NULL, matrix));
            const int64_t rows[] = {0, 1, 2, n / 2, 61357, 61358, n - 2, n - 1};
            for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
                check_row(&particles, matrix, rows[r], &options[0]);
        }
        kith_law_free(law);
        cudaFree(matrix.data);
        cudaFree(particles.positions.data);
        matrix_set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_law_gives_the_reference),
        cmocka_unit_test(every_size_and_method_gives_the_reference),
        cmocka_unit_test(a_formula_gives_the_reference),
        cmocka_unit_test(arrays_on_the_device_give_the_same_bits),
        cmocka_unit_test(diagonals_that_are_asked_for_count_on_the_device),
        cmocka_unit_test(numbers_that_are_none_are_told_by_synchronize),
        cmocka_unit_test(more_elements_than_32_bits_count),
    };
    if (gpu_is_absent("test_cuda_matrix"))
        return exit_skipped;
    numbers = random_numbers_begin("test_cuda_matrix");
    shared = new_gpu_context(NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(shared);
    return failed;
}
