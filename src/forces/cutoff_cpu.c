/* Forces within a cutoff on the CPU: for each cell the candidates around it, block by block, to the
 * kernel of the law. */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "cells/walk.h"
#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/cutoff.h"
#include "forces/cutoff_sides.h"
#include "forces/cutoff_slices.h"
#include "forces/excluded.h"
#include "forces/tasks_ranks.h"
#include "law/compiled.h"
#include "ranks/ranks.h"

/* Targets that share one gathering of candidates at most. */
enum { most_targets_of_cell = 64 };

enum { rows_a_part = 1 << 14, most_points = INT32_MAX - 1024 };

static const double targets_a_second = 2e6, rows_a_second = 1e8;

/* What a thread works with. */
struct lane {
    struct cutoff_candidates candidates;
    struct excluded_run *runs; /* of them, with excluded pairs */
    int64_t run_count;
};

struct job {
    kith_context *context;
    const struct forces_problem *problem;
    const struct cutoff_law *law;
    struct cutoff_problem of_kernel;
    cutoff_kernel *kernel;
    struct cells_grid grid;
    int32_t *begin;
    void *scratch;
    struct cutoff_side sources, targets;
    struct excluded excluded;
    int64_t tasks, targets_a_task, threads;
    struct tasks_part part;
    const struct cutoff_part *of_slices; /* NULL: all bodies are here */
    int64_t elsewhere; /* bodies that are before those here in the order of the cells */
    double (*totals)[cutoff_totals]; /* of each task */
    struct lane *lanes;
    atomic_long next;
};

static void lay_out_lane(struct cutoff_arena *arena, int64_t real, struct cutoff_candidates *lane)
{
    *lane = (struct cutoff_candidates){0};
    for (int c = 0; c < 3; c++) {
        lane->position[c] = cutoff_arena_take(arena, cutoff_room, real);
        lane->translation[c] = cutoff_arena_take(arena, cutoff_room, real);
        lane->d[c] = cutoff_arena_take(arena, cutoff_room, real);
    }
    lane->r2 = cutoff_arena_take(arena, cutoff_room, real);
    lane->slot = cutoff_arena_take(arena, cutoff_room, sizeof *lane->slot);
    lane->found = cutoff_arena_take(arena, cutoff_room, sizeof *lane->found);
}

static void lay_out(struct cutoff_arena *arena, struct job *job)
{
    const int64_t n = job->targets.count, m = job->sources.count;
    const int64_t real = kith_dtype_bytes(job->problem->dtype);
    const bool wants_value = job->problem->potential || job->problem->space.totals;
    cutoff_side_lay_out(arena, job->problem->dtype, &job->sources);
    cutoff_side_lay_out(arena, job->problem->dtype, &job->targets);
    const int64_t buckets =
        job->of_slices ? job->of_slices->grid.bucket_count : cells_most_buckets(m);
    job->begin = cutoff_arena_take(arena, buckets + 1, sizeof *job->begin);
    job->scratch = cutoff_arena_take(arena, cells_sort_scratch_bytes(n > m ? n : m), 1);
    job->totals = cutoff_arena_take(arena, job->tasks, sizeof *job->totals);
    for (int c = 0; c < 3; c++)
        job->of_kernel.force[c] = cutoff_arena_take(arena, n, sizeof(double));
    job->of_kernel.value = wants_value ? cutoff_arena_take(arena, n, sizeof(double)) : NULL;
    job->lanes = cutoff_arena_take(arena, job->threads, sizeof *job->lanes);
    for (int64_t k = 0; k < job->threads; k++) {
        struct cutoff_candidates lane;
        lay_out_lane(arena, real, &lane);
        struct excluded_run *runs = cutoff_arena_take(
            arena, excluded_any(job->problem) ? cutoff_most_candidates : 0, sizeof *runs);
        if (arena->base)
            job->lanes[k] = (struct lane){.candidates = lane, .runs = runs};
    }
}

