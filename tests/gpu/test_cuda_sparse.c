/* Sparse matrices on the GPU: every format and kernel against a sum in long double. */

#include "gpu_sparse.h"

/* Unsorted, with duplicates. */
static struct entries random_entries(struct random_numbers *random, int64_t rows, int64_t columns,
                                     int64_t count)
{
    struct entries a = entries_create(rows, columns, count);
    for (int64_t k = 0; rows > 0 && columns > 0 && k < count; k++)
        add(&a, random, random_below(random, rows), random_below(random, columns));
    return a;
}

static struct entries band_entries(struct random_numbers *random, int64_t rows, int64_t columns,
                                   int64_t width)
{
    struct entries a = entries_create(rows, columns, rows * (2 * width + 1));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i - width; j <= i + width; j++)
            if (j >= 0 && j < columns && random_uniform(random, 0, 1) < 0.9)
                add(&a, random, i, j);
    return a;
}

static struct entries block_entries(struct random_numbers *random, int64_t size, int64_t blocks)
{
    const int64_t n = size * 77 + 1;
    struct entries a = entries_create(n, n, blocks * size * size);
    for (int64_t k = 0; k < blocks; k++) {
        const int64_t i = random_below(random, 77) * size, j = random_below(random, 77) * size;
        for (int64_t r = 0; r < size * size; r++)
            add(&a, random, i + r / size, j + r % size);
    }
    return a;
}

/* One dense row, some long ones and many short or empty ones. */
static struct entries uneven_entries(struct random_numbers *random, int64_t n)
{
    struct entries a = entries_create(n, n, 3 * n + 4000);
    for (int64_t j = 0; j < n; j++)
        add(&a, random, n / 3, j);
    for (int64_t k = 0; k < 4000; k++)
        add(&a, random, (k % 8) * (n / 9), random_below(random, n));
    for (int64_t k = 0; k < 2 * n; k++)
        add(&a, random, random_below(random, n / 2), random_below(random, n));
    return a;
}

/* Rows of one length, and one dense row. */
static struct entries even_entries(struct random_numbers *random, int64_t n)
{
    struct entries a = entries_create(n, n, 5 * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < (i == n / 2 ? n : 4); k++)
            add(&a, random, i, i == n / 2 ? k : (i + k * (n / 5)) % n);
    return a;
}

/* Rows of two lengths in turns, those of the longer with columns far to the right: where rows are
 * sorted by length, a slice spans less than 65 536 columns. */
static struct entries two_sided_entries(struct random_numbers *random, int64_t n)
{
    struct entries a = entries_create(n, 200000, 61 * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < 60 + i % 2; k++)
            add(&a, random, i, i % 2 * 150000 + i % 500 + 17 * k);
    return a;
}

/* Two diagonals off the middle, bit for bit symmetric. */
static struct entries symmetric_entries(struct random_numbers *random, int64_t n)
{
    struct entries a = entries_create(n, n, 5 * n);
    const int64_t offset[] = {1, 7};
    for (int64_t i = 0; i < n; i++) {
        add(&a, random, i, i);
        for (int k = 0; k < 2; k++)
            if (i + offset[k] < n) {
                add(&a, random, i, i + offset[k]);
                add(&a, random, i + offset[k], i);
                a.value[a.count - 1] = a.value[a.count - 2];
            }
    }
    return a;
}

struct choice {
    kith_sparse_format format;
    kith_sparse_kernel kernel;
    int32_t block;
    const char *name;
};

static const struct choice choices[] = {
    {KITH_SPARSE_AUTO, KITH_SPARSE_KERNEL_AUTO, 0, "auto"},
    {KITH_SPARSE_COO, KITH_SPARSE_ELEMENT, 0, "coo"},
    {KITH_SPARSE_CSR, KITH_SPARSE_ROW_THREAD, 0, "csr row-thread"},
    {KITH_SPARSE_CSR, KITH_SPARSE_ROW_VECTOR, 0, "csr row-vector"},
    {KITH_SPARSE_CSR, KITH_SPARSE_MERGE, 0, "csr merge"},
    {KITH_SPARSE_ELL, KITH_SPARSE_KERNEL_AUTO, 0, "ell"},
    {KITH_SPARSE_HYBRID, KITH_SPARSE_KERNEL_AUTO, 0, "hybrid"},
    {KITH_SPARSE_SELL, KITH_SPARSE_KERNEL_AUTO, 0, "sell"},
    {KITH_SPARSE_BSR, KITH_SPARSE_KERNEL_AUTO, 2, "bsr 2"},
    {KITH_SPARSE_BSR, KITH_SPARSE_KERNEL_AUTO, 3, "bsr 3"},
    {KITH_SPARSE_BSR, KITH_SPARSE_KERNEL_AUTO, 4, "bsr 4"},
    {KITH_SPARSE_DIA, KITH_SPARSE_KERNEL_AUTO, 0, "dia"},
};

