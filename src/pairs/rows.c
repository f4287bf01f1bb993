#include "pairs/rows.h"

#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "pairs/stage.h"

static bool has_lengths(const kith_pairs *pairs)
{
    return !kith_array_is_none(pairs->vectors) || !kith_array_is_none(pairs->distances);
}

bool pairs_rows_are_plain(const struct pairs_problem *problem, const kith_pairs *pairs)
{
    return kith_array_is_none(problem->exclusions) && kith_array_is_none(pairs->shifts) &&
           !has_lengths(pairs);
}

static bool is_excluded(const int64_t *exclusions, int64_t count, int64_t j)
{
    for (int64_t k = 0; k < count; k++)
        if (exclusions[k] == j)
            return true;
    return false;
}

static int64_t leave_out(const struct pairs_problem *problem,
                         const struct pairs_candidates *candidates, int64_t i, int32_t *found,
                         int64_t count)
{
    const int64_t *offsets = problem->exclusion_offsets.data;
    const int64_t *exclusions = (const int64_t *)problem->exclusions.data + offsets[i];
    const int64_t excluded = offsets[i + 1] - offsets[i];
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (!is_excluded(exclusions, excluded, candidates->index[found[k]]))
            found[kept++] = found[k];
    return kept;
}

int64_t pairs_find_row(const struct pairs_kernels *kernels, const struct pairs_search *search,
                       const struct pairs_candidates *candidates, int64_t position, int32_t *found)
{
    const struct pairs_problem *problem = search->problem;
    const struct pairs_points *targets = &search->targets.points;
    const int64_t count = kernels->find[problem->dtype](candidates, targets, position, found);
    if (kith_array_is_none(problem->exclusions))
        return count;
    return leave_out(problem, candidates, targets->index[position], found, count);
}

/* What writes the rows of a cell. */
struct writing {
    const struct pairs_kernels *kernels;
    const struct pairs_search *search;
    const struct pairs_candidates *candidates;
    const struct pairs_run *runs;
    kith_pairs *pairs;
    int32_t *found;
    int64_t *keys;
};

/* Keys of j and the order of finding: sorted, they give the pairs by j and then, as candidates come
 * in the order of their images, by shift. found is then in the order of the keys. */
static void sort_found(const struct writing *writing, int64_t count)
{
    const int32_t *index = writing->candidates->index;
    int64_t *keys = writing->keys;
    for (int64_t k = 0; k < count; k++)
        keys[k] = (int64_t)index[writing->found[k]] << 32 | writing->found[k];
    if (count > 1)
        writing->kernels->sort_wide(keys, count);
    for (int64_t k = 0; k < count; k++)
        writing->found[k] = (int32_t)(keys[k] & UINT32_MAX);
}

static void write_indices(kith_array i_column, kith_array j_column, int64_t i, const int32_t *index,
                          const int32_t *found, int64_t begin, int64_t count)
{
    if (i_column.dtype == KITH_I32 || j_column.dtype == KITH_I32) {
        int32_t *to_i = i_column.data, *to_j = j_column.data;
        for (int64_t p = 0; to_i && p < count; p++)
            to_i[begin + p] = (int32_t)i;
        for (int64_t p = 0; to_j && p < count; p++)
            to_j[begin + p] = index[found[p]];
        return;
    }
    int64_t *to_i = i_column.data, *to_j = j_column.data;
    for (int64_t p = 0; to_i && p < count; p++)
        to_i[begin + p] = i;
    for (int64_t p = 0; to_j && p < count; p++)
        to_j[begin + p] = index[found[p]];
}

/* The vectors and distances of a row, with the arithmetic of geometry.h. */
#define DEFINE_WRITE_LENGTHS(real, root)                                                           \
    static void write_lengths_##real(const struct writing *writing, int64_t position,              \
                                     int64_t begin, int64_t count)                                 \
    {                                                                                              \
        const struct pairs_candidates *candidates = writing->candidates;                           \
        const int32_t dimensions = candidates->dimensions;                                         \
        const real unit = (real)writing->search->problem->unit;                                    \
        real *vectors = writing->pairs->vectors.data, *distances = writing->pairs->distances.data; \
        for (int64_t p = 0; p < count; p++) {                                                      \
            const int32_t at = writing->found[p];                                                  \
            real r2 = 0;                                                                           \
            for (int32_t c = 0; c < dimensions; c++) {                                             \
                const real *x = candidates->position[c], *t = candidates->translation[c];          \
                const real *xi = writing->search->targets.points.position[c];                      \
                const real d = (x[at] - xi[position]) + (candidates->moved ? t[at] : 0);           \
                r2 = r2 + d * d;                                                                   \
                if (vectors)                                                                       \
                    vectors[(begin + p) * dimensions + c] = d * unit;                              \
            }                                                                                      \
            if (distances)                                                                         \
                distances[begin + p] = root(r2) * unit;                                            \
        }                                                                                          \
    }

DEFINE_WRITE_LENGTHS(float, sqrtf)
DEFINE_WRITE_LENGTHS(double, sqrt)

/* S = T − n_j + n_i; place is the target's row in its bin. */
static void write_shifts(const struct writing *writing, int64_t place, int64_t begin, int64_t count)
{
    const struct pairs_candidates *candidates = writing->candidates;
    const int32_t dimensions = candidates->dimensions;
    const struct pairs_bin *points = &writing->search->points, *targets = &writing->search->targets;
    int32_t *shifts = writing->pairs->shifts.data;
    for (int64_t p = 0; p < count; p++) {
        const int32_t at = writing->found[p];
        const int64_t j = candidates->index[at] - points->first;
        const struct pairs_run *run = &writing->runs[candidates->run[at]];
        for (int32_t k = 0; k < dimensions; k++) {
            int32_t shift = run->image[k];
            if (points->wraps)
                shift += targets->wraps[3 * place + k] - points->wraps[3 * j + k];
            shifts[(begin + p) * dimensions + k] = shift;
        }
    }
}