static kith_status make_room(struct job *job, struct cutoff_memory *memory)
{
    struct cutoff_arena arena = {0};
    lay_out(&arena, job);
    if (arena.used > memory->size) {
        free(memory->bytes);
        *memory = (struct cutoff_memory){0};
        KITH_TRY(kith_allocate(arena.used, 1, "forces within a cutoff", &memory->bytes));
        memory->size = arena.used;
    }
    arena = (struct cutoff_arena){memory->bytes, 0};
    lay_out(&arena, job);
    return KITH_OK;
}

static void clear(struct job *job)
{
    const size_t bytes = (size_t)job->targets.count * sizeof(double);
    for (int c = 0; c < 3; c++)
        memset(job->of_kernel.force[c], 0, bytes);
    if (job->of_kernel.value)
        memset(job->of_kernel.value, 0, bytes);
    memset(job->totals, 0, (size_t)job->tasks * sizeof *job->totals);
}

static kith_status wrap(const struct job *job, const char *name, struct cutoff_side *side,
                        struct cells_bounds *bounds)
{
    int64_t bad_row = -1;
    KITH_TRY(cutoff_side_wrap(job->context, job->problem, side, bounds, &bad_row));
    return cutoff_side_check(bad_row, name);
}

static kith_status sort_sides(struct job *job)
{
    const struct forces_problem *problem = job->problem;
    struct cells_bounds bounds = cells_bounds_empty();
    KITH_TRY(wrap(job, "sources", &job->sources, &bounds));
    if (!problem->self)
        KITH_TRY(wrap(job, "targets", &job->targets, &bounds));
    if (job->of_slices)
        job->grid = job->of_slices->grid;
    else
        cells_grid_choose(problem->space.lattice, problem->dtype, problem->dimensions,
                          problem->space.cutoff, &bounds, job->sources.count, &job->grid);
    KITH_TRY(cutoff_side_sort(job->context, problem, &job->grid, job->begin, job->scratch,
                              &job->sources));
    if (problem->self)
        return cutoff_side_follow(job->context, &job->sources, &job->targets);
    return cutoff_side_sort(job->context, problem, &job->grid, NULL, job->scratch, &job->targets);
}

static void flush(const struct job *job, struct lane *with, int64_t begin, int64_t end,
                  double *totals)
{
    struct cutoff_candidates *lane = &with->candidates;
    if (job->excluded.begin)
        excluded_sum(&job->excluded, job->kernel, &job->of_kernel, job->problem->dtype, lane,
                     with->runs, with->run_count, begin, end, totals);
    else
        job->kernel(&job->of_kernel, lane, begin, end, totals);
    with->run_count = 0;
    lane->count = lane->self_begin = lane->self_end = 0;
    lane->moved = 0;
}

/* The sources first … first + count − 1 at an image, for targets begin … end − 1. */
static void gather(const struct job *job, struct lane *with, const int32_t image[3], int64_t first,
                   int64_t count, int64_t begin, int64_t end)
{
    struct cutoff_candidates *lane = &with->candidates;
    if (job->excluded.begin)
        with->runs[with->run_count++] =
            (struct excluded_run){{image[0], image[1], image[2]}, first, count, lane->count};
    const kith_dtype dtype = job->problem->dtype;
    const int64_t real = kith_dtype_bytes(dtype);
    const bool moved = image[0] != 0 || image[1] != 0 || image[2] != 0;
    for (int c = 0; c < 3; c++) {
        const double t = moved ? pairs_translation(job->problem->space.lattice, image, c) : 0;
        memcpy((char *)lane->position[c] + lane->count * real,
               (const char *)job->sources.points.position[c] + first * real,
               (size_t)(count * real));
        for (int64_t k = 0; k < count; k++)
            real_set(dtype, lane->translation[c], lane->count + k, t);
    }
    for (int64_t k = 0; k < count; k++)
        lane->slot[lane->count + k] = (int)(first + k);
    if (!moved && job->problem->self && first < end && begin < first + count) {
        lane->self_begin = first > begin ? first : begin;
        lane->self_end = first + count < end ? first + count : end;
        lane->self_at = lane->count + lane->self_begin - first;
    }
    lane->moved = lane->moved || moved;
    lane->count += count;
}

