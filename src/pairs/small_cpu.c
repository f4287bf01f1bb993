/* Pairs of small systems on the CPU: a target after the other is compared with all points of its
 * system. The rows that a task finds stay with the thread that found them, until all are counted
 * and the list has its memory. */

#include "pairs/small_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "core/isa.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "kith/build.h"
#include "pairs/list.h"
#include "pairs/small_system.h"
#include "pairs/stage.h"

/* Comparisons of a task: some ten microseconds. */
enum { comparisons_of_task = 1 << 18 };

static const double seconds_of_row = 30e-9, seconds_of_comparison = 0.3e-9;

/* Some systems as a whole, or targets of one. */
struct part {
    int64_t first_system, end_system;
    int64_t begin, end; /* targets in the system, if it is one */
    int32_t lane;       /* that has its rows */
    int64_t at;         /* where they begin */
};

struct small_search {
    kith_context *context;
    const struct pairs_problem *problem;
    const struct pairs_small_kernels *kernels;
    struct pairs_workspace *workspace;
    struct pairs_small_memory memory;
    kith_pairs *pairs;
    struct pairs_columns columns;
    struct pairs_small_system whole; /* the system, if it is one */
    struct part *parts;
    int64_t part_count;
    atomic_llong next_part;
    atomic_bool refused; /* this method does not suit some system */
};

