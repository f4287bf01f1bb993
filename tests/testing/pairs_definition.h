#ifndef TESTS_PAIRS_DEFINITION_H
#define TESTS_PAIRS_DEFINITION_H

/* Lists of pairs by their definition: every point with every image of every other, with the
 * arithmetic of cells/geometry.h, so that what they are compared with has to agree in every bit. */

#include "pairs_scene.h"

#include "cells/geometry.h"
#include "cells/lattice.h"

/* A pair and what is listed of it, as doubles. */
struct pair {
    int64_t i, j;
    int32_t shift[3];
    double vector[3], distance;
};

struct pair_list {
    struct pair *pairs;
    int64_t count, capacity;
};

/* The definition, in units in which the cutoff is about 1. */
struct definition {
    const struct scene *scene;
    struct pairs_lattice lattice;
    double unit, cutoff, limit;
    int64_t system;
};

/* By way of memory: GCC 12 at -O3 leaves some of these roundings out when it makes vectors of them.
 */
static inline double rounded(kith_dtype dtype, double value)
{
    volatile float narrow = (float)value;
    return dtype == KITH_F32 ? (double)narrow : value;
}

static inline void wrap_point(const struct definition *d, kith_array points, int64_t row,
                              double w[3], int32_t n[3])
{
    double x[3] = {0, 0, 0};
    for (int64_t c = 0; c < d->scene->dimensions; c++)
        x[c] = get(points, row * d->scene->dimensions + c) / d->unit;
    assert_true(pairs_wrap(&d->lattice, x, n));
    for (int c = 0; c < 3; c++)
        w[c] = rounded(d->scene->dtype, x[c]);
}

static inline double limit_of(const struct definition *d, int64_t i, int64_t j)
{
    const struct scene *s = d->scene;
    if (kith_array_is_none(s->radii))
        return d->limit;
    const double ri = get(s->m < 0 ? s->radii : s->query_radii, i) / d->unit;
    const double reach =
        rounded(s->dtype, rounded(s->dtype, ri + get(s->radii, j) / d->unit) + d->cutoff);
    return rounded(s->dtype, reach * reach);
}

static inline bool is_wanted(const struct scene *s, int64_t i, int64_t j, const int32_t image[3])
{
    if (!kith_array_is_none(s->exclusions)) {
        const int64_t *offsets = s->exclusion_offsets.data, *rows = s->exclusions.data;
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
            if (rows[k] == j)
                return false;
    }
    if (s->m >= 0 || i != j)
        return !s->options.half || i < j;
    for (int k = 0; k < 3; k++)
        if (image[k] != 0)
            return !s->options.half || image[k] > 0;
    return false;
}

/* A point of the definition. */
struct wrapped_point {
    double w[3];
    int32_t n[3];
};

static inline void try_image(const struct definition *d, int64_t i, int64_t j,
                             const struct wrapped_point *target, const struct wrapped_point *point,
                             const int32_t image[3], struct pair_list *list)
{
    const kith_dtype dtype = d->scene->dtype;
    struct pair pair = {.i = i, .j = j};
    double square[3], v[3];
    for (int c = 0; c < 3; c++) {
        const double t = rounded(dtype, pairs_translation(&d->lattice, image, c));
        v[c] = rounded(dtype, rounded(dtype, point->w[c] - target->w[c]) + t);
        square[c] = rounded(dtype, v[c] * v[c]);
    }
    const double r2 = rounded(dtype, rounded(dtype, square[0] + square[1]) + square[2]);
    if (!(r2 < limit_of(d, i, j)) || !is_wanted(d->scene, i, j, image))
        return;
    for (int c = 0; c < 3; c++) {
        pair.vector[c] = rounded(dtype, v[c] * d->unit);
        pair.shift[c] = image[c] - point->n[c] + target->n[c];
    }
    pair.distance = rounded(dtype, rounded(dtype, sqrt(r2)) * d->unit);
    if (list->count == list->capacity) {
        list->capacity *= 2;
        list->pairs = realloc(list->pairs, (size_t)list->capacity * sizeof *list->pairs);
        assert_non_null(list->pairs);
    }
    list->pairs[list->count++] = pair;
}

