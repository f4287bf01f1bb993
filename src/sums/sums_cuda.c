/* Sums over pairs on a GPU: records of the particles, in the order of cells within a cutoff, to the
 * kernel that was compiled with the formulas. */

#include "sums/sums_cuda.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "cells/cells_cuda.h"
#include "core/arena.h"
#include "core/bad_row.h"
#include "device/context.h"
#include "device/cuda.h"
#include "device/staging.h"
#include "law/compiled_cuda.h"
#include "matrix/gaussian_cuda.h"
#include "sums/backend.h"
#include "sums/code.h"
#include "sums/columns.h"
#include "sums/names_cuda.h"

/* All pairs: the sources are shared among blocks where there are few targets; a multiprocessor is
 * to have so many blocks, and a part so many sources. */
enum { blocks_a_multiprocessor = 8, least_part_sources = 1024, most_parts = 1024 };

/* Cells along a row, as many as a cutoff is long: a target's rows are then 2.25 cutoffs long in
 * place of 3. */
enum { cells_a_cutoff = 4 };

/* A side in the making. */
struct making_side {
    const struct sums_side *side;
    const bool *uses;
    struct cells_points wrapped; /* by row; within a cutoff */
    void *sorting;               /* room for it */
    uint32_t *order;             /* the row of a slot, in that room; NULL: slot k is row k */
    void *records;
    void *positions[3]; /* of sources within a cutoff, by slot */
    int32_t columns, fields;
    unsigned long long *bad_position;
};

struct making {
    kith_context *context;
    struct sums_problem *problem;
    void *code;
    bool has_cells;
    bool shares_records; /* the targets' are the sources' */
    struct making_side sources, targets;
    struct cells_bounds *bounds;
    struct cells_grid *grid;
    int32_t *begin;
    unsigned long long *counters; /* the pairs, then what is bad of each suspect */
    double *value, *rest;
    int64_t parts, part_sources;
    int32_t suspect_count;
    struct sums_suspect suspects[sums_most_suspects];
};

/* A counter for the errors in an array. */
static unsigned long long *suspect(struct making *making, struct sums_suspect suspect)
{
    unsigned long long *counter = making->counters + 1 + making->suspect_count;
    suspect.bad = counter;
    making->suspects[making->suspect_count++] = suspect;
    return counter;
}

static struct sums_suspect suspect_array(kith_array array, const char *name)
{
    const bool is_whole = array.dtype == KITH_I32 || array.dtype == KITH_I64;
    return (struct sums_suspect){.data = array.data,
                                 .strides = {array.strides[0], array.strides[1]},
                                 .columns = array.ndim == 2 ? array.shape[1] : 1,
                                 .most = DBL_MAX,
                                 .bytes = (int32_t)kith_dtype_bytes(array.dtype),
                                 .is_whole = is_whole,
                                 .name = name,
                                 .remedy = "finite numbers"};
}

static void begin_side(const struct sums_problem *problem, const struct sums_side *side,
                       const bool *uses, struct making_side *making)
{
    making->side = side;
    making->uses = uses;
    making->columns = sums_column_count(uses) + sums_more_axes(problem);
    making->fields = sums_fields_of_record(3, making->columns);
}

static void share_all_pairs(struct making *making)
{
    const int64_t n = making->problem->targets.count, m = making->problem->sources.count;
    const int64_t blocks = (n + sums_cuda_threads - 1) / sums_cuda_threads;
    const int64_t wanted = (int64_t)cuda_multiprocessors(making->context) * blocks_a_multiprocessor;
    int64_t parts = blocks > 0 ? wanted / blocks : 1;
    if (parts > m / least_part_sources)
        parts = m / least_part_sources;
    parts = parts < 1 ? 1 : parts > most_parts ? most_parts : parts;
    making->part_sources = (m + parts - 1) / parts;
    making->part_sources =
        (making->part_sources + sums_cuda_threads - 1) / sums_cuda_threads * sums_cuda_threads;
    making->parts = m > 0 ? (m + making->part_sources - 1) / making->part_sources : 1;
}

static void begin(struct making *making)
{
    const struct sums_problem *problem = making->problem;
    const struct sums_formulas *formulas = problem->formulas;
    begin_side(problem, &problem->sources, formulas->uses_j, &making->sources);
    begin_side(problem, &problem->targets, formulas->uses_i, &making->targets);
    making->has_cells = problem->cutoff > 0 && !problem->list.offsets;
    making->shares_records = problem->same && making->targets.columns == 0 && !making->has_cells;
    making->parts = 1;
    if (problem->cutoff == 0 && !problem->list.offsets)
        share_all_pairs(making);
}

