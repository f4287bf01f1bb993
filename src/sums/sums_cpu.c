/* Sums over pairs on the CPU: particles in the order of their cells, and for each cell the
 * candidates around it, block by block, to the kernel that was compiled with the formulas. */

#include <stdatomic.h>
#include <string.h>

#include "cells/cells.h"
#include "cells/walk.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/cpu.h"
#include "device/threads.h"
#include "sums/backend.h"
#include "sums/code.h"
#include "sums/columns.h"
#include "sums/reduction.h"

/* Targets that a thread takes at once, and those that share one gathering of candidates. */
enum { targets_a_task = 256, most_targets_of_cell = 64 };

/* Rows of a step that rearranges particles. */
enum { rows_a_part = 1 << 14 };

/* What a thread does in a second, to tell how many threads are worth waking. */
static const double targets_a_second = 2e6, pairs_a_second = 1e9, rows_a_second = 1e8;

/* One side in the order of its cells (slots), or all pairs in that of its rows. */
struct sorted_side {
    const struct sums_side *side;
    struct cells_points wrapped, points; /* by row, by slot; the same for all pairs */
    uint32_t *order;                     /* the row of a slot; NULL: slot k is row k */
    void *column[sums_most_columns];     /* those that formulas use, by slot */
    int32_t columns;
    void *records; /* of sources within a cutoff (sums_kernel.h) */
    int32_t fields;
};

/* What a thread gathers candidates in. */
struct lane {
    char *position[3], *translation[3], *records;
    int32_t *found, *number;
    int64_t count, pairs;
    bool is_inside; /* no candidate has a translation: records are those of the sources */
    bool moved;
    int64_t self_begin, self_end, self_at;
};

struct job {
    const kith_context *context;
    struct sums_problem *problem;
    struct law_numbers numbers;
    sums_kernel *kernel;
    bool has_cells, periodic;
    struct cells_grid grid;
    int32_t *begin; /* of buckets */
    void *scratch;  /* of sorting */
    struct sorted_side sources, targets;
    struct sums_targets of_kernel;
    int64_t threads;
    struct lane *lanes;
    atomic_long next;
};

/* Parts of one block of memory; the first laying out only measures. */
struct arena {
    char *base;
    int64_t used;
};

static void *take(struct arena *arena, int64_t count, int64_t bytes_each)
{
    void *memory = arena->base ? arena->base + arena->used : NULL;
    arena->used += kith_padded(count * bytes_each);
    return memory;
}

static void lay_out_points(struct arena *arena, const struct sums_problem *problem, int64_t count,
                           struct cells_points *points)
{
    points->count = count;
    points->dtype = problem->dtype;
    for (int c = 0; c < 3; c++)
        points->position[c] = take(arena, count + sums_padding, kith_dtype_bytes(problem->dtype));
}

static void lay_out_side(struct arena *arena, const struct job *job, const struct sums_side *side,
                         const bool *uses, bool is_sources, struct sorted_side *sorted)
{
    const int64_t n = side->count, real = kith_dtype_bytes(job->problem->dtype);
    sorted->side = side;
    sorted->columns = sums_column_count(uses);
    lay_out_points(arena, job->problem, n, &sorted->wrapped);
    sorted->points = sorted->wrapped;
    if (job->has_cells) {
        lay_out_points(arena, job->problem, n, &sorted->points);
        sorted->order = take(arena, n, sizeof *sorted->order);
    }
    if (job->has_cells && is_sources) {
        sorted->fields = sums_fields_of_record(sorted->columns, job->periodic);
        sorted->records = take(arena, n * sorted->fields, real);
        return;
    }
    for (int32_t c = 0; c < sorted->columns; c++)
        sorted->column[c] = take(arena, n + sums_padding, real);
}

static void lay_out_lanes(struct arena *arena, struct job *job)
{
    const int64_t real = kith_dtype_bytes(job->problem->dtype);
    const int64_t room = sums_most_candidates + sums_padding;
    job->lanes = take(arena, job->threads, sizeof *job->lanes);
    for (int64_t k = 0; k < job->threads && job->has_cells; k++) {
        struct lane lane = {0};
        for (int c = 0; c < 3; c++) {
            lane.position[c] = take(arena, room, real);
            lane.translation[c] = take(arena, room, real);
        }
        lane.records = take(arena, job->periodic ? room * job->sources.fields : 0, real);
        lane.found = take(arena, room, sizeof *lane.found);
        lane.number = take(arena, room, sizeof *lane.number);
        if (arena->base)
            job->lanes[k] = lane;
    }
    for (int64_t k = 0; k < job->threads && arena->base && !job->has_cells; k++)
        job->lanes[k] = (struct lane){0};
}