enum { choice_count = sizeof choices / sizeof choices[0] };

/* All formats but those in `without`, which would be mostly padding. For the sanitizers each format
 * in one precision, and in the other one the next time. */
static void assert_products(struct random_numbers *random, kith_context *context, struct entries a,
                            const char *matrix, unsigned without)
{
    static const double factors[][2] = {{1, 0}, {-1.5, 0}, {0.5, 1}, {2, -0.25}};
    static int turn;
    turn++;
    for (int d = 0; d < 2; d++)
        for (int c = 0; c < choice_count; c++) {
            const struct choice *choice = &choices[c];
            if (without >> choice->format & 1 || (test_is_quick() && (c + turn) % 2 != d))
                continue;
            const kith_sparse_options options = {
                .format = choice->format, .kernel = choice->kernel, .block = choice->block};
            char what[160];
            snprintf(what, sizeof what, "%s, %lld x %lld, %s, %s", matrix, (long long)a.rows,
                     (long long)a.columns, choice->name, d ? "float" : "double");
            kith_sparse *sparse = make(context, &a, dtypes[d], &options);
            for (int f = 0; f < 4; f += test_is_quick() ? 3 : 1)
                assert_product(random, sparse, &a, dtypes[d], false, 1, factors[f][0],
                               factors[f][1], what);
            for (int64_t vectors = 3; vectors < (test_is_quick() ? 4 : 20); vectors += 5)
                assert_product(random, sparse, &a, dtypes[d], false, vectors, 2,
                               vectors == 8 ? 0 : 0.5, what);
            if (c == 0 || a.rows < 200)
                assert_product(random, sparse, &a, dtypes[d], true, 1, 1, 0.5, what);
            kith_sparse_free(sparse);
        }
    entries_free(&a);
}

enum { without_dia = 1u << KITH_SPARSE_DIA };

static void test_cuda_products_of_random_matrices_are_the_sums(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    static const int64_t shapes[][2] = {{0, 0},   {0, 5},    {5, 0},    {1, 1},    {1, 200},
                                        {200, 1}, {33, 129}, {129, 31}, {257, 255}};
    for (size_t k = test_is_quick() ? 6 : 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        const int64_t most = shapes[k][0] * shapes[k][1];
        assert_products(random, context,
                        random_entries(random, shapes[k][0], shapes[k][1], most / 9), "random", 0);
    }
    assert_products(random, context, random_entries(random, 129, 65, 0), "empty", 0);
    kith_context_free(context);
}

static void test_cuda_products_of_structured_matrices_are_the_sums(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    assert_products(random, context, band_entries(random, 1025, 1023, 3), "band", 0);
    assert_products(random, context, band_entries(random, 501, 1100, 12), "band", 0);
    assert_products(random, context, symmetric_entries(random, 999), "symmetric", 0);
    for (int64_t size = 2; size <= 4; size++)
        assert_products(random, context, block_entries(random, size, 300), "blocks",
                        size > 3 ? without_dia : 0);
    kith_context_free(context);
}

static void test_cuda_products_of_uneven_matrices_are_the_sums(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    assert_products(random, context, two_sided_entries(random, 2048), "two-sided", without_dia);
    const int64_t n = test_is_quick() ? 3000 : 30011;
    const unsigned filled = 1u << KITH_SPARSE_ELL | 1u << KITH_SPARSE_BSR | without_dia;
    assert_products(random, context, uneven_entries(random, n), "uneven", filled);
    assert_products(random, context, even_entries(random, n), "even", filled);
    kith_context_free(context);
}

