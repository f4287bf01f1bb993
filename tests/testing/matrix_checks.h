#ifndef TESTS_MATRIX_CHECKS_H
#define TESTS_MATRIX_CHECKS_H

/* What the interaction matrix promises, of any context: arrays are the host's. */

#include "matrix_system.h"

/* A matrix to check: the law and the sets, columns NULL for the rows. */
struct matrix_case {
    kith_context *context;
    const char *name;
    const kith_law *law;
    kith_matrix_options options;
    const struct matrix_set *rows, *columns;
};

static inline int64_t case_columns(const struct matrix_case *c)
{
    return c->columns ? c->columns->n : c->rows->n;
}

static inline const kith_particles *case_particles(const struct matrix_case *c)
{
    return c->columns ? &c->columns->particles : NULL;
}

/* Whether j = i counts in what is computed of the matrix without keeping it. */
static inline bool case_counts_diagonal(const struct matrix_case *c)
{
    return c->columns || c->options.diagonal != KITH_DIAGONAL_ZERO;
}

static inline kith_array case_matrix(const struct matrix_case *c, kith_matrix_method method)
{
    kith_matrix_options options = c->options;
    const kith_array matrix = matrix_new(c->rows->dtype, c->rows->n, case_columns(c));
    options.method = method;
    assert_ok(kith_matrix_compute(c->context, c->law, &options, &c->rows->particles,
                                  case_particles(c), matrix));
    return matrix;
}

/* The elements are the reference's, and stay what they are in an array with gaps. */
static inline void check_elements(const struct matrix_case *c)
{
    const int64_t n = c->rows->n, m = case_columns(c);
    const kith_array expected = case_matrix(c, KITH_MATRIX_REFERENCE);
    const kith_array found = case_matrix(c, c->options.method);
    assert_elements_agree(c->name, found, expected);

    kith_array apart = matrix_new(c->rows->dtype, n, 2 * m + 3);
    apart.shape[1] = m;
    apart.strides[1] = 2;
    assert_ok(kith_matrix_compute(c->context, c->law, &c->options, &c->rows->particles,
                                  case_particles(c), apart));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            if (matrix_at(apart, i * apart.strides[0] + 2 * j) != matrix_at(found, i * m + j))
                fail_msg("%s: element %lld, %lld differs in an array with gaps", c->name,
                         (long long)i, (long long)j);
    free(apart.data);
    free(found.data);
    free(expected.data);
}

/* The minimum, the maximum and its place are those of the elements, bit for bit. */
static inline void check_extremes(const struct matrix_case *c)
{
    const int64_t n = c->rows->n, m = case_columns(c);
    const kith_array matrix = case_matrix(c, c->options.method);
    kith_array least = matrix_new_vector(c->rows->dtype, n);
    kith_array greatest = matrix_new_vector(c->rows->dtype, n);
    kith_array place = matrix_new_vector(KITH_I64, n);
    const kith_particles *columns = case_particles(c);
    assert_ok(kith_matrix_reduce(c->context, c->law, &c->options, &c->rows->particles, columns,
                                 KITH_REDUCE_MIN, least));
    assert_ok(kith_matrix_reduce(c->context, c->law, &c->options, &c->rows->particles, columns,
                                 KITH_REDUCE_MAX, greatest));
    assert_ok(kith_matrix_reduce(c->context, c->law, &c->options, &c->rows->particles, columns,
                                 KITH_REDUCE_ARGMIN, place));
    for (int64_t i = 0; i < n; i++) {
        double low = INFINITY, high = -INFINITY;
        int64_t at = -1;
        for (int64_t j = 0; j < m; j++) {
            const double value = matrix_at(matrix, i * m + j);
            if (i == j && !case_counts_diagonal(c))
                continue;
            at = value < low ? j : at;
            low = fmin(low, value);
            high = fmax(high, value);
        }
        if (matrix_at(least, i) != low || matrix_at(greatest, i) != high ||
            ((const int64_t *)place.data)[i] != at)
            fail_msg("%s: row %lld: least %.17g at %lld, greatest %.17g; not %.17g at %lld, %.17g",
                     c->name, (long long)i, matrix_at(least, i),
                     (long long)((const int64_t *)place.data)[i], matrix_at(greatest, i), low,
                     (long long)at, high);
    }
    free(matrix.data);
    free(least.data);
    free(greatest.data);
    free(place.data);
}

/* Σ |V| of each row, by the reference. */
static inline kith_array case_sizes(const struct matrix_case *c)
{
    const int64_t n = c->rows->n, m = case_columns(c);
    const kith_array matrix = case_matrix(c, KITH_MATRIX_REFERENCE);
    const kith_array sizes = matrix_new_vector(c->rows->dtype, n);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < m; j++)
            sum += case_counts_diagonal(c) || i != j ? fabs(matrix_at(matrix, i * m + j)) : 0;
        matrix_put(sizes, i, sum);
    }
    free(matrix.data);
    return sizes;
}