static void lay_out(struct arena *arena, struct job *job)
{
    const struct sums_problem *problem = job->problem;
    const int64_t n = problem->targets.count, m = problem->sources.count;
    const int64_t results = n * problem->formulas->output_count;
    lay_out_side(arena, job, &problem->sources, problem->formulas->uses_j, true, &job->sources);
    lay_out_side(arena, job, &problem->targets, problem->formulas->uses_i, false, &job->targets);
    if (job->has_cells) {
        job->begin = take(arena, cells_most_buckets(m) + 1, sizeof *job->begin);
        job->scratch = take(arena, cells_sort_scratch_bytes(n > m ? n : m), 1);
    }
    job->of_kernel.value = take(arena, results, sizeof(double));
    job->of_kernel.rest =
        problem->reduction == KITH_SUMS_LOGSUMEXP ? take(arena, results, sizeof(double)) : NULL;
    lay_out_lanes(arena, job);
}

static kith_status make_room(kith_context *context, struct job *job)
{
    struct arena arena = {0};
    void *memory = NULL;
    lay_out(&arena, job);
    KITH_TRY(cpu_scratch(context, arena.used, &memory));
    arena = (struct arena){memory, 0};
    lay_out(&arena, job);
    return KITH_OK;
}

static kith_status wrap_side(kith_context *context, const struct job *job,
                             struct sorted_side *sorted, struct cells_bounds *bounds)
{
    int64_t bad_row = -1;
    KITH_TRY(cells_wrap_cpu(context, sorted->side->positions, &job->problem->lattice,
                            &sorted->wrapped, bounds, &bad_row));
    return bad_row >= 0 ? sums_fail_at_row(sorted->side, bad_row) : KITH_OK;
}

/* A step over the slots of a side. */
struct arranging {
    const struct sums_problem *problem;
    struct sorted_side *sorted;
    const bool *uses;
    bool periodic;
};

static int64_t row_of(const struct sorted_side *sorted, int64_t slot)
{
    return sorted->order ? (int64_t)sorted->order[slot] : slot;
}

