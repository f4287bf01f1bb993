/* Forces within a cutoff on the CPU: particles in the order of their cells, and for each cell the
 * candidates around it, block by block, to the kernel of the law. */

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
#include "forces/excluded.h"
#include "forces/tasks_ranks.h"
#include "law/compiled.h"
#include "ranks/ranks.h"

/* Targets of a task, and those that share one gathering of candidates at most. */
enum { targets_a_task = 256, most_targets_of_cell = 64 };

enum { rows_a_part = 1 << 14, most_points = INT32_MAX - 1024 };

static const double targets_a_second = 2e6, rows_a_second = 1e8;

/* Columns of one side: by row, as the problem has them, and by slot. */
enum { weight_column, charge_column, softening_column, total_column, column_count };

struct sorted_side {
    int64_t count;
    const void *const *position; /* by row */
    struct cells_points wrapped, points;
    uint32_t *order; /* the row of a slot */
    const void *from[column_count];
    void *column[column_count]; /* NULL where from is */
};

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
    struct sorted_side sources, targets;
    struct excluded excluded;
    int64_t tasks, threads;
    struct tasks_part part;
    double (*totals)[cutoff_totals]; /* of each task */
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
    arena->used += kith_padded(count * bytes_each + kith_padding);
    return memory;
}

static void lay_out_points(struct arena *arena, const struct job *job, int64_t count,
                           struct cells_points *points)
{
    points->count = count;
    points->dtype = job->problem->dtype;
    for (int c = 0; c < 3; c++)
        points->position[c] = take(arena, count, kith_dtype_bytes(points->dtype));
}

static void lay_out_side(struct arena *arena, const struct job *job, struct sorted_side *side)
{
    lay_out_points(arena, job, side->count, &side->wrapped);
    lay_out_points(arena, job, side->count, &side->points);
    side->order = take(arena, side->count, sizeof *side->order);
    for (int k = 0; k < column_count; k++)
        side->column[k] =
            side->from[k] ? take(arena, side->count, kith_dtype_bytes(job->problem->dtype)) : NULL;
}

static void lay_out_lane(struct arena *arena, int64_t real, struct cutoff_candidates *lane)
{
    *lane = (struct cutoff_candidates){0};
    for (int c = 0; c < 3; c++) {
        lane->position[c] = take(arena, cutoff_room, real);
        lane->translation[c] = take(arena, cutoff_room, real);
        lane->d[c] = take(arena, cutoff_room, real);
    }
    lane->r2 = take(arena, cutoff_room, real);
    lane->slot = take(arena, cutoff_room, sizeof *lane->slot);
    lane->found = take(arena, cutoff_room, sizeof *lane->found);
}

static void lay_out(struct arena *arena, struct job *job)
{
    const int64_t n = job->targets.count, m = job->sources.count;
    const int64_t real = kith_dtype_bytes(job->problem->dtype);
    const bool wants_value = job->problem->potential || job->problem->space.totals;
    lay_out_side(arena, job, &job->sources);
    lay_out_side(arena, job, &job->targets);
    job->begin = take(arena, cells_most_buckets(m) + 1, sizeof *job->begin);
    job->scratch = take(arena, cells_sort_scratch_bytes(n > m ? n : m), 1);
    job->totals = take(arena, job->tasks, sizeof *job->totals);
    for (int c = 0; c < 3; c++)
        job->of_kernel.force[c] = take(arena, n, sizeof(double));
    job->of_kernel.value = wants_value ? take(arena, n, sizeof(double)) : NULL;
    job->lanes = take(arena, job->threads, sizeof *job->lanes);
    for (int64_t k = 0; k < job->threads; k++) {
        struct cutoff_candidates lane;
        lay_out_lane(arena, real, &lane);
        struct excluded_run *runs =
            take(arena, excluded_any(job->problem) ? cutoff_most_candidates : 0, sizeof *runs);
        if (arena->base)
            job->lanes[k] = (struct lane){.candidates = lane, .runs = runs};
    }
}

static kith_status make_room(struct job *job, struct cutoff_memory *memory)
{
    struct arena arena = {0};
    lay_out(&arena, job);
    if (arena.used > memory->size) {
        free(memory->bytes);
        *memory = (struct cutoff_memory){0};
        KITH_TRY(kith_allocate(arena.used, 1, "forces within a cutoff", &memory->bytes));
        memory->size = arena.used;
    }
    arena = (struct arena){memory->bytes, 0};
    lay_out(&arena, job);
    return KITH_OK;
}

