#include "pairs/rows.h"

#include <stddef.h>

#include "core/memory.h"
#include "pairs/stage.h"

static bool has_exclusions(const struct pairs_problem *problem)
{
    return !kith_array_is_none(problem->exclusions);
}

kith_status pairs_lane_reserve(struct pairs_lane *lane, const struct pairs_problem *problem,
                               int64_t run_count, int64_t candidates)
{
    static const char what[] = "the candidates of a point";
    const int64_t room = pairs_sorting_room(candidates) + kith_padding;
    (void)problem;
    KITH_TRY(pairs_host_buffer_grow(&lane->index, 4 * room, what));
    KITH_TRY(pairs_host_buffer_grow(&lane->place, 4 * room, what));
    KITH_TRY(pairs_host_buffer_grow(&lane->keys, 8 * room, what));
    return pairs_host_buffer_grow(&lane->ends, 8 * (run_count + 1), what);
}

static bool is_excluded(const int64_t *exclusions, int64_t count, int64_t j)
{
    for (int64_t k = 0; k < count; k++)
        if (exclusions[k] == j)
            return true;
    return false;
}

/* Closes the gaps that excluded points leave, in the places and the runs' ends too if they are
 * there. */
static int64_t leave_out(const struct pairs_problem *problem, int64_t i, int64_t run_count,
                         struct pairs_hits *hits)
{
    const int64_t *offsets = problem->exclusion_offsets.data;
    const int64_t *exclusions = (const int64_t *)problem->exclusions.data + offsets[i];
    const int64_t excluded = offsets[i + 1] - offsets[i];
    int64_t kept = 0, run = 0;
    for (int64_t k = 0; k < hits->count; k++) {
        for (; hits->place && run < run_count && hits->ends[run] <= k; run++)
            hits->ends[run] = kept;
        if (is_excluded(exclusions, excluded, hits->index[k]))
            continue;
        hits->index[kept] = hits->index[k];
        if (hits->place)
            hits->place[kept] = hits->place[k];
        kept++;
    }
    for (; hits->place && run < run_count; run++)
        hits->ends[run] = kept;
    return kept;
}

static struct pairs_hits find(const struct pairs_kernels *kernels,
                              const struct pairs_search *search, const struct pairs_scan *scan,
                              int64_t position, bool places, struct pairs_lane *lane)
{
    const struct pairs_problem *problem = search->problem;
    const bool radii = scan->points->radius != NULL; /* the kernel then writes places */
    struct pairs_hits hits = {.index = lane->index.data,
                              .place = places || radii ? lane->place.data : NULL,
                              .ends = lane->ends.data};
    kernels->find[problem->dtype](scan, &search->targets.points, position, &hits);
    if (has_exclusions(problem) && hits.count > 0)
        hits.count = leave_out(problem, search->targets.index[position], scan->run_count, &hits);
    return hits;
}

int64_t pairs_find_row(const struct pairs_kernels *kernels, const struct pairs_search *search,
                       const struct pairs_scan *scan, int64_t position, struct pairs_lane *lane)
{
    return find(kernels, search, scan, position, false, lane).count;
}

static void write_i(kith_array array, int64_t begin, int64_t count, int64_t i)
{
    int64_t *wide = array.data;
    int32_t *narrow = array.data;
    if (kith_array_is_none(array))
        return;
    if (array.dtype == KITH_I64)
        for (int64_t p = begin; p < begin + count; p++)
            wide[p] = i;
    else
        for (int64_t p = begin; p < begin + count; p++)
            narrow[p] = (int32_t)i;
}

static void write_j(kith_array array, int64_t begin, int64_t count, const int32_t *restrict j)
{
    int64_t *restrict wide = array.data;
    int32_t *restrict narrow = array.data;
    if (kith_array_is_none(array))
        return;
    if (array.dtype == KITH_I64)
        for (int64_t p = 0; p < count; p++)
            wide[begin + p] = j[p];
    else
        for (int64_t p = 0; p < count; p++)
            narrow[begin + p] = j[p];
}

/* Keys of j and the order of finding: sorted, they give the pairs by j and then, as runs come in
 * the order of their images, by shift. */
static void sort_with_order(const struct pairs_kernels *kernels, bool sorted,
                            const struct pairs_hits *hits, int64_t *keys)
{
    for (int64_t k = 0; k < hits->count; k++)
        keys[k] = (int64_t)hits->index[k] << 32 | k;
    if (sorted && hits->count > 1)
        kernels->sort_wide(keys, hits->count);
}