#define DEFINE_ARRANGE(real)                                                                       \
    static void arrange_points_##real(struct sorted_side *sorted, int64_t begin, int64_t end)      \
    {                                                                                              \
        for (int c = 0; c < 3; c++) {                                                              \
            const real *from = sorted->wrapped.position[c];                                        \
            real *to = sorted->points.position[c];                                                 \
            for (int64_t slot = begin; slot < end; slot++)                                         \
                to[slot] = from[sorted->order[slot]];                                              \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void start_records_##real(struct sorted_side *sorted, int64_t begin, int64_t end)       \
    {                                                                                              \
        const int64_t fields = sorted->fields;                                                     \
        for (int64_t slot = begin; slot < end; slot++) {                                           \
            real *record = (real *)sorted->records + slot * fields;                                \
            for (int c = 0; c < 3; c++)                                                            \
                record[c] = ((const real *)sorted->points.position[c])[slot];                      \
            for (int64_t field = 3; field < fields; field++)                                       \
                record[field] = 0;                                                                 \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void arrange_column_##real(const struct sorted_side *sorted, kith_array from, real *to, \
                                      int64_t stride, int64_t begin, int64_t end)                  \
    {                                                                                              \
        const real *values = from.data;                                                            \
        for (int64_t slot = begin; slot < end; slot++)                                             \
            to[slot * stride] = values[row_of(sorted, slot) * from.strides[0]];                    \
    }

DEFINE_ARRANGE(float)
DEFINE_ARRANGE(double)

/* Column `number` of those that are used, to its field of the records or to a column. */
static void arrange_column(const struct arranging *arranging, kith_array from, int32_t number,
                           int64_t begin, int64_t end)
{
    const struct sorted_side *sorted = arranging->sorted;
    const int64_t stride = sorted->records ? sorted->fields : 1;
    const int64_t field = sorted->records ? sums_field_of_column(number, arranging->periodic) : 0;
    void *to = sorted->records ? sorted->records : sorted->column[number];
    if (arranging->problem->dtype == KITH_F32)
        arrange_column_float(sorted, from, (float *)to + field, stride, begin, end);
    else
        arrange_column_double(sorted, from, (double *)to + field, stride, begin, end);
}

static void arrange_part(void *argument, int64_t part)
{
    const struct arranging *arranging = argument;
    struct sorted_side *sorted = arranging->sorted;
    const bool narrow = arranging->problem->dtype == KITH_F32;
    const int64_t begin = part * rows_a_part, count = sorted->points.count;
    const int64_t end = begin + rows_a_part < count ? begin + rows_a_part : count;
    if (sorted->order)
        (narrow ? arrange_points_float : arrange_points_double)(sorted, begin, end);
    if (sorted->records)
        (narrow ? start_records_float : start_records_double)(sorted, begin, end);
    for (int32_t k = 0, number = 0; k < formula_most_columns; k++)
        if (arranging->uses[k])
            arrange_column(arranging, sorted->side->column[k], number++, begin, end);
}

static kith_status arrange_side(kith_context *context, const struct job *job,
                                struct sorted_side *sorted, const bool *uses)
{
    struct arranging arranging = {job->problem, sorted, uses, job->periodic};
    const int64_t count = sorted->points.count;
    return kith_for_each(context, kith_threads_for(context, (double)count / rows_a_second),
                         (count + rows_a_part - 1) / rows_a_part, arrange_part, &arranging);
}

static kith_status sort_sides(kith_context *context, struct job *job,
                              const struct cells_bounds *bounds)
{
    const struct sums_problem *problem = job->problem;
    cells_grid_choose(&problem->lattice, problem->dtype, problem->dimensions, problem->cutoff,
                      bounds, problem->sources.count, &job->grid);
    KITH_TRY(cells_sort_cpu(context, &job->grid, &problem->lattice, &job->sources.wrapped,
                            job->sources.order, job->begin, job->scratch));
    if (!problem->same)
        return cells_sort_cpu(context, &job->grid, &problem->lattice, &job->targets.wrapped,
                              job->targets.order, NULL, job->scratch);
    memcpy(job->targets.order, job->sources.order,
           (size_t)problem->sources.count * sizeof *job->sources.order);
    return KITH_OK;
}

static kith_status prepare(kith_context *context, struct job *job)
{
    struct sums_problem *problem = job->problem;
    struct cells_bounds bounds = cells_bounds_empty();
    KITH_TRY(wrap_side(context, job, &job->targets, &bounds));
    KITH_TRY(wrap_side(context, job, &job->sources, &bounds));
    KITH_TRY(sums_check_columns(problem, &problem->targets));
    KITH_TRY(sums_check_columns(problem, &problem->sources));
    if (job->has_cells)
        KITH_TRY(sort_sides(context, job, &bounds));
    KITH_TRY(arrange_side(context, job, &job->sources, problem->formulas->uses_j));
    KITH_TRY(arrange_side(context, job, &job->targets, problem->formulas->uses_i));
    const struct sums_reduced nothing = sums_reduced_nothing(problem->reduction);
    for (int64_t k = 0; k < problem->targets.count * problem->formulas->output_count; k++) {
        job->of_kernel.value[k] = nothing.value;
        if (job->of_kernel.rest)
            job->of_kernel.rest[k] = nothing.rest;
    }
    for (int c = 0; c < 3; c++)
        job->of_kernel.position[c] = job->targets.points.position[c];
    for (int32_t c = 0; c < job->targets.columns; c++)
        job->of_kernel.column[c] = job->targets.column[c];
    return KITH_OK;
}

/* Compares targets with the candidates that have been gathered. */
static void flush(const struct job *job, struct lane *lane, int64_t begin, int64_t end)
{
    struct sums_candidates candidates = {.count = lane->count,
                                         .records =
                                             lane->is_inside ? job->sources.records : lane->records,
                                         .number = lane->number,
                                         .moved = lane->moved,
                                         .self_begin = lane->self_begin,
                                         .self_end = lane->self_end,
                                         .self_at = lane->self_at,
                                         .found = lane->found};
    for (int c = 0; c < 3; c++) {
        candidates.position[c] = lane->position[c];
        candidates.translation[c] = lane->translation[c];
    }
    if (lane->count > 0)
        lane->pairs += job->kernel(&job->numbers, job->problem->limit, &candidates, &job->of_kernel,
                                   begin, end);
    lane->count = lane->self_begin = lane->self_end = 0;
    lane->moved = false;
}

static void fill(const struct job *job, char *to, int64_t stride, int64_t count, double value)
{
    for (int64_t k = 0; k < count; k++)
        if (job->problem->dtype == KITH_F32)
            ((float *)(void *)to)[k * stride] = (float)value;
        else
            ((double *)(void *)to)[k * stride] = value;
}

static void add_translations(const struct job *job, struct lane *lane, const int32_t image[3],
                             int64_t count)
{
    const int64_t real = kith_dtype_bytes(job->problem->dtype), fields = job->sources.fields;
    const bool moved = image[0] != 0 || image[1] != 0 || image[2] != 0;
    for (int c = 0; c < 3; c++) {
        const double t = moved ? pairs_translation(&job->problem->lattice, image, c) : 0;
        fill(job, lane->translation[c] + lane->count * real, 1, count, t);
        if (moved)
            fill(job, lane->records + (lane->count * fields + sums_field_of_translation(c)) * real,
                 fields, count, t);
    }
    lane->moved = lane->moved || moved;
}

/* The sources first … first + count − 1 at an image, for targets begin … end − 1. */
static void gather(const struct job *job, struct lane *lane, const int32_t image[3], int64_t first,
                   int64_t count, int64_t begin, int64_t end)
{
    const int64_t real = kith_dtype_bytes(job->problem->dtype), fields = job->sources.fields;
    const struct sums_problem *problem = job->problem;
    for (int c = 0; c < problem->dimensions; c++)
        memcpy(lane->position[c] + lane->count * real,
               (const char *)job->sources.points.position[c] + first * real,
               (size_t)(count * real));
    if (!lane->is_inside) {
        memcpy(lane->records + lane->count * fields * real,
               (const char *)job->sources.records + first * fields * real,
               (size_t)(count * fields * real));
        add_translations(job, lane, image, count);
    }
    const int64_t record = lane->is_inside ? first : lane->count;
    for (int64_t k = 0; k < count; k++)
        lane->number[lane->count + k] = (int32_t)(record + k);
    const bool is_home = image[0] == 0 && image[1] == 0 && image[2] == 0;
    if (is_home && problem->same && !problem->include_self && first < end &&
        begin < first + count) {
        lane->self_begin = first > begin ? first : begin;
        lane->self_end = first + count < end ? first + count : end;
        lane->self_at = lane->count + lane->self_begin - first;
    }
    lane->count += count;
}

/* Whether all candidates of a cell are at image 0. */
static bool is_inside(const struct job *job, const int64_t cell[3])
{
    const struct cells_grid *grid = &job->grid;
    for (int k = 0; k < 3; k++)
        if (grid->count[k] > 0 &&
            (cell[k] < grid->reach[k] || cell[k] + grid->reach[k] >= grid->count[k]))
            return false;
    return true;
}

/* Targets of one cell. */
static void sum_cell(const struct job *job, struct lane *lane, const int64_t cell[3], int64_t begin,
                     int64_t end)
{
    struct cells_walk walk;
    struct cells_run run;
    lane->is_inside = is_inside(job, cell);
    cells_walk_begin(&walk, &job->grid, job->begin, cell);
    while (cells_walk_next(&walk, &run)) {
        int64_t first = run.begin;
        while (first < run.end) {
            const int64_t room = sums_most_candidates - lane->count, left = run.end - first;
            const int64_t count = left < room ? left : room;
            gather(job, lane, run.image, first, count, begin, end);
            first += count;
            if (lane->count == sums_most_candidates)
                flush(job, lane, begin, end);
        }
    }
    flush(job, lane, begin, end);
}

static void sum_near_targets(const struct job *job, struct lane *lane, int64_t begin, int64_t end)
{
    const struct pairs_lattice *lattice = &job->problem->lattice;
    int64_t cell[3], next[3];
    if (begin < end)
        cells_of_point(&job->grid, lattice, &job->targets.points, begin, next);
    while (begin < end && !kith_context_stops(job->context)) {
        int64_t last = begin + 1;
        memcpy(cell, next, sizeof cell);
        for (; last < end; last++) {
            cells_of_point(&job->grid, lattice, &job->targets.points, last, next);
            if (last - begin == most_targets_of_cell || memcmp(cell, next, sizeof cell) != 0)
                break;
        }
        sum_cell(job, lane, cell, begin, last);
        begin = last;
    }
}

/* All pairs: the sources in blocks that stay in the cache for all targets of a task. */
static void sum_all_targets(const struct job *job, struct lane *lane, int64_t begin, int64_t end)
{
    const struct sums_problem *problem = job->problem;
    const int64_t real = kith_dtype_bytes(problem->dtype), m = problem->sources.count;
    const bool leaves_out = problem->same && !problem->include_self;
    for (int64_t first = 0; first < m; first += sums_most_candidates) {
        const int64_t left = m - first;
        struct sums_candidates candidates = {
            .count = left < sums_most_candidates ? left : sums_most_candidates,
            .self_begin = first};
        if (first % (64 * sums_most_candidates) == 0 && kith_context_stops(job->context))
            return;
        candidates.self_end = leaves_out ? first + candidates.count : first;
        for (int c = 0; c < 3; c++)
            candidates.position[c] = (const char *)job->sources.points.position[c] + first * real;
        for (int32_t c = 0; c < job->sources.columns; c++)
            candidates.column[c] = (const char *)job->sources.column[c] + first * real;
        lane->pairs +=
            job->kernel(&job->numbers, problem->limit, &candidates, &job->of_kernel, begin, end);
    }
}

static void sum_in_lane(void *argument, int64_t k)
{
    struct job *job = argument;
    const int64_t count = job->problem->targets.count;
    const int64_t each = job->has_cells ? targets_a_task : most_targets_of_cell;
    while (!kith_context_stops(job->context)) {
        const int64_t begin = each * atomic_fetch_add(&job->next, 1);
        const int64_t end = begin + each < count ? begin + each : count;
        if (begin >= count)
            return;
        if (job->has_cells)
            sum_near_targets(job, &job->lanes[k], begin, end);
        else
            sum_all_targets(job, &job->lanes[k], begin, end);
    }
}

static void store_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct sums_problem *problem = job->problem;
    const int32_t outputs = problem->formulas->output_count;
    const int64_t begin = part * rows_a_part, count = problem->targets.count;
    const int64_t end = begin + rows_a_part < count ? begin + rows_a_part : count;
    for (int64_t slot = begin; slot < end; slot++)
        for (int32_t k = 0; k < outputs; k++) {
            const int64_t at = slot * outputs + k;
            const struct sums_reduced reduced = {job->of_kernel.value[at],
                                                 job->of_kernel.rest ? job->of_kernel.rest[at] : 0};
            sums_put(problem->results, row_of(&job->targets, slot), k,
                     sums_reduced_result(problem->reduction, reduced));
        }
}

static kith_status sum(kith_context *context, struct job *job)
{
    struct sums_problem *problem = job->problem;
    const int64_t count = problem->targets.count;
    KITH_TRY(kith_for_each(context, (int32_t)job->threads, job->threads, sum_in_lane, job));
    KITH_TRY(kith_context_check_cancelled(context));
    for (int64_t k = 0; k < job->threads; k++)
        problem->pair_count += job->lanes[k].pairs;
    return kith_for_each(context, kith_threads_for(context, (double)count / rows_a_second),
                         (count + rows_a_part - 1) / rows_a_part, store_part, job);
}

kith_status sums_cpu(kith_context *context, struct sums_problem *problem)
{
    struct job job = {.context = context, .problem = problem, .has_cells = problem->cutoff > 0};
    const double n = (double)problem->targets.count, m = (double)problem->sources.count;
    for (int k = 0; k < 3; k++)
        job.periodic = job.periodic || problem->lattice.periodic[k];
    job.threads = kith_threads_for(context, job.has_cells ? (n + m) / targets_a_second
                                                          : n * m / pairs_a_second);
    KITH_TRY(sums_kernel_of(context, problem, &job.kernel));
    formula_constants(problem->formulas->formula, problem->formulas->parameter, job.numbers.c);
    KITH_TRY(make_room(context, &job));
    KITH_TRY(prepare(context, &job));
    return sum(context, &job);
}
