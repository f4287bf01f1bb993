#include "pairs/rows.h"

#include <math.h>
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
    const int64_t count = kernels->find(candidates, targets, position, found);
    if (kith_array_is_none(problem->exclusions))
        return count;
    return leave_out(problem, candidates, targets->index[position], found, count);
}

/* What writes the rows of a cell. */
struct writing {
    const struct pairs_kernels *kernels;
    const struct pairs_search *search;
    const struct pairs_candidates *candidates;
    int32_t *found;
    int64_t *keys;
    struct pairs_columns columns;
};

/* Writes what has been found, in its order; place is the target's row in its bin. */
static void write_found(const struct writing *writing, int64_t position, int64_t place,
                        int64_t count)
{
    const struct pairs_bin *targets = &writing->search->targets;
    writing->kernels->store(writing->candidates, &targets->points, position,
                            targets->wraps ? targets->wraps + 3 * place : NULL, writing->found,
                            count, &writing->columns);
}

static kith_status begin_writing(const struct pairs_kernels *kernels,
                                 const struct pairs_search *search,
                                 const struct pairs_candidates *candidates, struct pairs_lane *lane,
                                 const kith_pairs *pairs, struct writing *writing)
{
    const int64_t room = kith_padded(candidates->count) + pairs_candidates_behind;
    KITH_TRY(pairs_host_buffer_grow(&lane->keys, 8 * pairs_sorting_room(room),
                                    "the candidates of a cell"));
    KITH_TRY(
        pairs_host_buffer_grow(&lane->row, pairs_bytes_of_row * room, "the candidates of a cell"));
    *writing = (struct writing){
        .kernels = kernels,
        .search = search,
        .candidates = candidates,
        .found = lane->found.data,
        .keys = lane->keys.data,
        .columns = {.offsets = pairs->offsets.data,
                    .i = pairs->i.data,
                    .j = pairs->j.data,
                    .narrow = pairs->memory->request.narrow,
                    .target_count = search->targets.count,
                    .row = lane->row.data,
                    .shifts = pairs->shifts.data,
                    .vectors = pairs->vectors.data,
                    .distances = pairs->distances.data,
                    .room = room,
                    .bytes_of_shift = 4 * (int64_t)search->problem->dimensions,
                    .bytes_of_real = kith_dtype_bytes(search->problem->dtype),
                    .unit = search->problem->unit},
    };
    return KITH_OK;
}

kith_status pairs_write_rows(const struct pairs_kernels *kernels, const struct pairs_search *search,
                             const struct pairs_candidates *candidates, int64_t begin, int64_t end,
                             struct pairs_lane *lane, const kith_pairs *pairs)
{
    const struct pairs_problem *problem = search->problem;
    const struct pairs_bin *targets = &search->targets;
    struct writing writing;
    KITH_TRY(begin_writing(kernels, search, candidates, lane, pairs, &writing));
    if (kith_array_is_none(problem->exclusions)) {
        writing.columns.streamed = pairs->count >= pairs_of_streamed_list;
        kernels->write_whole(candidates, &targets->points, begin, end, writing.found,
                             &writing.columns);
        return KITH_OK;
    }
    for (int64_t position = begin; position < end; position++)
        write_found(&writing, position, targets->index[position] - targets->first,
                    pairs_find_row(kernels, search, candidates, position, writing.found));
    return KITH_OK;
}

/* As it is written: squares that differ may have one root. */
#define DEFINE_DISTANCE(real, root)                                                                \
    static double distance_##real(const struct writing *writing, int64_t position, int32_t at)     \
    {                                                                                              \
        const struct pairs_candidates *candidates = writing->candidates;                           \
        real r2 = 0;                                                                               \
        for (int32_t c = 0; c < candidates->dimensions; c++) {                                     \
            const real *x = candidates->position[c], *t = candidates->translation[c];              \
            const real *xi = writing->search->targets.points.position[c];                          \
            const real d = (x[at] - xi[position]) + (candidates->moved ? t[at] : 0);               \
            r2 = r2 + d * d;                                                                       \
        }                                                                                          \
        return root(r2);                                                                           \
    }

DEFINE_DISTANCE(float, sqrtf)
DEFINE_DISTANCE(double, sqrt)

static double distance(const struct writing *writing, int64_t position, int32_t at)
{
    return writing->search->problem->dtype == KITH_F32 ? distance_float(writing, position, at)
                                                       : distance_double(writing, position, at);
}

/* By distance, then j, then in the order of images. */
static bool is_nearer(const struct writing *writing, int64_t position, int32_t a, int32_t b)
{
    const double first = distance(writing, position, a), second = distance(writing, position, b);
    const int32_t *index = writing->candidates->index;
    if (first != second)
        return first < second;
    return index[a] != index[b] ? index[a] < index[b] : a < b;
}

/* Keys of the distance as a float, whose bits are in the order of the numbers, and the candidate.
 * What is equal or was rounded to be so is then put right. */
static void sort_by_distance(const struct writing *writing, int64_t position, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        const int32_t at = writing->found[k];
        const float rounded = (float)distance(writing, position, at);
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
                                const kith_pairs *pairs, bool *found)
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
