/* Sums over pairs on the CPU: for each cell the candidates around it, block by block, to the kernel
 * that was compiled with the formulas. Points that have no cells are found by a k-d tree. */

#include <stdatomic.h>
#include <string.h>

#include "cells/walk.h"
#include "device/context.h"
#include "device/cpu.h"
#include "device/threads.h"
#include "law/compiled.h"
#include "pairs/visit.h"
#include "sums/arrange.h"
#include "sums/backend.h"
#include "sums/code.h"
#include "sums/reduction.h"

/* Targets that a thread takes at once, and those that share one block of candidates. */
enum { targets_a_task = 256, most_targets_of_cell = 64 };

/* Rows of a step that stores results. */
enum { rows_a_part = 1 << 14 };

/* Ranges of candidates in a block. */
enum { most_ranges = 128 };

/* Work of a thread per second; decides how many threads to wake. */
static const double targets_a_second = 2e6, pairs_a_second = 1e9, rows_a_second = 1e8;

/* What a thread gathers candidates in. */
struct lane {
    struct sums_range range[most_ranges];
    int64_t range_count, count, pairs;
    bool moved;
    struct sums_room *room;
};

struct job {
    const kith_context *context;
    struct sums_problem *problem;
    struct law_numbers numbers;
    sums_kernel *kernel;
    struct sums_arranged arranged;
    struct sums_targets targets;
    int64_t threads;
    struct lane *lanes;
    atomic_long next;
};

/* Whether the pairs are all there are, in blocks of sources. */
static bool takes_all(const struct sums_problem *problem)
{
    return problem->cutoff == 0 && !problem->list.offsets;
}