/* Infinities of x reach the rows that have an entry there, and no others. */
static void test_cuda_filling_takes_no_part(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    struct entries a = band_entries(random, 300, 300, 2);
    for (int c = 0; c < choice_count; c++) {
        const kith_sparse_options options = {
            .format = choices[c].format, .kernel = choices[c].kernel, .block = choices[c].block};
        kith_sparse *sparse = make(context, &a, KITH_F64, &options);
        kith_array x = random_array(random, KITH_F64, 300, 1);
        kith_array y = new_matrix(KITH_F64, 300, 1);
        int touched[300] = {0};
        for (int64_t j = 0; j < 300; j += 50)
            put(x, j, j % 100 ? INFINITY : NAN);
        for (int64_t k = 0; k < a.count; k++)
            touched[a.row[k]] |= a.column[k] % 50 == 0 ? a.column[k] % 100 ? 1 : 2 : 0;
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, y));
        for (int64_t i = 0; i < 300; i++) {
            const bool right = touched[i] & 2   ? isnan(get(y, i))
                               : touched[i] & 1 ? isinf(get(y, i))
                                                : isfinite(get(y, i));
            if (!right)
                fail_msg("%s: row %lld is %g", choices[c].name, (long long)i, get(y, i));
        }
        free(x.data);
        free(y.data);
        kith_sparse_free(sparse);
    }
    entries_free(&a);
    kith_context_free(context);
}

static kith_array to_device(const void *data, kith_dtype dtype, int64_t n)
{
    return gpu_array_of(kith_array_vector((void *)data, dtype, n), 1, 1);
}

/* From the device's arrays, of 32-bit indices from 1, the matrix is the one of the host's. */
static void test_cuda_matrices_of_arrays_on_the_device_are_the_same(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    struct entries a = random_entries(random, 500, 700, 9000);
    int32_t *row = malloc(9000 * sizeof *row);
    for (int64_t k = 0; k < a.count; k++) {
        row[k] = (int32_t)a.row[k] + 1;
        a.column[k]++;
    }
    kith_array arrays[] = {to_device(row, KITH_I32, a.count),
                           to_device(a.column, KITH_I64, a.count),
                           to_device(a.value, KITH_F64, a.count)};
    const kith_sparse_options options = {.index_base = 1};
    kith_sparse *sparse = NULL, *expected = NULL;
    assert_ok(kith_sparse_create_coo(context, &options, 500, 700, arrays[0], arrays[1], arrays[2],
                                     &sparse));
    assert_ok(kith_sparse_create_coo(context, &options, 500, 700,
                                     kith_array_vector(row, KITH_I32, a.count),
                                     kith_array_vector(a.column, KITH_I64, a.count),
                                     kith_array_vector(a.value, KITH_F64, a.count), &expected));
    for (int t = 0; t < 2; t++) {
        const kith_sparse_operation operation = t ? KITH_SPARSE_TRANSPOSED : KITH_SPARSE_AS_IS;
        kith_array x = random_array(random, KITH_F64, t ? 500 : 700, 1);
        kith_array y = new_matrix(KITH_F64, 700, 1), z = new_matrix(KITH_F64, 700, 1);
        y.shape[0] = z.shape[0] = t ? 700 : 500;
        assert_ok(kith_sparse_multiply(sparse, operation, 1, x, 0, y));
        assert_ok(kith_sparse_multiply(expected, operation, 1, x, 0, z));
        assert_memory_equal(y.data, z.data, (size_t)y.shape[0] * sizeof(double));
        free(x.data);
        free(y.data);
        free(z.data);
    }
    kith_sparse_free(sparse);
    kith_sparse_free(expected);
    for (int k = 0; k < 3; k++)
        cudaFree(arrays[k].data);
    free(row);
    entries_free(&a);
    kith_context_free(context);
}

static void test_cuda_wrong_indices_on_the_device_are_named(void **state)
{
    (void)state;
    kith_context *context = new_gpu_context(NULL);
    const int32_t row[] = {0, 1, 2, 1}, column[] = {0, 3, 1, 4}, start[] = {0, 2, 1, 4};
    const double value[] = {1, 2, 3, 4};
    kith_array r = to_device(row, KITH_I32, 4), c = to_device(column, KITH_I32, 4);
    kith_array s = to_device(start, KITH_I32, 4), v = to_device(value, KITH_F64, 4);
    kith_sparse *sparse = NULL;
    assert_fails(kith_sparse_create_coo(context, NULL, 3, 4, r, c, v, &sparse),
                 KITH_INVALID_ARGUMENT, "column[3] 4 4");
    assert_fails(kith_sparse_create_coo(context, NULL, 2, 5, r, c, v, &sparse),
                 KITH_INVALID_ARGUMENT, "row[2] 2 2");
    assert_fails(kith_sparse_create_csr(context, NULL, 5, s, c, v, &sparse), KITH_INVALID_ARGUMENT,
                 "row_start[2] 1");
    assert_null(sparse);
    cudaFree(r.data);
    cudaFree(c.data);
    cudaFree(s.data);
    cudaFree(v.data);
    kith_context_free(context);
}

