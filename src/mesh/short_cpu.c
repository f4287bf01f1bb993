/* The short-range sum on the CPU: particles in the order of their cells; for each cell the
 * candidates around it, block by block, to the kernel. */

#include "mesh/short.h"

#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "cells/lattice.h"
#include "cells/walk.h"
#include "core/arena.h"
#include "device/context.h"
#include "device/threads.h"
#include "mesh/short_kernel.h"

/* Particles of a task, and those that share one gathering of candidates. */
enum { targets_a_task = 512, most_targets_of_cell = 64 };

/* Work of a thread per second; decides how many threads to wake. */
static const double targets_a_second = 2e6, moves_a_second = 1e8;

struct job {
    const kith_context *context;
    double cutoff, near2;
    int64_t one_of;
    struct periodic_state *state;
    struct cells_grid grid;
    struct cells_points points; /* in their rows' order, */
    struct cells_points slots;  /* and in that of their cells */
    struct split split;
    const struct short_kernels *kernel;
    double *sorted[4]; /* x, y, z, w by slot */
    uint32_t *order;
    int32_t *begin;
    void *scratch;
    double (*virial)[6]; /* of each task */
};

/* What a task gathers candidates in: on its stack. */
struct lane {
    _Alignas(64) char position[3][(short_most_candidates + short_padding) * sizeof(double)];
    _Alignas(64) char records[4 * (short_most_candidates + short_padding) * sizeof(double)];
    _Alignas(64) char target[3][most_targets_of_cell * sizeof(double)];
    _Alignas(64) char target_records[4 * most_targets_of_cell * sizeof(double)];
    _Alignas(64) float rests[4 * (short_most_candidates + short_padding)];
    float target_rests[4 * most_targets_of_cell];
    int32_t number[short_most_candidates + short_padding];
    int32_t found[short_most_candidates + 2 * short_padding];
    double sums[most_targets_of_cell * short_sums];
    int64_t count;
};

static int64_t task_count(int64_t count)
{
    return (count + targets_a_task - 1) / targets_a_task;
}

static void lay_out(struct arena *arena, struct job *job)
{
    const int64_t n = job->points.count;
    for (int c = 0; c < 4; c++)
        job->sorted[c] = arena_take(arena, n, sizeof(double));
    job->order = arena_take(arena, n, sizeof *job->order);
    job->begin = arena_take(arena, cells_most_buckets(n) + 1, sizeof *job->begin);
    job->scratch = arena_take(arena, cells_sort_scratch_bytes(n), 1);
    job->virial = arena_take(arena, task_count(n), sizeof *job->virial);
}

static kith_status make_room(struct job *job)
{
    struct arena arena = {0};
    lay_out(&arena, job);
    KITH_TRY(cpu_memory_grow(&job->state->memory[1], arena.used));
    arena = (struct arena){job->state->memory[1].memory, 0};
    lay_out(&arena, job);
    return KITH_OK;
}

/* Cells as small as leave some targets in each. */
static int32_t divisions_for(const struct periodic_system *system, double cutoff)
{
    const double targets = 16, most = 4;
    const double in_cell = (double)system->count * cutoff * cutoff * cutoff / system->volume;
    return (int32_t)fmax(1, fmin(most, cbrt(in_cell / targets)));
}

static int64_t task_end(const struct job *job, int64_t task)
{
    const int64_t end = (task + 1) * targets_a_task;
    return end < job->points.count ? end : job->points.count;
}

static void arrange_task(void *argument, int64_t task)
{
    const struct job *job = argument;
    const struct periodic_state *state = job->state;
    for (int64_t slot = task * targets_a_task; slot < task_end(job, task); slot++) {
        const int64_t row = job->order[slot];
        for (int c = 0; c < 3; c++)
            job->sorted[c][slot] = state->position[c][row];
        job->sorted[3][slot] = state->weight[row];
    }
}

/* Slots first … first + count − 1 at an image. */
static void gather(const struct job *job, struct lane *lane, const double origin[3],
                   const int32_t image[3], int64_t first, int64_t count)
{
    double from[3];
    void *position[3];
    for (int c = 0; c < 3; c++) {
        from[c] = origin[c] - pairs_translation(&job->state->system.lattice, image, c);
        position[c] = lane->position[c];
    }
    job->kernel->fill(job->sorted, first, count, from, 1 / job->cutoff, lane->count, position,
                      lane->records, lane->rests);
    lane->count += count;
}

static double sixth_per_length(const struct job *job)
{
    const double cube = 1 / (job->cutoff * job->cutoff * job->cutoff);
    return cube * cube;
}

static void flush(const struct job *job, struct lane *lane, int64_t targets)
{
    struct short_block block = {.count = lane->count,
                                .targets = targets,
                                .records = lane->records,
                                .target_records = lane->target_records,
                                .rests = lane->rests,
                                .target_rests = lane->target_rests,
                                .near2 = job->near2,
                                .repulsion = job->state->system.repulsion * sixth_per_length(job),
                                .number = lane->number,
                                .found = lane->found};
    for (int c = 0; c < 3; c++)
        block.position[c] = lane->position[c];
    if (lane->count > 0)
        (job->state->system.is_sixth ? job->kernel->sum_sixth
                                     : job->kernel->sum)(&job->split, &block, lane->sums);
    lane->count = 0;
}

/* In units of length again, to the rows of the particles. */
static void deliver(const struct job *job, const struct lane *lane, int64_t begin, int64_t end,
                    double virial[6])
{
    const struct periodic_state *state = job->state;
    const double unit = state->system.is_sixth ? sixth_per_length(job) : 1 / job->cutoff;
    for (int64_t slot = begin; slot < end; slot++) {
        const double *sums = lane->sums + (slot - begin) * short_sums;
        const int64_t row = job->order[slot];
        state->potential[row] = sums[short_potential] * unit;
        for (int c = 0; c < 3; c++)
            state->gradient[c][row] = sums[short_gradient + c] * unit / job->cutoff;
        for (int k = 0; k < 6; k++)
            virial[k] += 0.5 * job->sorted[3][slot] * sums[short_virial + k] * unit;
    }
}

