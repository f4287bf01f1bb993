/* Sparse matrices on the GPU whose rows are so long that they go by panels of columns. */

#include "gpu_sparse.h"

/* Every fourth row a run, every fourth scattered all over, every fourth just long, the others
 * short. */
static struct entries long_entries(struct random_numbers *random, int64_t rows, int64_t columns)
{
    static const int64_t length[] = {9000, 6000, 300, 5};
    struct entries a = entries_create(rows, columns, rows * 9000);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t first = random_below(random, columns - length[0]);
        for (int64_t k = 0; k < length[i % 4]; k++)
            add(&a, random, i, i % 4 == 0 ? first + k : random_below(random, columns));
    }
    return a;
}

static void test_cuda_products_of_long_rows_are_the_sums(void **state)
{
    struct random_numbers *random = *state;
    static const kith_sparse_options sell = {.format = KITH_SPARSE_SELL};
    kith_context *context = new_gpu_context(NULL);
    struct entries a = long_entries(random, 401, 40001);
    for (int d = 0; d < 2; d++) {
        const char *what = d ? "long rows, float" : "long rows, double";
        kith_sparse *sparse = make(context, &a, dtypes[d], &sell);
        assert_product(random, sparse, &a, dtypes[d], false, 1, 1, 0, what);
        assert_product(random, sparse, &a, dtypes[d], false, 1, 0.5, -2, what);
        assert_product(random, sparse, &a, dtypes[d], false, 8, 1, 0, what);
        assert_product(random, sparse, &a, dtypes[d], true, 1, 1, 0, what);
        kith_sparse_free(sparse);
    }
    entries_free(&a);
    kith_context_free(context);
}

/* An infinity in each column in turn that is at the edge of something. */
static void test_cuda_infinities_reach_the_long_rows_that_have_them(void **state)
{
    struct random_numbers *random = *state;
    static const int64_t at[] = {0, 1, 12223, 12224, 24447, 24448, 40000};
    static const kith_sparse_options sell = {.format = KITH_SPARSE_SELL};
    enum { rows = 401, columns = 40001 };
    kith_context *context = new_gpu_context(NULL);
    struct entries a = long_entries(random, rows, columns);
    for (int d = 0; d < 2; d++) {
        kith_sparse *sparse = make(context, &a, dtypes[d], &sell);
        kith_array x = random_array(random, dtypes[d], columns, 1);
        kith_array y = new_matrix(dtypes[d], rows, 1);
        for (size_t k = 0; k < sizeof at / sizeof at[0]; k++) {
            bool touched[rows] = {false};
            for (int64_t e = 0; e < a.count; e++)
                touched[a.row[e]] |= a.column[e] == at[k];
            put(x, at[k], INFINITY);
            assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, y));
            put(x, at[k], 0.25);
            for (int64_t i = 0; i < rows; i++)
                if (touched[i] != !isfinite(get(y, i)))
                    fail_msg("infinity in column %lld: row %lld is %g", (long long)at[k],
                             (long long)i, get(y, i));
        }
        free(x.data);
        free(y.data);
        kith_sparse_free(sparse);
    }
    entries_free(&a);
    kith_context_free(context);
}

/* Whichever warp takes a slice, and however often. */
static void test_cuda_products_of_long_rows_have_the_same_bits_every_time(void **state)
{
    struct random_numbers *random = *state;
    static const kith_sparse_options sell = {.format = KITH_SPARSE_SELL};
    enum { rows = 401, columns = 40001 };
    kith_context *context = new_gpu_context(NULL);
    struct entries a = long_entries(random, rows, columns);
    kith_array x = random_array(random, KITH_F32, columns, 1);
    kith_array first = new_matrix(KITH_F32, rows, 1), y = new_matrix(KITH_F32, rows, 1);
    for (int made = 0; made < 3; made++) {
        kith_sparse *sparse = make(context, &a, KITH_F32, &sell);
        for (int round = 0; round < (test_is_quick() ? 2 : 20); round++) {
            kith_array to = made + round == 0 ? first : y;
            assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, to));
            if (made + round > 0)
                assert_memory_equal(first.data, y.data, rows * sizeof(float));
        }
        kith_sparse_free(sparse);
    }
    free(x.data);
    free(first.data);
    free(y.data);
    entries_free(&a);
    kith_context_free(context);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("test_cuda_sparse_long");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_products_of_long_rows_are_the_sums, &random),
        cmocka_unit_test_prestate(test_cuda_infinities_reach_the_long_rows_that_have_them, &random),
        cmocka_unit_test_prestate(test_cuda_products_of_long_rows_have_the_same_bits_every_time,
                                  &random),
    };
    if (gpu_is_absent("test_cuda_sparse_long"))
        return exit_skipped;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