static const struct pairs_small_kernels *kernels_of(const kith_context *context, kith_dtype dtype)
{
#define IN_DOUBLE(isa) &pairs_small_double_##isa,
#define IN_FLOAT(isa)  &pairs_small_float_##isa,
    static const struct pairs_small_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct pairs_small_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

static bool are_small(const struct pairs_problem *problem)
{
    if (problem->by_distance || problem->method == KITH_PAIRS_CELLS ||
        !kith_array_is_none(problem->point_radii) || !kith_array_is_none(problem->exclusions))
        return false;
    for (int64_t s = 0; s < problem->system_count; s++)
        if (!pairs_is_small(problem, &problem->systems[s]))
            return false;
    return true;
}

static double seconds_of(const struct pairs_problem *problem)
{
    double rows = 0, comparisons = 0;
    for (int64_t s = 0; s < problem->system_count; s++) {
        const double targets = (double)problem->systems[s].target_count;
        rows += targets;
        comparisons += targets * (double)problem->systems[s].point_count;
    }
    return seconds_of_row * rows + seconds_of_comparison * comparisons;
}

/* Targets of one system, or systems one after the other, for about as many comparisons each. */
static int64_t cut(const struct small_search *search, struct part *parts)
{
    const struct pairs_system *systems = search->problem->systems;
    const int64_t count = search->problem->system_count;
    int64_t cuts = 0;
    if (count == 1) {
        const int64_t targets = systems[0].target_count;
        const int64_t each = comparisons_of_task / (systems[0].point_count + 1) + 1;
        for (int64_t begin = 0; begin < targets; begin += each, cuts++)
            if (parts)
                parts[cuts] = (struct part){.end_system = 1,
                                            .begin = begin,
                                            .end = begin + each < targets ? begin + each : targets};
        return cuts;
    }
    for (int64_t s = 0; s < count; cuts++) {
        const int64_t first = s;
        for (int64_t work = 0; s < count && work < comparisons_of_task; s++)
            work += systems[s].target_count * (systems[s].point_count + 64);
        if (parts)
            parts[cuts] = (struct part){.first_system = first, .end_system = s};
    }
    return cuts;
}

static kith_status make_parts(struct small_search *search)
{
    struct pairs_buffer *buffer = &search->workspace->chunks;
    search->part_count = cut(search, NULL);
    KITH_TRY(pairs_host_buffer_grow(buffer, (search->part_count + 1) * (int64_t)sizeof(struct part),
                                    "the parts of a search"));
    search->parts = buffer->data;
    cut(search, search->parts);
    return KITH_OK;
}

/* Room for this many numbers more after those that a thread has found. */
static kith_status make_room(struct pairs_lane *lane, int64_t numbers)
{
    const int64_t needed = (lane->rows_end + numbers) * (int64_t)sizeof(int32_t);
    if (needed <= lane->rows.bytes)
        return KITH_OK;
    struct pairs_buffer larger = {.bytes = needed > 2 * lane->rows.bytes ? needed
                                                                         : 2 * lane->rows.bytes};
    KITH_TRY(kith_allocate(larger.bytes, 1, "the rows of a list", &larger.data));
    if (lane->rows_end > 0)
        memcpy(larger.data, lane->rows.data, (size_t)lane->rows_end * sizeof(int32_t));
    free(lane->rows.data);
    lane->rows = larger;
    return KITH_OK;
}

/* As many targets at a time as there is room for. */
static kith_status find_rows(const struct small_search *search,
                             const struct pairs_small_system *system, int64_t begin, int64_t end,
                             struct pairs_lane *lane)
{
    int64_t *counts = (int64_t *)search->pairs->offsets.data + 1 + system->targets.first;
    if (search->problem->count_only) {
        search->kernels->find(system, begin, end, NULL, counts + begin);
        return KITH_OK;
    }
    const int64_t each = system->points.count;
    while (begin < end) {
        KITH_TRY(make_room(lane, each + pairs_small_behind));
        const int64_t room = lane->rows.bytes / (int64_t)sizeof(int32_t) - lane->rows_end;
        const int64_t most = (room - pairs_small_behind) / (each + 1);
        const int64_t rows = most < 1 ? 1 : most < end - begin ? most : end - begin;
        lane->rows_end +=
            search->kernels->find(system, begin, begin + rows,
                                  (int32_t *)lane->rows.data + lane->rows_end, counts + begin);
        begin += rows;
    }
    return KITH_OK;
}

static kith_status find_part(struct small_search *search, struct part *part,
                             struct pairs_lane *lane)
{
    part->at = lane->rows_end;
    if (search->problem->system_count == 1)
        return find_rows(search, &search->whole, part->begin, part->end, lane);
    for (int64_t s = part->first_system; s < part->end_system; s++) {
        struct pairs_small_system system;
        if (!pairs_small_prepare(search->kernels, search->problem, &search->memory, s, &system)) {
            atomic_store(&search->refused, true);
            return KITH_OK;
        }
        KITH_TRY(find_rows(search, &system, 0, system.targets.count, lane));
    }
    return KITH_OK;
}

static void find_parts(void *argument, int64_t lane_number)
{
    struct small_search *search = argument;
    struct pairs_lane *lane = &search->workspace->lanes[lane_number];
    lane->rows_end = 0;
    for (;;) {
        const int64_t k = atomic_fetch_add(&search->next_part, 1);
        if (k >= search->part_count || lane->status != KITH_OK || atomic_load(&search->refused) ||
            kith_context_stops(search->context))
            return;
        search->parts[k].lane = (int32_t)lane_number;
        lane->status = find_part(search, &search->parts[k], lane);
    }
}

static void write_part(void *argument, int64_t k)
{
    const struct small_search *search = argument;
    const struct part *part = &search->parts[k];
    const int32_t *found = search->workspace->lanes[part->lane].rows.data;
    pairs_small_write_kernel *write = search->kernels->write;
    found += part->at;
    if (search->problem->system_count == 1) {
        write(&search->whole, part->begin, part->end, found, &search->columns);
        return;
    }
    const int64_t *offsets = search->columns.offsets;
    for (int64_t s = part->first_system; s < part->end_system; s++) {
        struct pairs_small_system system;
        pairs_small_describe(search->problem, &search->memory, s, &system);
        const int64_t first = system.targets.first, count = system.targets.count;
        write(&system, 0, count, found, &search->columns);
        found += offsets[first + count] - offsets[first];
    }
}

static kith_status find_all(struct small_search *search, int32_t threads)
{
    KITH_TRY(make_parts(search));
    KITH_TRY(kith_for_each(search->context, threads, threads, find_parts, search));
    for (int32_t k = 0; k < threads; k++)
        if (search->workspace->lanes[k].status != KITH_OK)
            return kith_fail(search->workspace->lanes[k].status,
                             "the rows of the list need more memory than there is: %lld bytes are "
                             "available; give a smaller cutoff, or fewer points",
                             (long long)kith_memory_available());
    return KITH_OK;
}

static kith_status write_all(struct small_search *search, int32_t threads)
{
    kith_pairs *pairs = search->pairs;
    int64_t *offsets = pairs->offsets.data;
    offsets[0] = 0;
    for (int64_t i = 0; i < pairs->row_count; i++)
        offsets[i + 1] += offsets[i];
    KITH_TRY(pairs_list_reserve(offsets[pairs->row_count], pairs));
    if (search->problem->count_only)
        return KITH_OK;
    search->columns = (struct pairs_columns){
        .offsets = offsets,
        .i = pairs->i.data,
        .j = pairs->j.data,
        .narrow = pairs->memory->request.narrow,
        .shifts = pairs->shifts.data,
        .vectors = pairs->vectors.data,
        .distances = pairs->distances.data,
        .unit = search->problem->unit,
    };
    return kith_for_each(search->context, threads, search->part_count, write_part, search);
}

kith_status pairs_small_cpu(kith_context *context, const struct pairs_problem *problem,
                            struct pairs_workspace *workspace, kith_pairs *pairs, bool *done)
{
    *done = false;
    if (!are_small(problem))
        return KITH_OK;
    struct small_search search = {
        .context = context,
        .problem = problem,
        .kernels = kernels_of(context, problem->dtype),
        .workspace = workspace,
        .pairs = pairs,
    };
    const bool shifts = (pairs->memory->request.quantities & KITH_PAIRS_SHIFTS) != 0;
    KITH_TRY(pairs_small_memory_make(problem, shifts, &workspace->bins[0], &search.memory));
    if (problem->system_count == 1 &&
        !pairs_small_prepare(search.kernels, problem, &search.memory, 0, &search.whole))
        return KITH_OK;
    const int32_t threads = kith_threads_for(context, seconds_of(problem));
    KITH_TRY(find_all(&search, threads));
    if (atomic_load(&search.refused))
        return KITH_OK;
    *done = true;
    return write_all(&search, threads);
}