static void lay_out_side(struct arena *arena, const struct making *making, struct making_side *side)
{
    const int64_t n = side->side->count, bytes = kith_dtype_bytes(making->problem->dtype);
    side->wrapped = (struct cells_points){.count = n, .dtype = making->problem->dtype};
    for (int c = 0; c < 3 && making->has_cells; c++)
        side->wrapped.position[c] = arena_take(arena, n, bytes);
    if (making->has_cells)
        side->sorting = arena_take(arena, cells_sort_scratch_bytes_cuda(n), 1);
}

static void lay_out_records(struct arena *arena, const struct making *making,
                            struct making_side *side)
{
    const int64_t bytes = kith_dtype_bytes(making->problem->dtype);
    side->records = arena_take(arena, side->side->count * side->fields, bytes);
}

static void lay_out(struct arena *arena, struct making *making)
{
    const struct sums_problem *problem = making->problem;
    struct making_side *sources = &making->sources, *targets = &making->targets;
    const int64_t n = targets->side->count, m = sources->side->count;
    making->counters = arena_take(arena, 1 + sums_most_suspects, sizeof *making->counters);
    lay_out_side(arena, making, sources);
    lay_out_records(arena, making, sources);
    if (problem->same) {
        targets->wrapped = sources->wrapped;
    } else {
        lay_out_side(arena, making, targets);
    }
    if (making->shares_records) {
        targets->records = sources->records;
        targets->fields = sources->fields;
    } else {
        lay_out_records(arena, making, targets);
    }
    if (making->parts > 1) {
        const int64_t results = making->parts * n * problem->formulas->output_count;
        making->value = arena_take(arena, results, sizeof(double));
        making->rest = arena_take(arena, results, sizeof(double));
    }
    if (!making->has_cells)
        return;
    for (int c = 0; c < 3; c++)
        sources->positions[c] =
            arena_take(arena, m + sums_cuda_group, kith_dtype_bytes(problem->dtype));
    making->bounds = arena_take(arena, 2 * cells_bounds_parts, sizeof *making->bounds);
    making->grid = arena_take(arena, 1, sizeof *making->grid);
    making->begin = arena_take(arena, cells_most_buckets(m) + 1, sizeof *making->begin);
}

static kith_status make_room(struct making *making)
{
    struct arena arena = {0};
    void *memory = NULL;
    lay_out(&arena, making);
    KITH_TRY(cuda_memory_of_arrays(making->context, arena.used, &memory));
    arena = (struct arena){memory, 0};
    lay_out(&arena, making);
    const size_t bytes = (1 + sums_most_suspects) * sizeof *making->counters;
    return cuda_check(cudaMemsetAsync(making->counters, 0, bytes, cuda_stream(making->context)),
                      "clearing counters");
}

static void suspect_positions(struct making *making, struct making_side *side, const char *name)
{
    struct sums_suspect positions = suspect_array(side->side->positions, name);
    positions.most = sums_largest_coordinate(making->problem);
    positions.other_remedy = making->has_cells ? "positions less than 2^30 cells away from the cell"
                                               : kith_remedy_of_far(making->problem->dtype);
    side->bad_position = suspect(making, positions);
}

static kith_status wrap_side(struct making *making, struct making_side *side,
                             struct cells_bounds *bounds)
{
    return cells_wrap_cuda(making->context, side->side->positions, &making->problem->lattice,
                           &side->wrapped, bounds, side->bad_position);
}

static kith_status sort_side(struct making *making, struct making_side *side, int32_t *begin_of)
{
    return cells_sort_cuda(making->context, making->grid, &making->problem->lattice, &side->wrapped,
                           cells_most_buckets(making->sources.side->count), side->sorting,
                           &side->order, begin_of);
}

/* Both sides in the order of the sources' cells. */
static kith_status sort_sides(struct making *making)
{
    const struct sums_problem *problem = making->problem;
    const int32_t sides = problem->same ? 1 : 2;
    KITH_TRY(wrap_side(making, &making->sources, making->bounds));
    if (!problem->same)
        KITH_TRY(wrap_side(making, &making->targets, making->bounds + cells_bounds_parts));
    KITH_TRY(cells_grid_choose_cuda(making->context, &problem->lattice, problem->dtype,
                                    problem->dimensions, problem->cutoff, cells_a_cutoff,
                                    making->bounds, sides, problem->sources.count, making->grid));
    KITH_TRY(sort_side(making, &making->sources, making->begin));
    if (!problem->same)
        return sort_side(making, &making->targets, NULL);
    making->targets.order = making->sources.order;
    return KITH_OK;
}

