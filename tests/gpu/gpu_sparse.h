#ifndef TESTS_GPU_SPARSE_H
#define TESTS_GPU_SPARSE_H

/* What the tests of sparse matrices on a GPU share: matrices as their entries, and products beside
 * sums in long double. */

#include "gpu_testing.h"

/* A matrix as its entries. */
struct entries {
    int64_t rows, columns, count;
    int64_t *row, *column;
    double *value;
};

static inline struct entries entries_create(int64_t rows, int64_t columns, int64_t most)
{
    const size_t n = (size_t)most + 1;
    return (struct entries){rows,
                            columns,
                            0,
                            malloc(n * sizeof(int64_t)),
                            malloc(n * sizeof(int64_t)),
                            malloc(n * sizeof(double))};
}

static inline void entries_free(struct entries *a)
{
    free(a->row);
    free(a->column);
    free(a->value);
}

static inline void add(struct entries *a, struct random_numbers *random, int64_t i, int64_t j)
{
    a->row[a->count] = i;
    a->column[a->count] = j;
    a->value[a->count++] = (float)random_uniform(random, -1, 1);
}

static inline int64_t random_below(struct random_numbers *random, int64_t n)
{
    const int64_t k = (int64_t)random_uniform(random, 0, (double)n);
    return k < n ? k : n - 1;
}

static inline kith_sparse *make(kith_context *context, const struct entries *a, kith_dtype dtype,
                                const kith_sparse_options *options)
{
    kith_sparse *sparse = NULL;
    kith_array value = new_vector(dtype, a->count);
    for (int64_t k = 0; k < a->count; k++)
        put(value, k, a->value[k]);
    assert_ok(kith_sparse_create_coo(
        context, options, a->rows, a->columns, kith_array_vector(a->row, KITH_I64, a->count),
        kith_array_vector(a->column, KITH_I64, a->count), value, &sparse));
    free(value.data);
    return sparse;
}

/* What a product is to be, and how far from it a sum of so many terms may be. */
static inline void expect(const struct entries *a, bool transposed, double alpha, kith_array x,
                          double beta, kith_array y, int64_t vectors, long double *sum,
                          long double *error)
{
    const int64_t rows = transposed ? a->columns : a->rows;
    long double *terms = calloc((size_t)rows + 1, sizeof *terms);
    for (int64_t k = 0; k < rows * vectors; k++) {
        sum[k] = beta == 0 ? 0 : (long double)beta * (long double)get(y, k);
        error[k] = fabsl(sum[k]);
    }
    for (int64_t e = 0; e < a->count; e++) {
        const int64_t i = transposed ? a->column[e] : a->row[e];
        const int64_t j = transposed ? a->row[e] : a->column[e];
        terms[i]++;
        for (int64_t k = 0; k < vectors; k++) {
            const long double term = (long double)alpha * (long double)a->value[e] *
                                     (long double)get(x, j * vectors + k);
            sum[i * vectors + k] += term;
            error[i * vectors + k] += fabsl(term);
        }
    }
    for (int64_t k = 0; k < rows * vectors; k++)
        error[k] *= (terms[k / vectors] + 4) * (x.dtype == KITH_F64 ? 0x1p-52L : 0x1p-23L);
    free(terms);
}

static inline void assert_as_expected(kith_array y, const long double *sum,
                                      const long double *error, const char *what)
{
    for (int64_t k = 0; k < elements(y); k++)
        if (!(fabsl((long double)get(y, k) - sum[k]) <= error[k]))
            fail_msg("%s: element %lld is %.17g, expected %.17Lg within %.3Lg", what, (long long)k,
                     get(y, k), sum[k], error[k]);
}

static inline kith_array random_array(struct random_numbers *random, kith_dtype dtype, int64_t rows,
                                      int64_t vectors)
{
    kith_array array = new_matrix(dtype, rows, vectors);
    for (int64_t k = 0; k < rows * vectors; k++)
        put(array, k, random_uniform(random, -1, 1));
    return array;
}

/* Products of the device's arrays, with gaps, and of the host's: as expected, with the same bits.
 */
static inline void assert_product(struct random_numbers *random, kith_sparse *sparse,
                                  const struct entries *a, kith_dtype dtype, bool transposed,
                                  int64_t vectors, double alpha, double beta, const char *what)
{
    const kith_sparse_operation operation = transposed ? KITH_SPARSE_TRANSPOSED : KITH_SPARSE_AS_IS;
    const int64_t rows = transposed ? a->columns : a->rows;
    const int64_t columns = transposed ? a->rows : a->columns;
    const size_t bytes = (size_t)(rows * vectors * kith_dtype_bytes(dtype));
    kith_array x = random_array(random, dtype, columns, vectors);
    kith_array y = random_array(random, dtype, rows, vectors);
    for (int64_t k = 0; beta == 0 && k < rows * vectors; k++)
        put(y, k, NAN);
    kith_array fetched = new_matrix(dtype, rows, vectors);
    long double *sum = malloc(((size_t)(rows * vectors) + 1) * sizeof *sum);
    long double *error = malloc(((size_t)(rows * vectors) + 1) * sizeof *error);
    expect(a, transposed, alpha, x, beta, y, vectors, sum, error);

    const kith_array on_device[] = {gpu_array_of(x, 2, 3), gpu_array_of(y, 3, 1)};
    assert_ok(kith_sparse_multiply(sparse, operation, alpha, on_device[0], beta, on_device[1]));
    gpu_transfer(on_device[1], fetched, false);
    assert_as_expected(fetched, sum, error, what);
    assert_ok(kith_sparse_multiply(sparse, operation, alpha, x, beta, y));
    assert_memory_equal(y.data, fetched.data, bytes);
    cudaFree(on_device[0].data);
    cudaFree(on_device[1].data);
    free(x.data);
    free(y.data);
    free(fetched.data);
    free(sum);
    free(error);
}

static const kith_dtype dtypes[] = {KITH_F64, KITH_F32};

#endif