static void lay_out(struct arena *arena, struct job *job)
{
    const struct sums_problem *problem = job->problem;
    const int64_t results = problem->targets.count * problem->formulas->output_count;
    sums_arrange_lay_out(arena, &job->arranged);
    job->targets.value = arena_take(arena, results, sizeof(double));
    job->targets.rest = problem->reduction == KITH_SUMS_LOGSUMEXP
                            ? arena_take(arena, results, sizeof(double))
                            : NULL;
    job->lanes = arena_take(arena, job->threads, sizeof *job->lanes);
    for (int64_t k = 0; k < job->threads; k++) {
        struct sums_room *room = takes_all(problem) ? NULL : arena_take(arena, 1, sizeof *room);
        if (arena->base)
            job->lanes[k] = (struct lane){.room = room};
    }
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

static void begin_targets(struct job *job)
{
    const struct sums_problem *problem = job->problem;
    const struct sums_reduced nothing = sums_reduced_nothing(problem->reduction);
    for (int64_t k = 0; k < problem->targets.count * problem->formulas->output_count; k++) {
        job->targets.value[k] = nothing.value;
        if (job->targets.rest)
            job->targets.rest[k] = nothing.rest;
    }
    for (int c = 0; c < 3; c++)
        job->targets.position[c] = job->arranged.targets.points.position[c];
    for (int32_t c = 0; c < job->arranged.targets.columns; c++)
        job->targets.column[c] = job->arranged.targets.column[c];
}

static struct sums_candidates candidates_of(const struct job *job, const struct lane *lane)
{
    const struct sums_arranged_side *sources = &job->arranged.sources;
    const struct sums_problem *problem = job->problem;
    struct sums_candidates candidates = {.records = sources->records,
                                         .range = lane->range,
                                         .range_count = lane->range_count,
                                         .list = &problem->list,
                                         .scale = 1 / job->arranged.search,
                                         .moved = lane->moved || problem->list.shifts,
                                         .leaves_out_self = problem->same && !problem->include_self,
                                         .room = lane->room};
    for (int c = 0; c < 3; c++)
        candidates.position[c] = sources->points.position[c];
    for (int32_t c = 0; c < sources->columns; c++)
        candidates.column[c] = sources->column[c];
    return candidates;
}

static void call_kernel(const struct job *job, struct lane *lane, int64_t begin, int64_t end)
{
    const struct sums_candidates candidates = candidates_of(job, lane);
    lane->pairs +=
        job->kernel(&job->numbers, job->problem->limit, &candidates, &job->targets, begin, end);
}

/* Compares targets with the candidates that have been collected. */
static void flush(const struct job *job, struct lane *lane, int64_t begin, int64_t end)
{
    if (lane->count > 0)
        call_kernel(job, lane, begin, end);
    lane->range_count = lane->count = 0;
    lane->moved = false;
}

/* The sources begin … end − 1 at an image. */
static void collect(const struct job *job, struct lane *lane, const int32_t image[3], int64_t begin,
                    int64_t end)
{
    struct sums_range *range = &lane->range[lane->range_count++];
    *range = (struct sums_range){begin, end, {0}};
    lane->count += end - begin;
    if (image[0] == 0 && image[1] == 0 && image[2] == 0)
        return;
    for (int c = 0; c < 3; c++)
        range->translation[c] = pairs_translation(&job->problem->lattice, image, c);
    lane->moved = true;
}

/* Targets of one cell. */
static void sum_cell(const struct job *job, struct lane *lane, const int64_t cell[3], int64_t begin,
                     int64_t end)
{
    struct cells_walk walk;
    struct cells_run run;
    cells_walk_begin(&walk, &job->arranged.grid, job->arranged.begin, cell);
    while (cells_walk_next(&walk, &run)) {
        int64_t first = run.begin;
        while (first < run.end) {
            const int64_t room = sums_most_candidates - lane->count, left = run.end - first;
            const int64_t count = left < room ? left : room;
            collect(job, lane, run.image, first, first + count);
            first += count;
            if (lane->count == sums_most_candidates || lane->range_count == most_ranges)
                flush(job, lane, begin, end);
        }
    }
    flush(job, lane, begin, end);
}

static void sum_near_targets(const struct job *job, struct lane *lane, int64_t begin, int64_t end)
{
    const struct pairs_lattice *lattice = &job->problem->lattice;
    const struct cells_grid *grid = &job->arranged.grid;
    const struct cells_points *points = &job->arranged.targets.points;
    int64_t cell[3], next[3];
    if (begin < end)
        cells_of_point(grid, lattice, points, begin, next);
    while (begin < end && !kith_context_stops(job->context)) {
        int64_t last = begin + 1;
        memcpy(cell, next, sizeof cell);
        for (; last < end; last++) {
            cells_of_point(grid, lattice, points, last, next);
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
    const int64_t m = job->problem->sources.count;
    for (int64_t first = 0; first < m; first += sums_most_candidates) {
        static const int32_t home[3];
        const int64_t left = m - first;
        if (first % (64 * sums_most_candidates) == 0 && kith_context_stops(job->context))
            return;
        collect(job, lane, home, first,
                first + (left < sums_most_candidates ? left : sums_most_candidates));
        flush(job, lane, begin, end);
    }
}

static void sum_in_lane(void *argument, int64_t k)
{
    struct job *job = argument;
    const int64_t count = job->problem->targets.count;
    const int64_t each = takes_all(job->problem) ? most_targets_of_cell : targets_a_task;
    while (!kith_context_stops(job->context)) {
        const int64_t begin = each * atomic_fetch_add(&job->next, 1);
        const int64_t end = begin + each < count ? begin + each : count;
        if (begin >= count)
            return;
        if (job->arranged.has_cells)
            sum_near_targets(job, &job->lanes[k], begin, end);
        else if (job->problem->list.offsets)
            call_kernel(job, &job->lanes[k], begin, end);
        else
            sum_all_targets(job, &job->lanes[k], begin, end);
    }
}

/* A target's row of partners. */
static void sum_row(void *argument, int64_t lane, int64_t i, const int32_t *partners, int64_t count)
{
    const struct job *job = argument;
    const int64_t offsets[2] = {0, count};
    const struct sums_list row = {.offsets = offsets, .first = i, .j = partners, .is_narrow = 1};
    struct sums_candidates candidates = candidates_of(job, &job->lanes[lane]);
    candidates.list = &row;
    job->lanes[lane].pairs +=
        job->kernel(&job->numbers, job->problem->limit, &candidates, &job->targets, i, i + 1);
}

/* Queries count the pair of a point with itself. */
static kith_status sum_rows(kith_context *context, struct job *job)
{
    const struct sums_problem *problem = job->problem;
    const bool others_only = problem->same && !problem->include_self;
    const kith_pairs_options options = {.cutoff = problem->cutoff,
                                        .queries = others_only ? kith_array_none()
                                                               : problem->targets.positions};
    return pairs_visit(context, &options, problem->sources.positions,
                       &(struct pairs_visitor){sum_row, job});
}

static kith_status sum_lanes(kith_context *context, struct job *job)
{
    return kith_for_each(context, (int32_t)job->threads, job->threads, sum_in_lane, job);
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
            const struct sums_reduced reduced = {job->targets.value[at],
                                                 job->targets.rest ? job->targets.rest[at] : 0};
            sums_put(problem->results, sums_row_of(&job->arranged.targets, slot), k,
                     sums_reduced_result(problem->reduction, reduced));
        }
}

static kith_status sum(kith_context *context, struct job *job)
{
    struct sums_problem *problem = job->problem;
    const int64_t count = problem->targets.count;
    KITH_TRY(sums_has_rows(problem) ? sum_rows(context, job) : sum_lanes(context, job));
    KITH_TRY(kith_context_check_cancelled(context));
    for (int64_t k = 0; k < job->threads; k++)
        problem->pair_count += job->lanes[k].pairs;
    return kith_for_each(context, kith_threads_for(context, (double)count / rows_a_second),
                         (count + rows_a_part - 1) / rows_a_part, store_part, job);
}

static kith_status find_kernel(kith_context *context, const struct sums_problem *problem,
                               sums_kernel **kernel)
{
    static const struct sums_compiler compiler = {SUMS_KERNEL_FILE, law_open_functions_cpu,
                                                  law_close_functions};
    void *handle = NULL, *function = NULL;
    KITH_TRY(sums_code_of(context, problem, &compiler, &handle));
    KITH_TRY(law_function_of(handle, SUMS_KERNEL_FILE, SUMS_KERNEL_SYMBOL, &function));
    memcpy(kernel, &function, sizeof function);
    return KITH_OK;
}

kith_status sums_cpu(kith_context *context, struct sums_problem *problem)
{
    struct job job = {.context = context,
                      .problem = problem,
                      .arranged = {.problem = problem,
                                   .has_cells = problem->cutoff > 0 && !problem->list.offsets &&
                                                !sums_has_rows(problem),
                                   .has_records = !takes_all(problem) && !sums_is_flat(problem)}};
    const double n = (double)problem->targets.count, m = (double)problem->sources.count;
    job.threads = kith_threads_for(context, takes_all(problem) ? n * m / pairs_a_second
                                                               : (n + m) / targets_a_second);
    if (sums_has_rows(problem)) /* one for each lane of the search */
        job.threads = context->threads;
    KITH_TRY(find_kernel(context, problem, &job.kernel));
    formula_constants(problem->formulas->formula, problem->formulas->parameter, job.numbers.c);
    KITH_TRY(make_room(context, &job));
    KITH_TRY(sums_arrange(context, &job.arranged));
    begin_targets(&job);
    return sum(context, &job);
}