static struct sums_packed_column column_of(kith_array array, unsigned long long *bad_row)
{
    return (struct sums_packed_column){array.data, array.strides[0], bad_row, DBL_MAX};
}

/* Wrapped points have been validated. */
static void pack_positions(const struct making *making, const struct making_side *side,
                           struct sums_packing *packing)
{
    const kith_array x = side->side->positions;
    for (int c = 0; c < 3; c++) {
        if (making->has_cells)
            packing->column[c] =
                (struct sums_packed_column){side->wrapped.position[c], 1, NULL, DBL_MAX};
        else if (c < making->problem->dimensions)
            packing->column[c] = (struct sums_packed_column){
                (const char *)x.data + c * x.strides[1] * kith_dtype_bytes(x.dtype), x.strides[0],
                side->bad_position, sums_largest_coordinate(making->problem)};
    }
}

static kith_status pack_side(struct making *making, const struct making_side *side)
{
    const struct sums_problem *problem = making->problem;
    struct sums_packing packing = {.dtype = problem->dtype,
                                   .count = side->side->count,
                                   .order = side->order,
                                   .columns = 3,
                                   .fields = side->fields,
                                   .records = side->records};
    memcpy(packing.positions, side->positions, sizeof packing.positions);
    pack_positions(making, side, &packing);
    for (int32_t k = 0; k < formula_most_columns; k++) {
        const char *name = NULL;
        if (!side->uses[k])
            continue;
        KITH_TRY(sums_name_cuda(making->context, side->side->name,
                                problem->formulas->scope.column[k], &name));
        packing.column[packing.columns++] = column_of(
            side->side->column[k], suspect(making, suspect_array(side->side->column[k], name)));
    }
    for (int32_t axis = 0; axis < sums_more_axes(problem); axis++) {
        packing.column[packing.columns] =
            column_of(sums_axis(side->side, axis), side->bad_position);
        packing.column[packing.columns++].most = sums_largest_coordinate(problem);
    }
    return sums_pack_cuda(making->context, &packing);
}

static kith_status arrange(struct making *making)
{
    if (!making->problem->same)
        suspect_positions(making, &making->targets, "targets.positions");
    suspect_positions(making, &making->sources, "sources.positions");
    if (making->problem->same)
        making->targets.bad_position = making->sources.bad_position;
    if (making->has_cells)
        KITH_TRY(sort_sides(making));
    if (!making->shares_records)
        KITH_TRY(pack_side(making, &making->targets));
    return pack_side(making, &making->sources);
}

static struct sums_cuda_side side_of(const struct making_side *side)
{
    return (struct sums_cuda_side){side->records, side->order, side->fields,
                                   (int32_t)side->side->count};
}

static struct sums_cuda_list list_of(struct making *making)
{
    const struct sums_problem *problem = making->problem;
    const kith_array *arrays = problem->list_arrays;
    struct sums_cuda_list list = {.offsets = arrays[sums_list_offsets].data,
                                  .j = arrays[sums_list_j].data,
                                  .shifts =
                                      problem->list.shifts ? arrays[sums_list_shifts].data : NULL,
                                  .is_narrow = problem->list.is_narrow,
                                  .includes_self = problem->list.includes_self,
                                  .count = arrays[sums_list_j].shape[0]};
    struct sums_suspect offsets = suspect_array(arrays[sums_list_offsets], "pairs.offsets");
    struct sums_suspect j = suspect_array(arrays[sums_list_j], "pairs.j");
    offsets.remedy = "offsets that ascend from 0 to the number of pairs";
    j.remedy = "rows of the sources";
    list.bad_row = suspect(making, offsets);
    list.bad_pair = suspect(making, j);
    return list;
}

static struct sums_cuda_problem problem_of(struct making *making)
{
    const struct sums_problem *problem = making->problem;
    struct sums_cuda_problem given = {.limit = problem->limit,
                                      .targets = side_of(&making->targets),
                                      .sources = side_of(&making->sources),
                                      .leaves_out_self = problem->same && !problem->include_self,
                                      .parts = (int32_t)making->parts,
                                      .part_sources = making->part_sources,
                                      .value = making->value,
                                      .rest = making->rest,
                                      .lattice = problem->lattice,
                                      .grid = making->grid,
                                      .begin = making->begin,
                                      .results = problem->results.data,
                                      .row_stride = problem->results.strides[0],
                                      .column_stride = problem->results.strides[1],
                                      .pairs = problem->wants_pair_count ? making->counters : NULL};
    formula_constants(problem->formulas->formula, problem->formulas->parameter, given.numbers.c);
    for (int c = 0; c < 3; c++)
        given.positions[c] = making->sources.positions[c];
    if (problem->list.offsets)
        given.list = list_of(making);
    return given;
}

