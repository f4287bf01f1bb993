#ifndef TESTS_PAIRS_SCENE_H
#define TESTS_PAIRS_SCENE_H

/* Random problems for lists of pairs. */

#include "forces_system.h"
#include "random_numbers.h"

enum { all_quantities = 31 };

/* A problem on the host. */
struct scene {
    kith_dtype dtype;
    int64_t dimensions, n, m, systems; /* m: queries; −1: none */
    kith_array positions, queries, radii, query_radii, exclusion_offsets, exclusions;
    kith_array system_offsets, query_system_offsets;
    kith_cell *cells; /* NULL: open */
    kith_pairs_options options;
};

static inline int64_t random_below(struct random_numbers *random, int64_t n)
{
    return (int64_t)random_uniform(random, 0, (double)n);
}

static inline bool random_chance(struct random_numbers *random, double chance)
{
    return random_uniform(random, 0, 1) < chance;
}

static inline kith_array vector_new(kith_dtype dtype, int64_t n)
{
    void *data = calloc((size_t)n + 1, 8);
    assert_non_null(data);
    return kith_array_vector(data, dtype, n);
}

/* Points in and, some of them, around the cells; a few at the same positions, on faces and far
 * out. */
static inline kith_array random_points(struct random_numbers *random, const struct scene *s,
                                       int64_t n, double size)
{
    kith_array points = vector_new(s->dtype, n * s->dimensions);
    for (int64_t k = 0; k < n * s->dimensions; k++)
        put(points, k, random_uniform(random, 0, size));
    for (int64_t i = 1; i < n; i++)
        for (int64_t c = 0; c < s->dimensions; c++) {
            const int64_t at = i * s->dimensions + c;
            if (i % 17 == 3)
                put(points, at, get(points, random_below(random, i) * s->dimensions + c));
            else if (i % 13 == 5)
                put(points, at, round(get(points, at)));
            else if (i % 11 == 7)
                put(points, at, get(points, at) + size * (double)(random_below(random, 9) - 4));
        }
    return kith_array_matrix(points.data, s->dtype, n, s->dimensions);
}

/* Triclinic in any orientation and handedness, or a box, or a plane's or line's in open space. */
static inline kith_cell random_cell(struct random_numbers *random, double size)
{
    kith_cell cell = {0};
    const bool box = random_chance(random, 0.3);
    for (int k = 0; k < 3; k++) {
        const double length = size * random_uniform(random, 0.4, 1.6);
        for (int c = 0; c < 3; c++)
            cell.vectors[k][c] = c == k ? length
                                 : box  ? 0
                                        : length * random_uniform(random, -1, 1) / 2;
        cell.periodic[k] = random_chance(random, 0.6);
    }
    if (random_chance(random, 0.3))
        for (int c = 0; c < 3; c++) {
            const double first = cell.vectors[0][c];
            cell.vectors[0][c] = cell.vectors[1][c];
            cell.vectors[1][c] = first;
        }
    return cell;
}

static inline kith_array random_offsets(struct random_numbers *random, int64_t n, int64_t systems)
{
    kith_array offsets = vector_new(KITH_I64, systems + 1);
    int64_t *values = offsets.data;
    for (int64_t s = 1; s < systems; s++) {
        const int64_t left = n - values[s - 1];
        values[s] = values[s - 1] + random_below(random, 2 * left / (systems - s) + 1);
        if (values[s] > n)
            values[s] = n;
    }
    values[systems] = n;
    return offsets;
}

static inline kith_array random_lengths(struct random_numbers *random, kith_dtype dtype, int64_t n,
                                        double most)
{
    kith_array lengths = vector_new(dtype, n);
    for (int64_t k = 0; k < n; k++)
        put(lengths, k, random_uniform(random, 0, most));
    return lengths;
}

static inline void exclude(struct random_numbers *random, struct scene *s)
{
    const int64_t rows = s->m < 0 ? s->n : s->m;
    s->exclusion_offsets = vector_new(KITH_I64, rows + 1);
    s->exclusions = vector_new(KITH_I64, 3 * rows);
    int64_t *offsets = s->exclusion_offsets.data, count = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t some = s->n > 0 ? random_below(random, 4) : 0;
        for (int64_t k = 0; k < some; k++)
            ((int64_t *)s->exclusions.data)[count++] = random_below(random, s->n);
        offsets[i + 1] = count;
    }
    s->exclusions.shape[0] = count;
}

static inline struct scene random_scene(struct random_numbers *random, int64_t n, double neighbors)
{
    struct scene s = {.dtype = random_chance(random, 0.5) ? KITH_F64 : KITH_F32,
                      .dimensions = random_chance(random, 0.3) ? 2 : 3,
                      .n = n,
                      .m = random_chance(random, 0.25) ? random_below(random, 2 * n + 2) : -1,
                      .systems = random_chance(random, 0.25) ? 1 + random_below(random, 5) : 1};
    const double scale = exp(random_uniform(random, -20, 20));
    const double size = scale * pow((double)(n > 0 ? n : 1), 1 / (double)s.dimensions);
    const double reach = scale * pow(neighbors / 4, 1 / (double)s.dimensions);
    s.positions = random_points(random, &s, n, size);
    if (s.m >= 0)
        s.queries = random_points(random, &s, s.m, size);
    if (s.systems > 1) {
        s.system_offsets = random_offsets(random, n, s.systems);
        if (s.m >= 0)
            s.query_system_offsets = random_offsets(random, s.m, s.systems);
    }
    if (random_chance(random, 0.8)) {
        s.cells = calloc((size_t)s.systems, sizeof *s.cells);
        assert_non_null(s.cells);
        for (int64_t k = 0; k < s.systems; k++)
            s.cells[k] = random_cell(random, size);
    }
    if (random_chance(random, 0.2)) {
        s.radii = random_lengths(random, s.dtype, n, reach / 2);
        if (s.m >= 0)
            s.query_radii = random_lengths(random, s.dtype, s.m, reach / 2);
    }
    if (random_chance(random, 0.2))
        exclude(random, &s);
    s.options = (kith_pairs_options){.cutoff = reach * random_uniform(random, 0.5, 1.5),
                                     .quantities = all_quantities,
                                     .half = s.m < 0 && random_chance(random, 0.3),
                                     .narrow = random_chance(random, 0.5)};
    return s;
}

static inline void scene_free(struct scene *s)
{
    const kith_array arrays[] = {
        s->positions,  s->queries,           s->radii,          s->query_radii,
        s->exclusions, s->exclusion_offsets, s->system_offsets, s->query_system_offsets};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        free(arrays[k].data);
    free(s->cells);
}

static inline kith_pairs_options options_of(const struct scene *s)
{
    kith_pairs_options options = s->options;
    options.queries = s->queries;
    options.radii = s->radii;
    options.query_radii = s->query_radii;
    options.exclusion_offsets = s->exclusion_offsets;
    options.exclusions = s->exclusions;
    options.system_offsets = s->system_offsets;
    options.query_system_offsets = s->query_system_offsets;
    return options;
}

#endif