/* Σ_j V[i][j] b_j of the reference's elements, by a loop. */
static inline kith_array case_product(const struct matrix_case *c, kith_array b)
{
    const int64_t n = c->rows->n, m = case_columns(c);
    const kith_array matrix = case_matrix(c, KITH_MATRIX_REFERENCE);
    const kith_array product = matrix_new_vector(c->rows->dtype, n);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < m; j++)
            if (i != j || case_counts_diagonal(c))
                sum += matrix_at(matrix, i * m + j) * matrix_at(b, j);
        matrix_put(product, i, sum);
    }
    free(matrix.data);
    return product;
}

/* The product with a vector is that of the elements, and the reference's. */
static inline void check_product(const struct matrix_case *c, struct random_numbers *numbers)
{
    const kith_array b = matrix_column(numbers, c->rows->dtype, case_columns(c), -1, 1);
    const kith_array sizes = case_sizes(c), expected = case_product(c, b);
    for (int k = 0; k < 2; k++) {
        const kith_array found = matrix_new_vector(c->rows->dtype, c->rows->n);
        kith_matrix_options options = c->options;
        options.method = k ? KITH_MATRIX_REFERENCE : options.method;
        assert_ok(kith_matrix_multiply(c->context, c->law, &options, &c->rows->particles,
                                       case_particles(c), b, found));
        assert_sums_agree(c->name, found, expected, sizes);
        free(found.data);
    }
    free(b.data);
    free(sizes.data);
    free(expected.data);
}

/* Sums and products with a vector are the reference's. */
static inline void check_sums(const struct matrix_case *c, struct random_numbers *numbers)
{
    const int64_t n = c->rows->n, m = case_columns(c);
    const kith_particles *columns = case_particles(c);
    const kith_array b = matrix_column(numbers, c->rows->dtype, m, -1, 1);
    const kith_array sizes = case_sizes(c);
    kith_matrix_options reference = c->options;
    reference.method = KITH_MATRIX_REFERENCE;
    for (int product = 0; product < 2; product++) {
        const kith_array found = matrix_new_vector(c->rows->dtype, n);
        const kith_array expected = matrix_new_vector(c->rows->dtype, n);
        for (int k = 0; k < 2; k++) {
            const kith_matrix_options *options = k ? &reference : &c->options;
            const kith_array to = k ? expected : found;
            if (product)
                assert_ok(kith_matrix_multiply(c->context, c->law, options, &c->rows->particles,
                                               columns, b, to));
            else
                assert_ok(kith_matrix_reduce(c->context, c->law, options, &c->rows->particles,
                                             columns, KITH_REDUCE_SUM, to));
        }
        assert_sums_agree(c->name, found, expected, sizes);
        free(found.data);
        free(expected.data);
    }
    free(b.data);
    free(sizes.data);
}

/* Every pair is in the bin of its element, by NumPy's rule, or outside. */
static inline void check_histogram(const struct matrix_case *c, int64_t bins, double low,
                                   double high)
{
    const int64_t n = c->rows->n, m = case_columns(c);
    const kith_array matrix = case_matrix(c, c->options.method);
    const kith_array counts = matrix_new_vector(KITH_I64, bins);
    int64_t *expected = calloc((size_t)bins, sizeof *expected);
    assert_non_null(expected);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = c->columns ? 0 : i + !case_counts_diagonal(c); j < m; j++) {
            const double value = matrix_at(matrix, i * m + j), step = (high - low) / (double)bins;
            int64_t bin = bins - 1;
            while (bin > 0 && value < (double)bin * step + low)
                bin--;
            expected[bin] += value >= low && value <= high;
        }
    assert_ok(kith_matrix_histogram(c->context, c->law, &c->options, &c->rows->particles,
                                    case_particles(c), low, high, counts));
    for (int64_t k = 0; k < bins; k++)
        if (((const int64_t *)counts.data)[k] != expected[k])
            fail_msg("%s: bin %lld has %lld values, not %lld", c->name, (long long)k,
                     (long long)((const int64_t *)counts.data)[k], (long long)expected[k]);
    free(expected);
    free(counts.data);
    free(matrix.data);
}

/* All of it for one law and a shape; m = 0: of one set. */
static inline void check_all(kith_context *context, struct random_numbers *numbers,
                             const char *name, kith_dtype dtype, int64_t n, int64_t m,
                             kith_matrix_options options)
{
    kith_law *law = matrix_law(name);
    struct matrix_set rows = matrix_set_create(numbers, dtype, n, n % 2 ? 3 : 2);
    struct matrix_set columns = matrix_set_create(numbers, dtype, m, n % 2 ? 3 : 2);
    const struct matrix_case c = {context, name, law, options, &rows, m > 0 ? &columns : NULL};
    check_elements(&c);
    check_extremes(&c);
    check_sums(&c, numbers);
    check_product(&c, numbers);
    check_histogram(&c, 17, -0.5, 1.5);
    kith_law_free(law);
    matrix_set_free(&rows);
    matrix_set_free(&columns);
}

#endif