/* Targets of one cell. */
static void sum_cell(const struct job *job, struct lane *lane, const int64_t cell[3], int64_t begin,
                     int64_t end, double *totals)
{
    struct cells_walk walk;
    struct cells_run run;
    cells_walk_begin(&walk, &job->grid, job->begin, cell);
    while (cells_walk_next(&walk, &run)) {
        int64_t first = run.begin;
        while (first < run.end) {
            const int64_t room = cutoff_most_candidates - lane->candidates.count,
                          left = run.end - first;
            const int64_t count = left < room ? left : room;
            gather(job, lane, run.image, first, count, begin, end);
            first += count;
            if (lane->candidates.count == cutoff_most_candidates)
                flush(job, lane, begin, end, totals);
        }
    }
    flush(job, lane, begin, end, totals);
}

static void sum_targets(const struct job *job, struct lane *lane, int64_t begin, int64_t end,
                        double *totals)
{
    const struct pairs_lattice *lattice = job->problem->space.lattice;
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
        sum_cell(job, lane, cell, begin, last, totals);
        begin = last;
    }
}

static void sum_in_lane(void *argument, int64_t k)
{
    struct job *job = argument;
    const int64_t count = job->targets.count;
    for (;;) {
        const int64_t task = job->part.first + atomic_fetch_add(&job->next, 1);
        const int64_t begin = task * job->targets_a_task - job->elsewhere;
        if (task >= job->part.end || kith_context_stops(job->context))
            return;
        sum_targets(job, &job->lanes[k], begin,
                    begin + job->targets_a_task < count ? begin + job->targets_a_task : count,
                    job->totals[task]);
    }
}

static void put(const struct forces_problem *problem, void *column, int64_t i, double value)
{
    const double sum = problem->accumulate ? real_get(problem->dtype, column, i) + value : value;
    real_set(problem->dtype, column, i, sum);
}

static void store_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct forces_problem *problem = job->problem;
    const int64_t begin = part * rows_a_part, left = job->targets.count - begin;
    const int64_t end = begin + (left < rows_a_part ? left : rows_a_part);
    for (int64_t slot = begin; slot < end; slot++) {
        const int64_t row = job->targets.order[slot];
        const void *masses = job->law->target_mass;
        const double mass = masses ? real_get(problem->dtype, masses, row) : 1;
        for (int c = 0; c < 3; c++)
            if (problem->acceleration[c])
                put(problem, problem->acceleration[c], row,
                    job->of_kernel.force[c][slot] / mass + 0.0);
        if (problem->potential)
            put(problem, problem->potential, row, job->of_kernel.value[slot] + 0.0);
    }
}

static void store_totals(const struct job *job)
{
    kith_forces_totals *totals = job->problem->space.totals;
    double sum[cutoff_totals] = {0};
    if (!totals)
        return;
    for (int64_t task = 0; task < job->tasks; task++)
        for (int k = 0; k < cutoff_totals; k++)
            sum[k] += job->totals[task][k];
    totals->energy = sum[0];
    memcpy(totals->virial, sum + 1, sizeof totals->virial);
    totals->volume = job->problem->space.volume;
}

/* The targets that are next to each other in the order of the cells are candidates of each other:
 * the work of one is about what its bucket holds. */
static void find_work(const struct job *job)
{
    const bool is_known = job->problem->self; /* else targets have no buckets */
    for (int64_t task = 0; task < job->tasks && !is_known; task++)
        job->part.work[task] = 1;
    for (int64_t bucket = 0; bucket < job->grid.bucket_count && is_known; bucket++) {
        const int64_t begin = job->begin[bucket], end = job->begin[bucket + 1];
        for (int64_t slot = begin; slot < end; slot++)
            job->part.work[slot / job->targets_a_task] += (double)(end - begin);
    }
}