/* Targets of one cell. */
static void sum_cell(const struct job *job, struct lane *lane, const int64_t cell[3], int64_t begin,
                     int64_t end, double virial[6])
{
    struct cells_walk walk;
    struct cells_run run;
    double origin[3];
    void *target[3];
    for (int c = 0; c < 3; c++) {
        origin[c] = job->sorted[c][begin];
        target[c] = lane->target[c];
    }
    job->kernel->fill(job->sorted, begin, end - begin, origin, 1 / job->cutoff, 0, target,
                      lane->target_records, lane->target_rests);
    memset(lane->sums, 0, sizeof lane->sums);
    cells_walk_begin(&walk, &job->grid, job->begin, cell);
    while (cells_walk_next(&walk, &run)) {
        int64_t first = run.begin;
        while (first < run.end) {
            const int64_t room = short_most_candidates - lane->count, left = run.end - first;
            const int64_t count = left < room ? left : room;
            gather(job, lane, origin, run.image, first, count);
            first += count;
            if (lane->count == short_most_candidates)
                flush(job, lane, end - begin);
        }
    }
    flush(job, lane, end - begin);
    deliver(job, lane, begin, end, virial);
}

static void cell_of(const struct job *job, int64_t slot, int64_t cell[3])
{
    cells_of_point(&job->grid, &job->state->system.lattice, &job->slots, slot, cell);
}

static void sum_task(void *argument, int64_t task)
{
    const struct job *job = argument;
    const int64_t end = task_end(job, task);
    int64_t begin = task * targets_a_task, cell[3], next[3];
    struct lane lane;
    lane.count = 0;
    for (int32_t k = 0; k < short_most_candidates + short_padding; k++)
        lane.number[k] = k;
    double *virial = job->virial[task];
    memset(virial, 0, sizeof job->virial[task]);
    if (task % job->one_of != 0)
        return;
    cell_of(job, begin, next);
    while (begin < end && !kith_context_stops(job->context)) {
        int64_t last = begin + 1;
        memcpy(cell, next, sizeof cell);
        for (; last < end; last++) {
            cell_of(job, last, next);
            if (last - begin == most_targets_of_cell || memcmp(cell, next, sizeof cell) != 0)
                break;
        }
        sum_cell(job, &lane, cell, begin, last, virial);
        begin = last;
    }
}

static void add_virial(const struct job *job)
{
    static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
    double(*virial)[3] = job->state->virial;
    memset(virial, 0, sizeof job->state->virial);
    for (int64_t task = 0; task < task_count(job->points.count); task++)
        for (int k = 0; k < 6; k++)
            virial[row[k]][column[k]] += job->virial[task][k];
    for (int k = 3; k < 6; k++)
        virial[column[k]][row[k]] = virial[row[k]][column[k]];
}

kith_status short_cpu(kith_context *context, kith_dtype dtype, double cutoff, double alpha,
                      double error, int64_t one_of, struct periodic_state *state)
{
#define IN_FLOAT(isa)  &mesh_short_float_##isa,
#define IN_DOUBLE(isa) &mesh_short_double_##isa,
    static const struct short_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
    static const struct short_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
#undef IN_FLOAT
#undef IN_DOUBLE
    const struct pairs_lattice *lattice = &state->system.lattice;
    cutoff = fmin(cutoff, short_most_reach / alpha);
    /* Where rounding of positions by 1e-7 of the cutoff is a tenth of what the polynomials' error
     * is a thousandth of. */
    const double near = fmin(1, 1e-8 / error);
    struct job job = {.context = context,
                      .cutoff = cutoff,
                      .near2 = near * near,
                      .one_of = one_of,
                      .state = state,
                      .points = {.count = state->system.count, .dtype = KITH_F64},
                      .kernel = (dtype == KITH_F32 ? in_float : in_double)[context->isa]};
    struct cells_bounds bounds = cells_bounds_empty();
    for (int c = 0; c < 3; c++) {
        job.points.position[c] = state->position[c];
        for (int k = 0; k < 3; k++)
            bounds.largest += fabs(lattice->basis[k][c]);
    }
    KITH_TRY(pairs_check_images(lattice, cutoff, 1));
    KITH_TRY(make_room(&job));
    job.slots = (struct cells_points){
        job.points.count, KITH_F64, {job.sorted[0], job.sorted[1], job.sorted[2]}};
    (state->system.is_sixth ? split_make_sixth : split_make)(alpha * cutoff, error, &job.split);
    cells_grid_choose_fine(lattice, KITH_F64, 3, cutoff, divisions_for(&state->system, cutoff),
                           &bounds, job.points.count, &job.grid);
    KITH_TRY(cells_sort_cpu(context, &job.grid, lattice, &job.points, job.order, job.begin,
                            job.scratch));
    const double count = (double)job.points.count;
    KITH_TRY(kith_for_each(context, kith_threads_for(context, count / moves_a_second),
                           task_count(job.points.count), arrange_task, &job));
    KITH_TRY(kith_for_each(context, kith_threads_for(context, count / targets_a_second),
                           task_count(job.points.count), sum_task, &job));
    add_virial(&job);
    state->cells = (struct periodic_cells){
        job.grid, cutoff, {job.sorted[0], job.sorted[1], job.sorted[2], job.sorted[3]}, job.begin};
    return KITH_OK;
}