/* Positions as an array: the columns of a problem are equally far apart. */
static kith_array positions_of(const struct job *job, const struct sorted_side *side)
{
    const kith_dtype dtype = job->problem->dtype;
    const int64_t d = job->problem->dimensions;
    kith_array array = kith_array_matrix((void *)side->position[0], dtype, side->count, d);
    array.strides[0] = 1;
    array.strides[1] = ((const char *)side->position[1] - (const char *)side->position[0]) /
                       kith_dtype_bytes(dtype);
    return array;
}

static kith_status wrap_side(const struct job *job, const char *name, struct sorted_side *side,
                             struct cells_bounds *bounds)
{
    int64_t bad_row = -1;
    KITH_TRY(cells_wrap_cpu(job->context, positions_of(job, side), job->problem->space.lattice,
                            &side->wrapped, bounds, &bad_row));
    if (bad_row >= 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "row %lld of %s.positions is not finite or more than 2^30 cells away; "
                         "give positions near the cell",
                         (long long)bad_row, name);
    return KITH_OK;
}

#define DEFINE_ARRANGE(real)                                                                       \
    static void arrange_##real(const void *from, const uint32_t *order, int64_t begin,             \
                               int64_t end, void *to)                                              \
    {                                                                                              \
        for (int64_t slot = begin; slot < end; slot++)                                             \
            ((real *)to)[slot] = ((const real *)from)[order[slot]];                                \
    }
DEFINE_ARRANGE(float)
DEFINE_ARRANGE(double)

struct arranging {
    kith_dtype dtype;
    const struct sorted_side *side;
};

static void arrange_part(void *argument, int64_t part)
{
    const struct arranging *arranging = argument;
    const struct sorted_side *side = arranging->side;
    const int64_t begin = part * rows_a_part, left = side->count - begin;
    const int64_t end = begin + (left < rows_a_part ? left : rows_a_part);
    void (*arrange)(const void *, const uint32_t *, int64_t, int64_t, void *) =
        arranging->dtype == KITH_F32 ? arrange_float : arrange_double;
    for (int c = 0; c < 3; c++)
        arrange(side->wrapped.position[c], side->order, begin, end, side->points.position[c]);
    for (int k = 0; k < column_count; k++)
        if (side->from[k])
            arrange(side->from[k], side->order, begin, end, side->column[k]);
}