static kith_status divide(struct job *job)
{
    if (job->of_slices) {
        job->part = job->of_slices->tasks;
        job->elsewhere = job->of_slices->before;
        if (job->problem->self) /* else the first bucket here is that */
            job->elsewhere -= job->begin[job->of_slices->bucket];
        return KITH_OK;
    }
    KITH_TRY(tasks_create(job->context, job->tasks, job->targets.count, &job->part));
    if (job->part.is_divided)
        find_work(job);
    tasks_divide(&job->part);
    return KITH_OK;
}

/* Collective: gathers the results of each rank on all ranks, of slices the totals alone. */
static void gather_sums(const struct job *job)
{
    const int64_t count = job->targets.count, real = sizeof(double);
    tasks_gather(&job->part, job->totals, sizeof *job->totals, 1, job->tasks);
    if (job->of_slices)
        return;
    for (int c = 0; c < 3; c++)
        tasks_gather(&job->part, job->of_kernel.force[c], real, job->targets_a_task, count);
    if (job->of_kernel.value)
        tasks_gather(&job->part, job->of_kernel.value, real, job->targets_a_task, count);
}

static kith_status sum(struct job *job)
{
    const int64_t count = job->targets.count;
    kith_status status =
        kith_for_each(job->context, (int32_t)job->threads, job->threads, sum_in_lane, job);
    if (status == KITH_OK)
        status = kith_context_check_cancelled(job->context);
    if (job->part.is_divided) {
        KITH_TRY(ranks_agree(job->context, status));
        gather_sums(job);
    }
    KITH_TRY(status);
    store_totals(job);
    return kith_for_each(job->context,
                         kith_threads_for(job->context, (double)count / rows_a_second),
                         (count + rows_a_part - 1) / rows_a_part, store_part, job);
}

static kith_status find_kernel(struct job *job)
{
#define IN_DOUBLE(isa) &cutoff_kernels_double_##isa,
#define IN_FLOAT(isa)  &cutoff_kernels_float_##isa,
    static const struct cutoff_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct cutoff_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    const enum law_kind kind = job->law->view.form.kind;
    const kith_dtype dtype = job->problem->dtype;
    if (kind == law_custom)
        return law_compile_cpu(job->context, job->problem->law, "forces/cutoff_kernel.c",
                               "cutoff_custom", dtype, &job->kernel);
    job->kernel = (dtype == KITH_F64 ? in_double : in_float)[job->context->isa]->of_kind[kind];
    return KITH_OK;
}

/* The columns that the law uses of either side. */
static void take_columns(struct job *job)
{
    const struct forces_problem *problem = job->problem;
    const struct cutoff_law *law = job->law;
    const bool of_charges = law->view.weight == law_weight_charge && !law->view.formula;
    const bool is_weighted = law->view.weight != law_weight_none || law->view.formula;
    struct cutoff_side *sources = &job->sources, *targets = &job->targets;
    sources->count = problem->source_count;
    targets->count = problem->target_count;
    sources->position = problem->source_position;
    targets->position = problem->target_position;
    if (is_weighted) {
        sources->from[cutoff_weight_column] =
            of_charges ? law->source_charge : problem->source_mass;
        targets->from[cutoff_weight_column] = of_charges ? law->target_charge : law->target_weight;
    }
    if (law->view.formula) {
        sources->from[cutoff_charge_column] = law->source_charge;
        targets->from[cutoff_charge_column] = law->target_charge;
    }
    sources->from[cutoff_softening_column] = problem->source_half_softening2;
    targets->from[cutoff_softening_column] = problem->target_half_softening2;
    targets->from[cutoff_total_column] = law->total_weight;
}

