#ifndef TESTS_PAIRS_DIMENSIONS_H
#define TESTS_PAIRS_DIMENSIONS_H

/* Pairs and nearest points of any number of dimensions in open space by their definition: each
 * target with each point, in the arithmetic of pairs/kd_kernel.h, so that what they are compared
 * with has to agree in every bit. */

#include <math.h>

#include "pairs_scene.h"

/* By way of memory, so that no compiler keeps more digits. */
static inline double rounded(kith_dtype dtype, double value)
{
    volatile float narrow = (float)value;
    return dtype == KITH_F32 ? (double)narrow : value;
}

static inline kith_array targets_of(const struct scene *s)
{
    return s->m < 0 ? s->positions : s->queries;
}

static inline double at(kith_array points, int64_t row, int64_t c)
{
    return get(points, row * points.strides[0] + c * points.strides[1]);
}

/* r² in the scene's precision. */
static inline double square_of(const struct scene *s, int64_t i, int64_t j)
{
    double r2 = 0;
    for (int64_t c = 0; c < s->dimensions; c++) {
        const double d = rounded(s->dtype, at(s->positions, j, c) - at(targets_of(s), i, c));
        r2 = rounded(s->dtype, r2 + rounded(s->dtype, d * d));
    }
    return r2;
}

static inline double distance_of(const struct scene *s, int64_t i, int64_t j)
{
    return rounded(s->dtype, sqrt(square_of(s, i, j)));
}

static inline bool is_excluded(const struct scene *s, int64_t i, int64_t j)
{
    const int64_t *offsets = s->exclusion_offsets.data, *rows = s->exclusions.data;
    for (int64_t k = offsets ? offsets[i] : 0; offsets && k < offsets[i + 1]; k++)
        if (rows[k] == j)
            return true;
    return false;
}

static inline bool is_near(const struct scene *s, int64_t i, int64_t j)
{
    const double cutoff = rounded(s->dtype, s->options.cutoff);
    if (kith_array_is_none(s->radii))
        return distance_of(s, i, j) < cutoff;
    const double own = get(s->m < 0 ? s->radii : s->query_radii, i);
    const double reach = rounded(s->dtype, rounded(s->dtype, own + get(s->radii, j)) + cutoff);
    return square_of(s, i, j) < rounded(s->dtype, reach * reach);
}

static inline bool is_pair(const struct scene *s, int64_t i, int64_t j)
{
    if (s->m < 0 && (i == j || (s->options.half && j < i)))
        return false;
    return !is_excluded(s, i, j) && is_near(s, i, j);
}

/* The rows of the positions that are in the system of a target. */
static inline void system_of(const struct scene *s, int64_t i, int64_t *begin, int64_t *end)
{
    const int64_t *points = s->system_offsets.data;
    const int64_t *targets = s->m < 0 ? points : s->query_system_offsets.data;
    int64_t k = 0;
    *begin = 0;
    *end = s->n;
    if (!points)
        return;
    assert_non_null(targets);
    while (targets[k + 1] <= i)
        k++;
    *begin = points[k];
    *end = points[k + 1];
}

static inline int64_t index_of(kith_array array, int64_t k)
{
    return array.dtype == KITH_I32 ? ((const int32_t *)array.data)[k]
                                   : ((const int64_t *)array.data)[k];
}

/* Element p of the list is this pair, with all that is listed of it. */
static inline void assert_listed(const struct scene *s, const kith_pairs *pairs, int64_t p,
                                 int64_t i, int64_t j)
{
    assert_true(p < pairs->count);
    assert_non_null(pairs->i.data);
    assert_non_null(pairs->j.data);
    assert_non_null(pairs->distances.data);
    assert_non_null(pairs->vectors.data);
    assert_non_null(pairs->shifts.data);
    assert_int_equal(index_of(pairs->i, p), i);
    assert_int_equal(index_of(pairs->j, p), j);
    assert_true(get(pairs->distances, p) == distance_of(s, i, j));
    for (int64_t c = 0; c < s->dimensions; c++) {
        assert_true(get(pairs->vectors, p * s->dimensions + c) ==
                    rounded(s->dtype, at(s->positions, j, c) - at(targets_of(s), i, c)));
        assert_int_equal(((const int32_t *)pairs->shifts.data)[p * s->dimensions + c], 0);
    }
}

static inline int by_row(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The order of the partners of one target, in lists that are not sorted. */
static inline void sort_row(const kith_pairs *pairs, int64_t begin, int64_t end, int64_t *order)
{
    for (int64_t p = begin; p < end; p++)
        order[p - begin] = index_of(pairs->j, p) << 32 | p;
    qsort(order, (size_t)(end - begin), sizeof *order, by_row);
}

static inline void assert_pairs(const struct scene *s, const kith_pairs *pairs)
{
    const int64_t rows = targets_of(s).shape[0], *offsets = pairs->offsets.data;
    int64_t *order = calloc((size_t)s->n + 1, sizeof *order);
    assert_non_null(order);
    assert_int_equal(pairs->row_count, rows);
    assert_int_equal(offsets[0], 0);
    assert_int_equal(pairs->shifts.ndim, 2);
    assert_int_equal(pairs->vectors.ndim, 2);
    assert_int_equal(pairs->vectors.shape[1], s->dimensions);
    for (int64_t i = 0; i < rows; i++) {
        int64_t begin, end, p = offsets[i];
        assert_true(offsets[i + 1] - p <= s->n);
        sort_row(pairs, p, offsets[i + 1], order);
        system_of(s, i, &begin, &end);
        for (int64_t j = begin; j < end; j++)
            if (is_pair(s, i, j)) {
                assert_true(p < offsets[i + 1]);
                const int64_t own = order[p - offsets[i]] & UINT32_MAX;
                if (!s->options.unsorted)
                    assert_int_equal(own, p);
                assert_listed(s, pairs, own, i, j);
                p++;
            }
        assert_int_equal(p, offsets[i + 1]);
    }
    assert_int_equal(offsets[rows], pairs->count);
    free(order);
}

struct neighbor {
    double distance;
    int64_t j;
};

static inline int by_distance(const void *a, const void *b)
{
    const struct neighbor *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->j > y->j) - (x->j < y->j);
}

static inline void assert_nearest(const struct scene *s, int64_t k, const kith_pairs *pairs)
{
    const int64_t rows = targets_of(s).shape[0], *offsets = pairs->offsets.data;
    struct neighbor *all = calloc((size_t)s->n + 1, sizeof *all);
    assert_non_null(all);
    for (int64_t i = 0; i < rows; i++) {
        int64_t begin, end, count = 0;
        system_of(s, i, &begin, &end);
        for (int64_t j = begin; j < end; j++)
            if ((s->m >= 0 || i != j) && (s->options.cutoff == 0 || is_near(s, i, j)))
                all[count++] = (struct neighbor){distance_of(s, i, j), j};
        qsort(all, (size_t)count, sizeof *all, by_distance);
        count = count < k ? count : k;
        assert_int_equal(offsets[i + 1] - offsets[i], count);
        for (int64_t p = 0; p < count; p++)
            assert_listed(s, pairs, offsets[i] + p, i, all[p].j);
    }
    free(all);
}

#endif