static inline struct wrapped_point *wrap_points(const struct definition *d, kith_array points,
                                                int64_t first, int64_t end)
{
    struct wrapped_point *all = calloc((size_t)(end - first) + 1, sizeof *all);
    assert_non_null(all);
    for (int64_t row = first; row < end; row++)
        wrap_point(d, points, row, all[row - first].w, all[row - first].n);
    return all;
}

static inline void list_images(const struct definition *d, int64_t i, int64_t j,
                               const struct wrapped_point *target,
                               const struct wrapped_point *point, const int32_t most[3],
                               struct pair_list *list)
{
    int32_t image[3];
    for (image[0] = -most[0]; image[0] <= most[0]; image[0]++)
        for (image[1] = -most[1]; image[1] <= most[1]; image[1]++)
            for (image[2] = -most[2]; image[2] <= most[2]; image[2]++)
                try_image(d, i, j, target, point, image, list);
}

static inline int64_t offset_at(kith_array offsets, int64_t k, int64_t n)
{
    return kith_array_is_none(offsets) ? (k == 0 ? 0 : n) : ((int64_t *)offsets.data)[k];
}

static inline void list_system(const struct definition *d, const int32_t most[3], int64_t *offsets,
                               struct pair_list *list)
{
    const struct scene *s = d->scene;
    const kith_array of_rows = s->m < 0 ? s->system_offsets : s->query_system_offsets;
    const int64_t rows = s->m < 0 ? s->n : s->m;
    const int64_t first_row = offset_at(of_rows, d->system, rows);
    const int64_t end_row = offset_at(of_rows, d->system + 1, rows);
    const int64_t first = offset_at(s->system_offsets, d->system, s->n);
    const int64_t end = offset_at(s->system_offsets, d->system + 1, s->n);
    struct wrapped_point *targets =
        wrap_points(d, s->m < 0 ? s->positions : s->queries, first_row, end_row);
    struct wrapped_point *points = wrap_points(d, s->positions, first, end);
    for (int64_t i = first_row; i < end_row; i++) {
        for (int64_t j = first; j < end; j++)
            list_images(d, i, j, &targets[i - first_row], &points[j - first], most, list);
        offsets[i + 1] = list->count;
    }
    free(targets);
    free(points);
}

/* The pairs of the scene by the definition, and the offsets of its rows. */
static inline struct pair_list list_by_definition(const struct scene *s, int64_t *offsets)
{
    struct pair_list list = {.capacity = 1024};
    list.pairs = calloc((size_t)list.capacity, sizeof *list.pairs);
    assert_non_null(list.pairs);
    double largest = 0;
    const double cutoff = rounded(s->dtype, s->options.cutoff);
    for (int64_t k = 0; k < s->n && !kith_array_is_none(s->radii); k++)
        largest = fmax(largest, get(s->radii, k));
    for (int64_t k = 0; k < s->m && !kith_array_is_none(s->query_radii); k++)
        largest = fmax(largest, get(s->query_radii, k));
    offsets[0] = 0;
    for (int64_t k = 0; k < s->systems; k++) {
        struct definition d = {.scene = s, .unit = ldexp(1, ilogb(s->options.cutoff)), .system = k};
        d.cutoff = cutoff / d.unit;
        d.limit = s->dtype == KITH_F32 ? (double)pairs_limit_float((float)d.cutoff)
                                       : pairs_limit_double(d.cutoff);
        assert_ok(pairs_lattice_make(s->cells ? &s->cells[k] : NULL, (int32_t)s->dimensions, d.unit,
                                     &d.lattice));
        int32_t most[3] = {0, 0, 0};
        for (int c = 0; c < 3; c++)
            if (d.lattice.periodic[c])
                most[c] =
                    (int32_t)ceil((d.cutoff + 2 * largest / d.unit) * 1.001 / d.lattice.height[c]);
        list_system(&d, most, offsets, &list);
    }
    return list;
}

