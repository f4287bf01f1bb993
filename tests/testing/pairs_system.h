#ifndef TESTS_PAIRS_SYSTEM_H
#define TESTS_PAIRS_SYSTEM_H

/* What the tests of pairs share: random points and cells, and lists compared pair by pair. Include
 * testing.h before. */

#include <math.h>
#include <stdlib.h>

#include "random_numbers.h"

enum {
    pairs_everything =
        KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_SHIFTS | KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES
};

static inline kith_context *pairs_context(int32_t threads)
{
    kith_context *context = NULL;
    assert_ok(kith_context_create(
        &(kith_context_options){.device = {KITH_CPU, 0}, .threads = threads}, &context));
    return context;
}

/* Points and a cell, on the heap; float numbers are those of the doubles, rounded. */
struct pairs_system_of_test {
    int64_t n;
    int32_t dimensions;
    double *x;
    float *narrow;
    kith_cell cell;
};

static inline struct pairs_system_of_test new_points(int64_t n, int32_t dimensions)
{
    struct pairs_system_of_test system = {.n = n, .dimensions = dimensions};
    system.x = calloc((size_t)(n * dimensions) + 1, sizeof(double));
    system.narrow = calloc((size_t)(n * dimensions) + 1, sizeof(float));
    return system;
}

static inline void free_points(struct pairs_system_of_test *system)
{
    free(system->x);
    free(system->narrow);
}

static inline kith_array positions_of(const struct pairs_system_of_test *system, kith_dtype dtype)
{
    for (int64_t k = 0; k < system->n * system->dimensions; k++)
        system->narrow[k] = (float)system->x[k];
    return dtype == KITH_F32
               ? kith_array_matrix(system->narrow, dtype, system->n, system->dimensions)
               : kith_array_matrix(system->x, dtype, system->n, system->dimensions);
}

static inline int64_t random_whole(struct random_numbers *numbers, int64_t low, int64_t high)
{
    return low + (int64_t)floor(random_uniform(numbers, 0, (double)(high - low + 1)));
}

/* A triclinic cell of either handedness that is not too flat, periodic along some of its vectors.
 */
static inline kith_cell random_cell(struct random_numbers *numbers, int32_t dimensions)
{
    kith_cell cell = {0};
    for (;;) {
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                cell.vectors[k][c] = random_uniform(numbers, -1, 1);
        const double(*a)[3] = (const double(*)[3])cell.vectors;
        const double volume = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                              a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                              a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
        const double area = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        if (fabs(volume) > 0.1 && fabs(area) > 0.1)
            break;
    }
    for (int k = 0; k < 3; k++)
        cell.periodic[k] = k < dimensions && random_uniform(numbers, 0, 1) < 0.7;
    return cell;
}

/* Points in and around the cell, up to some cells away. */
static inline struct pairs_system_of_test random_system(struct random_numbers *numbers, int64_t n,
                                                        int32_t dimensions)
{
    struct pairs_system_of_test system = new_points(n, dimensions);
    const double far = random_uniform(numbers, 0, 1) < 0.5 ? 0 : 3;
    system.cell = random_cell(numbers, dimensions);
    for (int64_t i = 0; i < n; i++)
        for (int32_t k = 0; k < dimensions; k++) {
            const double f = random_uniform(numbers, -far, 1 + far);
            for (int32_t c = 0; c < dimensions; c++)
                system.x[i * dimensions + c] += f * system.cell.vectors[k][c];
        }
    return system;
}

static inline double real_at(kith_array array, int64_t k)
{
    return array.dtype == KITH_F32 ? (double)((const float *)array.data)[k]
                                   : ((const double *)array.data)[k];
}

static inline int64_t whole_at(kith_array array, int64_t k)
{
    return array.dtype == KITH_I32 ? ((const int32_t *)array.data)[k]
                                   : ((const int64_t *)array.data)[k];
}

/* Two lists with all quantities have the same pairs in the same order, and lengths that agree. */
static inline void assert_same_pairs(const kith_pairs *found, const kith_pairs *expected,
                                     double tolerance)
{
    const int64_t dimensions = expected->shifts.shape[1];
    assert_int_equal(found->row_count, expected->row_count);
    for (int64_t i = 0; i <= expected->row_count; i++)
        if (whole_at(found->offsets, i) != whole_at(expected->offsets, i))
            fail_msg("row %lld begins at %lld, not at %lld", (long long)i,
                     (long long)whole_at(found->offsets, i),
                     (long long)whole_at(expected->offsets, i));
    assert_int_equal(found->count, expected->count);
    for (int64_t p = 0; p < expected->count; p++) {
        assert_int_equal(whole_at(found->i, p), whole_at(expected->i, p));
        assert_int_equal(whole_at(found->j, p), whole_at(expected->j, p));
        for (int64_t k = p * dimensions; k < (p + 1) * dimensions; k++) {
            assert_int_equal(whole_at(found->shifts, k), whole_at(expected->shifts, k));
            const double difference = real_at(found->vectors, k) - real_at(expected->vectors, k);
            if (!(fabs(difference) <= tolerance))
                fail_msg("vector %lld is off by %g", (long long)p, difference);
        }
        const double difference = real_at(found->distances, p) - real_at(expected->distances, p);
        if (!(fabs(difference) <= tolerance))
            fail_msg("distance %lld is off by %g", (long long)p, difference);
    }
}

#endif