/* The run of each hit takes the place of its j, which is in the key. */
static void write_runs(const struct pairs_hits *hits, int64_t run_count)
{
    int64_t k = 0;
    for (int64_t run = 0; run < run_count; run++)
        for (; k < hits->ends[run]; k++)
            hits->index[k] = (int32_t)run;
}

/* The vectors and distances of a row, with the arithmetic of geometry.h. */
#define DEFINE_WRITE_LENGTHS(real, root)                                                           \
    static void write_lengths_##real(                                                              \
        const struct pairs_search *search, const struct pairs_scan *scan, int64_t position,        \
        const struct pairs_hits *hits, const int64_t *keys, int64_t begin, kith_pairs *pairs)      \
    {                                                                                              \
        const int32_t dimensions = search->problem->dimensions;                                    \
        const real unit = (real)search->problem->unit;                                             \
        real *vectors = pairs->vectors.data, *distances = pairs->distances.data;                   \
        for (int64_t p = 0; p < hits->count; p++) {                                                \
            const int64_t k = keys[p] & UINT32_MAX, place = hits->place[k];                        \
            const struct pairs_run *run = &scan->runs[hits->index[k]];                             \
            real r2 = 0;                                                                           \
            for (int32_t c = 0; c < dimensions; c++) {                                             \
                const real *x = scan->points->position[c];                                         \
                const real *xi = search->targets.points.position[c];                               \
                const real d = (x[place] - xi[position]) + (real)run->translation[c];              \
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

/* S = T − n_j + n_i */
static void write_shifts(const struct pairs_search *search, const struct pairs_scan *scan,
                         int64_t position, const struct pairs_hits *hits, const int64_t *keys,
                         int64_t begin, kith_pairs *pairs)
{
    const int32_t dimensions = search->problem->dimensions;
    const struct pairs_bin *points = &search->points, *targets = &search->targets;
    int32_t *shifts = pairs->shifts.data;
    const int64_t i = targets->index[position] - targets->first;
    for (int64_t p = 0; p < hits->count; p++) {
        const int64_t j = (keys[p] >> 32) - points->first;
        const struct pairs_run *run = &scan->runs[hits->index[keys[p] & UINT32_MAX]];
        for (int32_t k = 0; k < dimensions; k++) {
            int32_t shift = run->image[k];
            if (points->wraps)
                shift += targets->wraps[3 * i + k] - points->wraps[3 * j + k];
            shifts[(begin + p) * dimensions + k] = shift;
        }
    }
}

static void write_all(const struct pairs_kernels *kernels, const struct pairs_search *search,
                      const struct pairs_scan *scan, int64_t position,
                      const struct pairs_hits *hits, struct pairs_lane *lane, int64_t begin,
                      kith_pairs *pairs)
{
    int64_t *keys = lane->keys.data;
    sort_with_order(kernels, search->problem->sorted, hits, keys);
    write_runs(hits, scan->run_count);
    if (!kith_array_is_none(pairs->vectors) || !kith_array_is_none(pairs->distances)) {
        if (search->problem->dtype == KITH_F32)
            write_lengths_float(search, scan, position, hits, keys, begin, pairs);
        else
            write_lengths_double(search, scan, position, hits, keys, begin, pairs);
    }
    if (!kith_array_is_none(pairs->shifts))
        write_shifts(search, scan, position, hits, keys, begin, pairs);
    for (int64_t p = 0; p < hits->count; p++)
        hits->index[p] = (int32_t)(keys[p] >> 32);
    write_j(pairs->j, begin, hits->count, hits->index);
}

void pairs_write_row(const struct pairs_kernels *kernels, const struct pairs_search *search,
                     const struct pairs_scan *scan, int64_t position, struct pairs_lane *lane,
                     kith_pairs *pairs)
{
    const bool lengths =
        !kith_array_is_none(pairs->vectors) || !kith_array_is_none(pairs->distances);
    const bool all = lengths || !kith_array_is_none(pairs->shifts);
    const struct pairs_hits hits = find(kernels, search, scan, position, all, lane);
    const int64_t i = search->targets.index[position];
    const int64_t begin = ((const int64_t *)pairs->offsets.data)[i];
    write_i(pairs->i, begin, hits.count, i);
    if (all) {
        write_all(kernels, search, scan, position, &hits, lane, begin, pairs);
        return;
    }
    /* A run has its points in the order of their cells, and of their rows if it is one cell. */
    if (search->problem->sorted && hits.count > 1 && !kith_array_is_none(pairs->j))
        kernels->sort_narrow(hits.index, hits.count);
    write_j(pairs->j, begin, hits.count, hits.index);
}