/* Writes what has been found, in its order. */
static void write_found(const struct writing *writing, int64_t position, int64_t place,
                        int64_t count)
{
    const kith_pairs *pairs = writing->pairs;
    const int64_t i = writing->search->targets.index[position];
    const int64_t begin = ((const int64_t *)pairs->offsets.data)[i];
    write_indices(pairs->i, pairs->j, i, writing->candidates->index, writing->found, begin, count);
    if (!kith_array_is_none(pairs->shifts))
        write_shifts(writing, place, begin, count);
    if (!has_lengths(pairs))
        return;
    if (writing->search->problem->dtype == KITH_F32)
        write_lengths_float(writing, position, begin, count);
    else
        write_lengths_double(writing, position, begin, count);
}

static void write_row(const struct writing *writing, int64_t position)
{
    const struct pairs_bin *targets = &writing->search->targets;
    const int64_t count = pairs_find_row(writing->kernels, writing->search, writing->candidates,
                                         position, writing->found);
    if (writing->search->problem->sorted)
        sort_found(writing, count);
    write_found(writing, position, targets->index[position] - targets->first, count);
}

static kith_status begin_writing(const struct pairs_kernels *kernels,
                                 const struct pairs_search *search,
                                 const struct pairs_candidates *candidates, struct pairs_lane *lane,
                                 kith_pairs *pairs, struct writing *writing)
{
    const int64_t room = pairs_sorting_room(candidates->count);
    KITH_TRY(pairs_host_buffer_grow(&lane->keys, 8 * room, "the candidates of a cell"));
    *writing = (struct writing){
        .kernels = kernels,
        .search = search,
        .candidates = candidates,
        .runs = lane->runs.data,
        .pairs = pairs,
        .found = lane->found.data,
        .keys = lane->keys.data,
    };
    return KITH_OK;
}

kith_status pairs_write_rows(const struct pairs_kernels *kernels, const struct pairs_search *search,
                             const struct pairs_candidates *candidates, int64_t begin, int64_t end,
                             struct pairs_lane *lane, kith_pairs *pairs)
{
    struct writing writing;
    KITH_TRY(begin_writing(kernels, search, candidates, lane, pairs, &writing));
    for (int64_t position = begin; position < end; position++)
        write_row(&writing, position);
    return KITH_OK;
}

#define DEFINE_R2(real)                                                                            \
    static double r2_##real(const struct writing *writing, int64_t position, int32_t at)           \
    {                                                                                              \
        const struct pairs_candidates *candidates = writing->candidates;                           \
        real r2 = 0;                                                                               \
        for (int32_t c = 0; c < candidates->dimensions; c++) {                                     \
            const real *x = candidates->position[c], *t = candidates->translation[c];              \
            const real *xi = writing->search->targets.points.position[c];                          \
            const real d = (x[at] - xi[position]) + (candidates->moved ? t[at] : 0);               \
            r2 = r2 + d * d;                                                                       \
        }                                                                                          \
        return r2;                                                                                 \
    }

DEFINE_R2(float)
DEFINE_R2(double)

/* By distance, then j, then in the order of images. */
static bool is_nearer(const struct writing *writing, int64_t position, int32_t a, int32_t b)
{
    const bool narrow = writing->search->problem->dtype == KITH_F32;
    const double first = narrow ? r2_float(writing, position, a) : r2_double(writing, position, a);
    const double second = narrow ? r2_float(writing, position, b) : r2_double(writing, position, b);
    const int32_t *index = writing->candidates->index;
    if (first != second)
        return first < second;
    return index[a] != index[b] ? index[a] < index[b] : a < b;
}

/* Keys of r² as a float, whose bits are in the order of the numbers, and the candidate. What is
 * equal or was rounded to be so is then put right. */
static void sort_by_distance(const struct writing *writing, int64_t position, int64_t count)
{
    const struct pairs_problem *problem = writing->search->problem;
    for (int64_t k = 0; k < count; k++) {
        const int32_t at = writing->found[k];
        const double r2 = problem->dtype == KITH_F32 ? r2_float(writing, position, at)
                                                     : r2_double(writing, position, at);
        const float rounded = (float)r2;
        uint32_t bits = 0;
        memcpy(&bits, &rounded, sizeof bits);
        writing->keys[k] = (int64_t)bits << 32 | at;
    }
    if (count > 1)
        writing->kernels->sort_wide(writing->keys, count);
    int32_t *found = writing->found;
    for (int64_t k = 0; k < count; k++) {
        const int32_t at = (int32_t)(writing->keys[k] & UINT32_MAX);
        int64_t to = k;
        for (; to > 0 && (writing->keys[to - 1] >> 32) == (writing->keys[k] >> 32) &&
               is_nearer(writing, position, at, found[to - 1]);
             to--)
            found[to] = found[to - 1];
        found[to] = at;
    }
}

kith_status pairs_write_nearest(const struct pairs_kernels *kernels,
                                const struct pairs_search *search,
                                const struct pairs_candidates *candidates, int64_t position,
                                int64_t place, int64_t wanted, struct pairs_lane *lane,
                                kith_pairs *pairs, bool *found)
{
    struct writing writing;
    KITH_TRY(begin_writing(kernels, search, candidates, lane, pairs, &writing));
    const int64_t count = pairs_find_row(kernels, search, candidates, position, writing.found);
    *found = count >= wanted;
    if (!*found)
        return KITH_OK;
    sort_by_distance(&writing, position, count);
    write_found(&writing, position, place, wanted);
    return KITH_OK;
}