/* What the kernel takes, after the columns have places. */
static void fill_in_kernel(struct job *job)
{
    const struct forces_space *space = &job->problem->space;
    const struct law_view *view = &job->law->view;
    struct cutoff_problem *to = &job->of_kernel;
    const bool narrow = job->problem->dtype == KITH_F32;
    to->numbers = view->numbers;
    to->weighting = view->form.weighting;
    to->shift = (enum cutoff_shift)space->shift;
    to->is_central = view->is_central;
    to->cutoff = narrow ? (double)(float)space->cutoff : space->cutoff;
    to->limit = narrow ? (double)pairs_limit_float((float)space->cutoff)
                       : pairs_limit_double(space->cutoff);
    to->softening2 = job->problem->softening2;
    to->slope_at_cutoff = job->law->slope_at_cutoff;
    for (int c = 0; c < 3; c++)
        to->target_position[c] = job->targets.points.position[c];
    to->target_weight = job->targets.column[cutoff_weight_column];
    to->source_weight = job->sources.column[cutoff_weight_column];
    to->target_charge = job->targets.column[cutoff_charge_column];
    to->source_charge = job->sources.column[cutoff_charge_column];
    to->target_half_softening2 = job->targets.column[cutoff_softening_column];
    to->source_half_softening2 = job->sources.column[cutoff_softening_column];
    to->total_weight = job->targets.column[cutoff_total_column];
}

static kith_status check_count(int64_t targets, int64_t sources)
{
    if (targets > most_points || sources > most_points)
        return kith_fail(KITH_UNSUPPORTED,
                         "there are %lld targets and %lld sources; give at most %d of each",
                         (long long)targets, (long long)sources, (int)most_points);
    return KITH_OK;
}

static kith_status prepare(struct job *job, int64_t targets, struct cutoff_memory *memory)
{
    const struct forces_problem *problem = job->problem;
    const double points = (double)(problem->target_count + problem->source_count);
    job->targets_a_task = job->of_slices ? job->of_slices->targets_a_task : cutoff_targets_a_task;
    job->tasks = (targets + job->targets_a_task - 1) / job->targets_a_task;
    job->threads = kith_threads_for(job->context, points / targets_a_second);
    take_columns(job);
    KITH_TRY(find_kernel(job));
    KITH_TRY(make_room(job, memory));
    clear(job);
    KITH_TRY(sort_sides(job));
    fill_in_kernel(job);
    return excluded_find(problem, job->sources.order, &job->excluded);
}

kith_status forces_cutoff_cpu(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, struct cutoff_memory *memory)
{
    struct job job = {.context = context, .problem = problem, .law = law};
    KITH_TRY(check_count(problem->target_count, problem->source_count));
    kith_status status = prepare(&job, problem->target_count, memory);
    if (status == KITH_OK)
        status = divide(&job);
    if (status == KITH_OK)
        status = sum(&job);
    tasks_free(&job.part);
    excluded_free(&job.excluded);
    return status;
}

/* Which slots this rank's targets have, and their sums. */
static kith_status sum_part(struct job *job, struct cutoff_part *part)
{
    const int64_t end = part->tasks.end * part->targets_a_task - job->elsewhere;
    part->begin = part->tasks.first * part->targets_a_task - job->elsewhere;
    part->end = end < job->targets.count ? end : job->targets.count;
    if (part->tasks.first == part->tasks.end)
        part->end = part->begin;
    part->order = job->targets.order;
    return sum(job);
}

kith_status forces_cutoff_part(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, struct cutoff_part *part,
                               struct cutoff_memory *memory)
{
    struct job job = {.context = context, .problem = problem, .law = law, .of_slices = part};
    kith_status status = check_count(part->all, part->all);
    if (status == KITH_OK)
        status = prepare(&job, part->all, memory);
    if (status == KITH_OK)
        status = divide(&job);
    status = ranks_agree(context, status);
    if (status == KITH_OK)
        status = sum_part(&job, part);
    excluded_free(&job.excluded);
    return status;
}