static inline int64_t index_at(kith_array array, int64_t k)
{
    return array.dtype == KITH_I64 ? ((int64_t *)array.data)[k] : ((int32_t *)array.data)[k];
}

static inline struct pair pair_at(const kith_pairs *pairs, int64_t k, int64_t dimensions)
{
    struct pair pair = {.i = index_at(pairs->i, k),
                        .j = index_at(pairs->j, k),
                        .distance = get(pairs->distances, k)};
    for (int64_t c = 0; c < dimensions; c++) {
        pair.shift[c] = ((int32_t *)pairs->shifts.data)[k * dimensions + c];
        pair.vector[c] = get(pairs->vectors, k * dimensions + c);
    }
    return pair;
}

static inline int compare_pairs(const void *a, const void *b)
{
    const struct pair *first = a, *second = b;
    if (first->i != second->i)
        return first->i < second->i ? -1 : 1;
    if (first->j != second->j)
        return first->j < second->j ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (first->shift[k] != second->shift[k])
            return first->shift[k] < second->shift[k] ? -1 : 1;
    return 0;
}

static inline bool is_same_pair(const struct pair *a, const struct pair *b, int64_t dimensions)
{
    bool same = compare_pairs(a, b) == 0 && a->distance == b->distance;
    for (int64_t c = 0; c < dimensions; c++)
        same = same && a->vector[c] == b->vector[c];
    return same;
}

/* What a scene's list must be. */
struct expectation {
    struct pair_list list;
    int64_t rows, *offsets;
};

static inline struct expectation expect(const struct scene *s)
{
    struct expectation expected = {.rows = s->m < 0 ? s->n : s->m};
    expected.offsets = calloc((size_t)expected.rows + 1, sizeof *expected.offsets);
    assert_non_null(expected.offsets);
    expected.list = list_by_definition(s, expected.offsets);
    qsort(expected.list.pairs, (size_t)expected.list.count, sizeof *expected.list.pairs,
          compare_pairs);
    return expected;
}

static inline void expectation_free(struct expectation *expected)
{
    free(expected->list.pairs);
    free(expected->offsets);
}

static inline void assert_is_expected(const struct scene *s, const kith_pairs *pairs,
                                      const struct expectation *expected, const char *what)
{
    const struct pair *wanted = expected->list.pairs;
    if (pairs->row_count != expected->rows || pairs->count != expected->list.count)
        fail_msg("%s: n = %lld, m = %lld: %lld rows of %lld pairs, expected %lld of %lld", what,
                 (long long)s->n, (long long)s->m, (long long)pairs->row_count,
                 (long long)pairs->count, (long long)expected->rows,
                 (long long)expected->list.count);
    assert_memory_equal(pairs->offsets.data, expected->offsets,
                        ((size_t)expected->rows + 1) * sizeof *expected->offsets);
    struct pair *found = calloc((size_t)pairs->count + 1, sizeof *found);
    assert_non_null(found);
    for (int64_t k = 0; k < pairs->count; k++)
        found[k] = pair_at(pairs, k, s->dimensions);
    if (s->options.unsorted)
        qsort(found, (size_t)pairs->count, sizeof *found, compare_pairs);
    for (int64_t k = 0; k < pairs->count; k++)
        if (!is_same_pair(&found[k], &wanted[k], s->dimensions))
            fail_msg(
                "%s: n = %lld, m = %lld, %lldD, %s: pair %lld of %lld is (%lld, %lld) at %.17g, "
                "expected (%lld, %lld) at %.17g",
                what, (long long)s->n, (long long)s->m, (long long)s->dimensions,
                s->dtype == KITH_F64 ? "double" : "float", (long long)k, (long long)pairs->count,
                (long long)found[k].i, (long long)found[k].j, found[k].distance,
                (long long)wanted[k].i, (long long)wanted[k].j, wanted[k].distance);
    free(found);
}

#endif
