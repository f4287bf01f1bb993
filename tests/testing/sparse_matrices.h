#ifndef TESTS_SPARSE_MATRICES_H
#define TESTS_SPARSE_MATRICES_H

/* Random sparse matrices as lists of entries, and their products in long double, straight from the
 * list. */

#include "random_numbers.h"
#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct entries {
    int64_t rows, columns, count;
    int64_t *row, *column;
    double *value;
};

static inline int64_t random_below(struct random_numbers *numbers, int64_t count)
{
    return (int64_t)random_uniform(numbers, 0, (double)count);
}

static inline struct entries entries_create(int64_t rows, int64_t columns, int64_t most)
{
    struct entries entries = {rows, columns, 0, NULL, NULL, NULL};
    entries.row = malloc((size_t)(most + 1) * sizeof *entries.row);
    entries.column = malloc((size_t)(most + 1) * sizeof *entries.column);
    entries.value = malloc((size_t)(most + 1) * sizeof *entries.value);
    return entries;
}

static inline void entries_free(struct entries *entries)
{
    free(entries->row);
    free(entries->column);
    free(entries->value);
}

/* Values are multiples of 1/64, so that they are the same in float. */
static inline void entries_add(struct entries *entries, struct random_numbers *numbers, int64_t row,
                               int64_t column)
{
    entries->row[entries->count] = row;
    entries->column[entries->count] = column;
    entries->value[entries->count++] = (double)(random_below(numbers, 257) - 128) / 64;
}

/* Entries anywhere, in any order, some of them in the same place. */
static inline struct entries entries_anywhere(struct random_numbers *numbers, int64_t rows,
                                              int64_t columns, int64_t count)
{
    struct entries entries = entries_create(rows, columns, count);
    for (int64_t k = 0; k < count; k++)
        entries_add(&entries, numbers, random_below(numbers, rows), random_below(numbers, columns));
    return entries;
}

/* y = α op(A) x + β y for vector v of k (element i·k + v), and the sum of the terms' magnitudes. */
static inline void entries_multiply(const struct entries *entries, bool transposed, double alpha,
                                    const double *x, double beta, const double *y, int64_t vectors,
                                    int64_t v, long double *sum, long double *magnitude)
{
    const int64_t rows = transposed ? entries->columns : entries->rows;
    for (int64_t i = 0; i < rows; i++) {
        sum[i] = beta == 0 ? 0 : (long double)beta * y[i * vectors + v];
        magnitude[i] = fabsl(sum[i]);
    }
    for (int64_t k = 0; k < entries->count; k++) {
        const int64_t i = transposed ? entries->column[k] : entries->row[k];
        const int64_t j = transposed ? entries->row[k] : entries->column[k];
        const long double term = (long double)alpha * entries->value[k] * x[j * vectors + v];
        sum[i] += term;
        magnitude[i] += fabsl(term);
    }
}

static inline double element_of(const void *array, kith_dtype dtype, int64_t k)
{
    return dtype == KITH_F64 ? ((const double *)array)[k] : (double)((const float *)array)[k];
}

static inline void set_element(void *array, kith_dtype dtype, int64_t k, double value)
{
    if (dtype == KITH_F64)
        ((double *)array)[k] = value;
    else
        ((float *)array)[k] = (float)value;
}

/* The same numbers in a dtype, on the heap. */
static inline void *numbers_as(kith_dtype dtype, const double *values, int64_t count)
{
    void *array = malloc((size_t)(count + 1) * (size_t)kith_dtype_bytes(dtype));
    for (int64_t k = 0; k < count; k++)
        set_element(array, dtype, k, values[k]);
    return array;
}

static inline kith_sparse *sparse_of(kith_context *context, const kith_sparse_options *options,
                                     kith_dtype dtype, const struct entries *entries)
{
    kith_sparse *sparse = NULL;
    void *value = numbers_as(dtype, entries->value, entries->count);
    assert_ok(kith_sparse_create_coo(context, options, entries->rows, entries->columns,
                                     kith_array_vector(entries->row, KITH_I64, entries->count),
                                     kith_array_vector(entries->column, KITH_I64, entries->count),
                                     kith_array_vector(value, dtype, entries->count), &sparse));
    free(value);
    return sparse;
}

/* Fails unless y is the expected vector up to rounding; NaN and infinity must be the same. */
static inline void check_product(const char *what, const struct entries *entries, bool transposed,
                                 double alpha, const double *x, double beta, const double *before,
                                 const void *y, kith_dtype dtype, int64_t vectors)
{
    const int64_t rows = transposed ? entries->columns : entries->rows;
    const long double ulp = dtype == KITH_F64 ? DBL_EPSILON : (long double)FLT_EPSILON;
    long double *sum = malloc((size_t)(rows + 1) * sizeof *sum);
    long double *magnitude = malloc((size_t)(rows + 1) * sizeof *magnitude);
    for (int64_t v = 0; v < vectors; v++) {
        entries_multiply(entries, transposed, alpha, x, beta, before, vectors, v, sum, magnitude);
        for (int64_t i = 0; i < rows; i++) {
            const long double found = element_of(y, dtype, i * vectors + v);
            const bool same =
                isfinite(sum[i]) ? fabsl(found - sum[i]) <=
                                       ulp * (8 + sqrtl((long double)entries->count)) * magnitude[i]
                                 : (isnan(sum[i]) ? isnan(found) : found == sum[i]);
            if (!same)
                fail_msg("%s: %lld x %lld, %s, %s: y[%lld] of vector %lld is %.17Lg, not %.17Lg",
                         what, (long long)entries->rows, (long long)entries->columns,
                         dtype == KITH_F64 ? "double" : "float",
                         transposed ? "transposed" : "as is", (long long)i, (long long)v, found,
                         sum[i]);
        }
    }
    free(sum);
    free(magnitude);
}

#endif