static kith_status launch(struct making *making, const struct sums_cuda_problem *problem,
                          const char *symbol, int64_t parts)
{
    struct sums_cuda_problem given = *problem;
    void *kernel = NULL, *arguments[] = {&given};
    const int64_t n = making->problem->targets.count;
    const int64_t blocks = (n + sums_cuda_threads - 1) / sums_cuda_threads;
    const struct law_launch shape = {
        {(uint32_t)blocks, (uint32_t)parts, 1}, {sums_cuda_threads, 1, 1}, 0};
    if (blocks == 0)
        return KITH_OK;
    KITH_TRY(law_function_of_cuda(making->code, symbol, &kernel));
    return law_launch_cuda(making->context, kernel, &shape, arguments,
                           "starting the kernel of sums of formulas");
}

static kith_status sum(struct making *making)
{
    const struct sums_cuda_problem given = problem_of(making);
    if (making->has_cells)
        return launch(making, &given, "sums_near", 1);
    if (making->problem->list.offsets)
        return launch(making, &given, "sums_listed", 1);
    KITH_TRY(launch(making, &given, "sums_all", making->parts));
    return making->parts > 1 ? launch(making, &given, "sums_join", 1) : KITH_OK;
}

/* The number of pairs, for which the host waits. */
static kith_status fetch_pair_count(struct making *making)
{
    struct sums_problem *problem = making->problem;
    unsigned long long pairs = 0;
    if (!problem->wants_pair_count)
        return KITH_OK;
    if (problem->cutoff == 0 && !problem->list.offsets) {
        const int64_t of_target =
            problem->sources.count - (problem->same && !problem->include_self ? 1 : 0);
        problem->pair_count = problem->targets.count * of_target;
        return KITH_OK;
    }
    KITH_TRY(cuda_check(cudaMemcpyAsync(&pairs, making->counters, sizeof pairs,
                                        cudaMemcpyDeviceToHost, cuda_stream(making->context)),
                        "copying the number of pairs"));
    KITH_TRY(cuda_wait(making->context, "summing over pairs"));
    problem->pair_count = (int64_t)pairs;
    return KITH_OK;
}

static kith_status compute(kith_context *context, struct sums_problem *problem)
{
    static const struct sums_compiler compiler = {SUMS_CUDA_FILE, law_open_functions_cuda,
                                                  law_close_functions_cuda};
    struct making making = {.context = context, .problem = problem};
    struct gaussian_sums gaussian;
    const bool has_kernel = sums_is_gaussian_cuda(problem, &gaussian);
    begin(&making);
    if (!has_kernel)
        KITH_TRY(sums_code_of(context, problem, &compiler, &making.code));
    KITH_TRY(make_room(&making));
    KITH_TRY(arrange(&making)); /* which finds errors in the numbers, too */
    KITH_TRY(has_kernel ? gaussian_sums_cuda(context, &gaussian, problem->results) : sum(&making));
    KITH_TRY(sums_tell_cuda(context, making.suspect_count, making.suspects));
    return fetch_pair_count(&making);
}

static void stage_side(struct staging *staging, struct sums_side *side)
{
    for (int32_t k = 0; k < formula_most_columns; k++)
        staging_add(staging, &side->column[k], false);
}

kith_status sums_cuda(kith_context *context, struct sums_problem *problem)
{
    struct sums_problem there = *problem;
    struct staging staging = {.context = context};
    if (!staging_is_needed(context, problem->sources.positions))
        return compute(context, problem);
    staging_add(&staging, &there.sources.positions, false);
    if (!problem->same)
        staging_add(&staging, &there.targets.positions, false);
    stage_side(&staging, &there.sources);
    stage_side(&staging, &there.targets);
    for (int k = 0; k < sums_list_array_count; k++)
        staging_add(&staging, &there.list_arrays[k], false);
    staging_add(&staging, &there.results, true);
    KITH_TRY(staging_send(&staging));
    if (problem->same)
        there.targets.positions = there.sources.positions;
    const kith_status status = staging_receive(&staging, compute(context, &there));
    problem->pair_count = there.pair_count;
    return status;
}