/* After a first product nothing is allocated: it can be recorded, and replayed with another x. */
static void test_cuda_products_can_be_recorded(void **state)
{
    struct random_numbers *random = *state;
    cudaStream_t stream;
    assert_cuda(cudaStreamCreate(&stream));
    kith_context *context = new_gpu_context(stream);
    struct entries a = uneven_entries(random, 2000);
    for (int64_t vectors = 1; vectors <= 5; vectors += 4) {
        kith_sparse *sparse = make(context, &a, KITH_F64, NULL);
        kith_array x = random_array(random, KITH_F64, 2000, vectors);
        kith_array y = new_matrix(KITH_F64, 2000, vectors), z = new_matrix(KITH_F64, 2000, vectors);
        kith_array on_device[] = {gpu_array_of(x, 2, 1), gpu_array_of(y, 1, 0)};
        cudaGraph_t graph;
        cudaGraphExec_t replay;
        assert_ok(
            kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, on_device[0], 0, on_device[1]));
        assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        assert_ok(
            kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, on_device[0], 0, on_device[1]));
        assert_cuda(cudaStreamEndCapture(stream, &graph));
        assert_cuda(cudaGraphInstantiate(&replay, graph, 0));
        for (int64_t k = 0; k < elements(x); k++)
            put(x, k, random_uniform(random, -1, 1));
        gpu_transfer(on_device[0], x, true);
        for (int round = 0; round < 3; round++)
            assert_cuda(cudaGraphLaunch(replay, stream));
        assert_cuda(cudaStreamSynchronize(stream));
        gpu_transfer(on_device[1], y, false);
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, z));
        assert_memory_equal(y.data, z.data, (size_t)elements(y) * sizeof(double));
        assert_cuda(cudaGraphExecDestroy(replay));
        assert_cuda(cudaGraphDestroy(graph));
        cudaFree(on_device[0].data);
        cudaFree(on_device[1].data);
        free(x.data);
        free(y.data);
        free(z.data);
        kith_sparse_free(sparse);
    }
    entries_free(&a);
    kith_context_free(context);
    assert_cuda(cudaStreamDestroy(stream));
}

/* Sums in parts, by whoever comes last, in one order. */
static void test_cuda_products_have_the_same_bits_every_time(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const int64_t n = test_is_quick() ? 5000 : 100003;
    struct entries a = uneven_entries(random, n);
    static const struct choice cut[] = {
        {KITH_SPARSE_SELL, KITH_SPARSE_KERNEL_AUTO, 0, "sell"},
        {KITH_SPARSE_CSR, KITH_SPARSE_MERGE, 0, "merge"},
        {KITH_SPARSE_COO, KITH_SPARSE_ELEMENT, 0, "coo"},
    };
    for (int c = 0; c < 3; c++) {
        const kith_sparse_options options = {.format = cut[c].format, .kernel = cut[c].kernel};
        kith_sparse *sparse = make(context, &a, KITH_F32, &options);
        kith_array x = random_array(random, KITH_F32, n, 1);
        kith_array first = new_matrix(KITH_F32, n, 1), y = new_matrix(KITH_F32, n, 1);
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, first));
        for (int round = 0; round < (test_is_quick() ? 2 : 50); round++) {
            assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, y));
            assert_memory_equal(first.data, y.data, (size_t)n * sizeof(float));
        }
        free(x.data);
        free(first.data);
        free(y.data);
        kith_sparse_free(sparse);
    }
    entries_free(&a);
    kith_context_free(context);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("test_cuda_sparse");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_products_of_random_matrices_are_the_sums, &random),
        cmocka_unit_test_prestate(test_cuda_products_of_structured_matrices_are_the_sums, &random),
        cmocka_unit_test_prestate(test_cuda_products_of_uneven_matrices_are_the_sums, &random),
        cmocka_unit_test_prestate(test_cuda_filling_takes_no_part, &random),
        cmocka_unit_test_prestate(test_cuda_matrices_of_arrays_on_the_device_are_the_same, &random),
        cmocka_unit_test_prestate(test_cuda_wrong_indices_on_the_device_are_named, &random),
        cmocka_unit_test_prestate(test_cuda_products_can_be_recorded, &random),
        cmocka_unit_test_prestate(test_cuda_products_have_the_same_bits_every_time, &random),
    };
    if (gpu_is_absent("test_cuda_sparse"))
        return exit_skipped;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
