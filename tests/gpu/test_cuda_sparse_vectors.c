/* Products with multiple right-hand sides on the GPU, row-major and column-major, of matrices that
 * have kernels of their own for them. */

#include "gpu_sparse.h"

/* Neighbors on a grid, each pair with one value: with the corners 27 diagonals, else 7. Not bit
 * for bit symmetric if it is to be stored whole. */
static struct entries grid_entries(struct random_numbers *random, const int64_t size[3],
                                   bool corners, bool is_symmetric)
{
    const int64_t n = size[0] * size[1] * size[2];
    struct entries a = entries_create(n, n, 27 * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 13; k < 27; k++) {
            const int64_t d[] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            const int64_t x = i % size[0] + d[0], y = i / size[0] % size[1] + d[1],
                          z = i / size[0] / size[1] + d[2];
            if (x < 0 || x >= size[0] || y < 0 || y >= size[1] || z < 0 || z >= size[2] ||
                (!corners && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 1))
                continue;
            const int64_t j = (z * size[1] + y) * size[0] + x;
            add(&a, random, i, j);
            if (j == i)
                continue;
            add(&a, random, j, i);
            if (is_symmetric)
                a.value[a.count - 1] = a.value[a.count - 2];
        }
    return a;
}

static struct entries band_entries(struct random_numbers *random, int64_t rows, int64_t columns,
                                   int64_t low, int64_t high)
{
    struct entries a = entries_create(rows, columns, rows * (high - low + 1));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i + low; j <= i + high; j++)
            if (j >= 0 && j < columns)
                add(&a, random, i, j);
    return a;
}

/* Rows of up to 40 entries, most of them empty, and a long one. */
static struct entries sorted_entries(struct random_numbers *random, int64_t n)
{
    struct entries a = entries_create(n, n, 5 * n);
    for (int64_t i = 0; i < n; i += 1 + random_below(random, 20))
        for (int64_t k = random_below(random, 40); k > 0; k--)
            add(&a, random, i, random_below(random, n));
    for (int64_t j = 0; j < n; j += 2)
        add(&a, random, n / 2, j);
    return a;
}

/* Rows of 4 to 7 entries and of 100, one of them in a hundred: windows would be padded much. */
static struct entries uneven_entries(struct random_numbers *random, int64_t n)
{
    struct entries a = entries_create(n, n, 100 * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i % 100 == 50 ? 100 : 4 + random_below(random, 4); k > 0; k--)
            add(&a, random, i, random_below(random, n));
    return a;
}

/* On the device, one vector behind the other. */
static kith_array columns_of(kith_array host)
{
    const int64_t rows = host.shape[0], vectors = host.shape[1];
    kith_array turned = new_matrix(host.dtype, vectors, rows);
    for (int64_t k = 0; k < rows * vectors; k++)
        put(turned, k % vectors * rows + k / vectors, get(host, k));
    kith_array array = gpu_array_of(turned, 1, 0);
    array.shape[0] = rows;
    array.shape[1] = vectors;
    array.strides[0] = 1;
    array.strides[1] = rows;
    free(turned.data);
    return array;
}

static kith_array rows_of(kith_array device, int64_t rows, int64_t vectors)
{
    kith_array turned = new_matrix(device.dtype, vectors, rows);
    kith_array made = new_matrix(device.dtype, rows, vectors);
    device.shape[0] = vectors;
    device.shape[1] = rows;
    device.strides[0] = rows;
    device.strides[1] = 1;
    gpu_transfer(device, turned, false);
    for (int64_t k = 0; k < rows * vectors; k++)
        put(made, k, get(turned, k % vectors * rows + k / vectors));
    free(turned.data);
    return made;
}

/* Both ways of lying give the sums, with the same bits. */
static void assert_both_ways(struct random_numbers *random, kith_sparse *sparse,
                             const struct entries *a, kith_dtype dtype, int64_t vectors,
                             double beta, const char *what)
{
    const size_t bytes = (size_t)(a->rows * vectors * kith_dtype_bytes(dtype));
    kith_array x = random_array(random, dtype, a->columns, vectors);
    kith_array y = random_array(random, dtype, a->rows, vectors);
    kith_array found = new_matrix(dtype, a->rows, vectors);
    for (int64_t k = 0; beta == 0 && k < a->rows * vectors; k++)
        put(y, k, NAN);
    long double *sum = malloc(((size_t)(a->rows * vectors) + 1) * sizeof *sum);
    long double *error = malloc(((size_t)(a->rows * vectors) + 1) * sizeof *error);
    expect(a, false, 1.5, x, beta, y, vectors, sum, error);
    const kith_array by_rows[] = {gpu_array_of(x, 1, 0), gpu_array_of(y, 1, 0)};
    const kith_array by_columns[] = {columns_of(x), columns_of(y)};
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1.5, by_rows[0], beta, by_rows[1]));
    gpu_transfer(by_rows[1], found, false);
    assert_as_expected(found, sum, error, what);
    assert_ok(
        kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1.5, by_columns[0], beta, by_columns[1]));
    kith_array again = rows_of(by_columns[1], a->rows, vectors);
    assert_memory_equal(found.data, again.data, bytes);
    for (int k = 0; k < 2; k++) {
        cudaFree(by_rows[k].data);
        cudaFree(by_columns[k].data);
    }
    free(x.data);
    free(y.data);
    free(found.data);
    free(again.data);
    free(sum);
    free(error);
}