static kith_status sort_side(struct job *job, struct sorted_side *side, int32_t *begin)
{
    struct arranging arranging = {job->problem->dtype, side};
    KITH_TRY(cells_sort_cpu(job->context, &job->grid, job->problem->space.lattice, &side->wrapped,
                            side->order, begin, job->scratch));
    return kith_for_each(job->context,
                         kith_threads_for(job->context, (double)side->count / rows_a_second),
                         (side->count + rows_a_part - 1) / rows_a_part, arrange_part, &arranging);
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

static kith_status prepare(struct job *job)
{
    const struct forces_problem *problem = job->problem;
    struct cells_bounds bounds = cells_bounds_empty();
    KITH_TRY(wrap_side(job, "sources", &job->sources, &bounds));
    if (!problem->self)
        KITH_TRY(wrap_side(job, "targets", &job->targets, &bounds));
    cells_grid_choose(problem->space.lattice, problem->dtype, problem->dimensions,
                      problem->space.cutoff, &bounds, job->sources.count, &job->grid);
    KITH_TRY(sort_side(job, &job->sources, job->begin));
    if (!problem->self) {
        KITH_TRY(sort_side(job, &job->targets, NULL));
        return KITH_OK;
    }
    /* The targets have columns of their own, in the same order. */
    memcpy(job->targets.order, job->sources.order,
           (size_t)job->targets.count * sizeof *job->targets.order);
    job->targets.wrapped = job->sources.wrapped;
    struct arranging arranging = {problem->dtype, &job->targets};
    for (int64_t part = 0; part * rows_a_part < job->targets.count; part++)
        arrange_part(&arranging, part);
    return KITH_OK;
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
        const int64_t begin = task * targets_a_task;
        if (task >= job->part.end || kith_context_stops(job->context))
            return;
        sum_targets(job, &job->lanes[k], begin,
                    begin + targets_a_task < count ? begin + targets_a_task : count,
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
            job->part.work[slot / targets_a_task] += (double)(end - begin);
    }
}

static kith_status divide(struct job *job)
{
    KITH_TRY(tasks_create(job->context, job->tasks, job->targets.count, &job->part));
    if (job->part.is_divided)
        find_work(job);
    tasks_divide(&job->part);
    return KITH_OK;
}

/* Collective: what each rank has comes to all. */
static void gather_sums(const struct job *job)
{
    const int64_t count = job->targets.count, real = sizeof(double);
    tasks_gather(&job->part, job->totals, sizeof *job->totals, 1, job->tasks);
    for (int c = 0; c < 3; c++)
        tasks_gather(&job->part, job->of_kernel.force[c], real, targets_a_task, count);
    if (job->of_kernel.value)
        tasks_gather(&job->part, job->of_kernel.value, real, targets_a_task, count);
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
#define ADDRESS(isa) &cutoff_kernels_##isa,
    static const struct cutoff_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const struct cutoff_kernels *kernels = each_isa[job->context->isa];
    const enum law_kind kind = job->law->view.form.kind;
    const kith_dtype dtype = job->problem->dtype;
    if (kind == law_custom)
        return law_compile_cpu(job->context, job->problem->law, "forces/cutoff_kernel.c",
                               "cutoff_custom", dtype, &job->kernel);
    job->kernel = (dtype == KITH_F64 ? kernels->in_double : kernels->in_float)[kind];
    return KITH_OK;
}

/* The columns that the law uses of either side. */
static void take_columns(struct job *job)
{
    const struct forces_problem *problem = job->problem;
    const struct cutoff_law *law = job->law;
    const bool of_charges = law->view.weight == law_weight_charge && !law->view.formula;
    const bool is_weighted = law->view.weight != law_weight_none || law->view.formula;
    struct sorted_side *sources = &job->sources, *targets = &job->targets;
    sources->count = problem->source_count;
    targets->count = problem->target_count;
    sources->position = problem->source_position;
    targets->position = problem->target_position;
    if (is_weighted) {
        sources->from[weight_column] = of_charges ? law->source_charge : problem->source_mass;
        targets->from[weight_column] = of_charges ? law->target_charge : law->target_weight;
    }
    if (law->view.formula) {
        sources->from[charge_column] = law->source_charge;
        targets->from[charge_column] = law->target_charge;
    }
    sources->from[softening_column] = problem->source_half_softening2;
    targets->from[softening_column] = problem->target_half_softening2;
    targets->from[total_column] = law->total_weight;
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
    to->target_weight = job->targets.column[weight_column];
    to->source_weight = job->sources.column[weight_column];
    to->target_charge = job->targets.column[charge_column];
    to->source_charge = job->sources.column[charge_column];
    to->target_half_softening2 = job->targets.column[softening_column];
    to->source_half_softening2 = job->sources.column[softening_column];
    to->total_weight = job->targets.column[total_column];
}

kith_status forces_cutoff_cpu(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, struct cutoff_memory *memory)
{
    struct job job = {.context = context, .problem = problem, .law = law};
    const int64_t n = problem->target_count, m = problem->source_count;
    if (n > most_points || m > most_points)
        return kith_fail(KITH_UNSUPPORTED,
                         "there are %lld targets and %lld sources; give at most %d of each",
                         (long long)n, (long long)m, (int)most_points);
    job.tasks = (n + targets_a_task - 1) / targets_a_task;
    job.threads = kith_threads_for(context, (double)(n + m) / targets_a_second);
    take_columns(&job);
    KITH_TRY(find_kernel(&job));
    KITH_TRY(make_room(&job, memory));
    clear(&job);
    KITH_TRY(prepare(&job));
    fill_in_kernel(&job);
    KITH_TRY(excluded_find(problem, job.sources.order, &job.excluded));
    kith_status status = divide(&job);
    if (status == KITH_OK)
        status = sum(&job);
    tasks_free(&job.part);
    excluded_free(&job.excluded);
    return status;
}
