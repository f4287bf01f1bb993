#ifndef TESTS_MATRIX_SYSTEM_H
#define TESTS_MATRIX_SYSTEM_H

/* What the tests of the interaction matrix share: random particles, and laws. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "forces_system.h"
#include "random_numbers.h"

/* Every kind of kernel, and a formula that is neither central nor symmetric. */
static const char *const matrix_laws[] = {"gravity",
                                          "coulomb",
                                          "power:1",
                                          "power:2",
                                          "power:3",
                                          "power:2.5",
                                          "power:1.37",
                                          "yukawa:0.7",
                                          "morse:1,2,0.5",
                                          "gaussian:0.6",
                                          "multiquadric:0.3",
                                          "thin-plate",
                                          "distance",
                                          "distance2",
                                          "sum",
                                          "product",
                                          "lennard-jones:1,0.3",
                                          "expr:m_i*dx + q_j*exp(-r)"};
enum {
    matrix_law_count = sizeof matrix_laws / sizeof matrix_laws[0],
    matrix_table_law_count = matrix_law_count - 1 /* the last one is the formula */
};

struct matrix_set {
    int64_t n;
    kith_dtype dtype;
    kith_particles particles;
};

static inline void matrix_put(kith_array array, int64_t k, double value)
{
    if (array.dtype == KITH_F64)
        ((double *)array.data)[k] = value;
    else
        ((float *)array.data)[k] = (float)value;
}

static inline double matrix_at(kith_array array, int64_t k)
{
    return array.dtype == KITH_F64 ? ((const double *)array.data)[k]
                                   : (double)((const float *)array.data)[k];
}

static inline kith_array matrix_column(struct random_numbers *numbers, kith_dtype dtype, int64_t n,
                                       double low, double high)
{
    void *data = calloc((size_t)n + 1, (size_t)kith_dtype_bytes(dtype));
    assert_non_null(data);
    const kith_array array = kith_array_vector(data, dtype, n);
    for (int64_t k = 0; k < n; k++)
        matrix_put(array, k, random_uniform(numbers, low, high));
    return array;
}

/* n particles in the unit cube or square; every seventh at the place of the one before. */
static inline struct matrix_set matrix_set_create(struct random_numbers *numbers, kith_dtype dtype,
                                                  int64_t n, int64_t dimensions)
{
    struct matrix_set set = {.n = n, .dtype = dtype};
    const kith_array x = matrix_column(numbers, dtype, n * dimensions, 0, 1);
    for (int64_t k = 7; k < n; k += 7)
        for (int64_t c = 0; c < dimensions; c++)
            matrix_put(x, k * dimensions + c, matrix_at(x, (k - 1) * dimensions + c));
    set.particles.positions = kith_array_matrix(x.data, dtype, n, dimensions);
    set.particles.columns[0] =
        (kith_particle_column){"m", matrix_column(numbers, dtype, n, 0.5, 2)};
    set.particles.columns[1] = (kith_particle_column){"q", matrix_column(numbers, dtype, n, -1, 1)};
    return set;
}

static inline void matrix_set_free(struct matrix_set *set)
{
    free(set->particles.positions.data);
    free(set->particles.columns[0].values.data);
    free(set->particles.columns[1].values.data);
}

static inline kith_law *matrix_law(const char *text)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse(text, 0, NULL, &law));
    return law;
}

static inline kith_array matrix_new(kith_dtype dtype, int64_t n, int64_t m)
{
    void *data = malloc((size_t)(n * m + 1) * 8);
    assert_non_null(data);
    memset(data, 0xff, (size_t)(n * m + 1) * 8);
    return kith_array_matrix(data, dtype, n, m);
}

static inline kith_array matrix_new_vector(kith_dtype dtype, int64_t n)
{
    const kith_array matrix = matrix_new(dtype, n, 1);
    return kith_array_vector(matrix.data, dtype, n);
}

/* Some units in the last place of an element: particles are a distance of 1 apart, with rounding
 * errors of 1/2 ulp of 1 in each coordinate's difference, and laws rise steeply at short ones. */
static inline double matrix_tolerance(kith_dtype dtype)
{
    return dtype == KITH_F32 ? 2e-5 : 4e-13;
}

/* Steep laws have large values at short distances: what counts is the error relative to the value.
 */
static inline void assert_elements_agree(const char *law, kith_array found, kith_array expected)
{
    const int64_t count = found.shape[0] * (found.ndim == 2 ? found.shape[1] : 1);
    for (int64_t k = 0; k < count; k++) {
        const double a = matrix_at(found, k), b = matrix_at(expected, k);
        if (!(fabs(a - b) <= matrix_tolerance(found.dtype) * (1 + fabs(b))) && a != b)
            fail_msg("%s: element %lld is %.17g, not %.17g", law, (long long)k, a, b);
    }
}

/* Laws whose value is a difference: near its zero the error is beside what is subtracted, about 1.
 */
static inline bool is_difference(const char *law)
{
    static const char *const names[] = {"lennard-jones", "morse", "thin-plate", "expr:"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strncmp(law, names[k], strlen(names[k])) == 0)
            return true;
    return false;
}

/* A sum's error is relative to the sum of its terms' magnitudes. */
static inline void assert_sums_agree(const char *law, kith_array found, kith_array expected,
                                     kith_array sizes)
{
    const double promised = found.dtype == KITH_F32 ? 1e-5 : 1e-12;
    const double least = is_difference(law) ? 1 : 1e-3;
    for (int64_t k = 0; k < found.shape[0]; k++) {
        const double a = matrix_at(found, k), b = matrix_at(expected, k);
        if (!(fabs(a - b) <= promised * (least + matrix_at(sizes, k))))
            fail_msg("%s: row %lld is %.17g, not %.17g", law, (long long)k, a, b);
    }
}

#endif