static void assert_all_ways(struct random_numbers *random, kith_context *context, struct entries a,
                            kith_sparse_format format, const char *what)
{
    const kith_sparse_options options = {.format = format};
    for (int d = 0; d < 2; d++) {
        kith_sparse *sparse = make(context, &a, dtypes[d], &options);
        static const int64_t counts[] = {8, 16, 5};
        for (int c = 0; c < (test_is_quick() ? 1 : 3); c++) {
            assert_both_ways(random, sparse, &a, dtypes[d], counts[c], 0, what);
            assert_both_ways(random, sparse, &a, dtypes[d], counts[c], -0.5, what);
        }
        kith_sparse_free(sparse);
    }
    entries_free(&a);
}

static void test_cuda_vectors_meet_the_neighbors_on_grids(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    static const int64_t sizes[][3] = {{32, 16, 9}, {33, 17, 10}, {100, 7, 5}, {70, 40, 1},
                                       {5, 6, 7},   {64, 1, 40},  {40, 40, 12}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int whole = 0; whole < 2; whole++)
            assert_all_ways(random, context, grid_entries(random, sizes[k], false, !whole),
                            KITH_SPARSE_DIA, "7 points");
    assert_all_ways(random, context, grid_entries(random, sizes[1], true, true), KITH_SPARSE_DIA,
                    "27 points");
    kith_context_free(context);
}

static void test_cuda_vectors_meet_bands(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    static const int64_t bands[][4] = {
        {1000, 1000, -12, 12}, {1003, 990, -12, 12}, {517, 600, 3, 9},     {600, 517, -20, -1},
        {129, 129, 0, 0},      {3, 3, -2, 2},        {2001, 2001, -31, 32}};
    for (size_t k = 0; k < sizeof bands / sizeof bands[0]; k++)
        assert_all_ways(random, context,
                        band_entries(random, bands[k][0], bands[k][1], bands[k][2], bands[k][3]),
                        KITH_SPARSE_DIA, "band");
    kith_context_free(context);
}

static void test_cuda_vectors_meet_slices_sorted_or_not(void **state)
{
    struct random_numbers *random = *state;
    kith_context *context = new_gpu_context(NULL);
    const int64_t n = test_is_quick() ? 2000 : 20011;
    assert_all_ways(random, context, sorted_entries(random, n), KITH_SPARSE_SELL, "sorted");
    assert_all_ways(random, context, uneven_entries(random, n), KITH_SPARSE_SELL, "uneven");
    assert_all_ways(random, context, band_entries(random, n, n, -3, 4), KITH_SPARSE_SELL, "slices");
    assert_all_ways(random, context, band_entries(random, n, n, -3, 4), KITH_SPARSE_ELL, "ell");
    kith_context_free(context);
}

/* An infinity in one vector reaches the rows that have an entry there, in that vector alone. */
static void test_cuda_filling_takes_no_part_in_vectors(void **state)
{
    struct random_numbers *random = *state;
    enum { rows = 600, vectors = 8 };
    static const kith_sparse_format formats[] = {KITH_SPARSE_DIA, KITH_SPARSE_BSR, KITH_SPARSE_SELL,
                                                 KITH_SPARSE_ELL, KITH_SPARSE_CSR};
    kith_context *context = new_gpu_context(NULL);
    struct entries a = entries_create(rows, rows, 5 * rows);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i - 2; j <= i + 2; j++)
            if (j >= 0 && j < rows && (i * 7 + j * 3) % 5 > 0)
                add(&a, random, i, j);
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        const kith_sparse_options options = {.format = formats[f]};
        kith_sparse *sparse = make(context, &a, KITH_F64, &options);
        kith_array x = random_array(random, KITH_F64, rows, vectors);
        kith_array y = new_matrix(KITH_F64, rows, vectors);
        bool touched[rows][vectors] = {{false}};
        for (int64_t j = 0; j < rows; j += 40)
            put(x, j * vectors + j / 40 % vectors, INFINITY);
        for (int64_t k = 0; k < a.count; k++)
            if (a.column[k] % 40 == 0)
                touched[a.row[k]][a.column[k] / 40 % vectors] = true;
        assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, y));
        for (int64_t k = 0; k < rows * vectors; k++)
            if (isfinite(get(y, k)) == touched[k / vectors][k % vectors])
                fail_msg("format %d: row %lld of vector %lld is %g", (int)formats[f],
                         (long long)(k / vectors), (long long)(k % vectors), get(y, k));
        free(x.data);
        free(y.data);
        kith_sparse_free(sparse);
    }
    entries_free(&a);
    kith_context_free(context);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("test_cuda_sparse_vectors");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_vectors_meet_the_neighbors_on_grids, &random),
        cmocka_unit_test_prestate(test_cuda_vectors_meet_bands, &random),
        cmocka_unit_test_prestate(test_cuda_vectors_meet_slices_sorted_or_not, &random),
        cmocka_unit_test_prestate(test_cuda_filling_takes_no_part_in_vectors, &random),
    };
    if (gpu_is_absent("test_cuda_sparse_vectors"))
        return exit_skipped;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
