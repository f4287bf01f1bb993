/* Trees over ranks that each have a GPU and a part of the points.
 *
 * The points are divided along the curve (tree/division_ranks.h), of which the host knows the keys
 * alone, and each rank builds the tree of its own, with multipoles, on its device. The host has a
 * copy of its cells, and fetches those of other ranks that a walk visits, rank by rank from their
 * roots (tree/essential_ranks.h). They follow the own cells on the device, whose walk then has a
 * root for each rank, and finds all that it splits. Cells of different ranks may overlap, and are
 * not those of one process: errors are kept, bits are not. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"
#include "ranks/device_parts.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "tree/accuracy.h"
#include "tree/solve.h"
#include "tree/solve_cuda.h"

static const char what_cells[] = "cells of a tree", what_points[] = "points of a tree";

/* A walk of the host is divided among threads below cells with less than this part of the points.
 */
enum { parts_of_walk = 512, tag_of_points = 11 };

/* Above all numbers of a rank's cells. */
static const int64_t first_number_of_others = INT64_C(1) << 40;

struct slices_run {
    kith_context *context;
    const struct tree_problem *problem;
    struct tree_problem own; /* this rank's points, on the device */
    const struct tree_request *request;
    struct tree_state_cuda *state;
    struct tree_run_cuda run;
    struct tree_division division;
    struct tree_essential essential;
    struct tree_rule rule;
    int32_t generations; /* of any rank */
    int64_t rows;        /* of this rank's slice */
    int64_t real;
};

/* What the others know of a rank's root. */
struct root_seen {
    struct tree_side side;
    double net;
    int32_t count, children, generations, unused;
};

/* Own elements of an array of the tree, at the beginning of *memory. */
static kith_status copy_own(const struct slices_run *of, const void *from, int64_t bytes,
                            int64_t room, const char *what, struct tree_memory *memory)
{
    KITH_TRY(tree_reserve_cuda(of->context, room, what, memory));
    return bytes == 0
               ? KITH_OK
               : cuda_check(cudaMemcpyAsync(memory->memory, from, (size_t)bytes,
                                            cudaMemcpyDeviceToDevice, cuda_stream(of->context)),
                            "copying a tree");
}

static kith_status check_count(int64_t points)
{
    return points <= INT32_MAX
               ? KITH_OK
               : kith_fail(KITH_UNSUPPORTED,
                           "a rank has %lld points of a tree, and a GPU supports at most "
                           "2147483647; use more ranks",
                           (long long)points);
}

/* Collective: the slice along the curve, in the state's tree of sources, with its keys on the host;
 * its order is kept. */
static kith_status sort_slice(struct slices_run *of)
{
    const struct tree_problem *problem = of->problem;
    struct octree_cuda *tree = &of->state->sources;
    struct octree *keys = &of->division.slice;
    struct tree_memory *order = &of->state->joined.order;
    struct sort_points slice = {
        .dtype = problem->dtype, .dimensions = problem->dimensions, .count = of->rows};
    double low[3] = {0}, high[3] = {0};
    for (int32_t c = 0; c < problem->dimensions; c++)
        slice.position[c] = problem->source_position[c];
    KITH_TRY(ranks_agree(of->context, of->rows == 0
                                          ? KITH_OK
                                          : sort_find_range_cuda(of->context, &slice, low, high)));
    of->division.grid =
        tree_division_grid(of->context, problem->dimensions, of->rows == 0, low, high);
    *keys = (struct octree){
        .dtype = problem->dtype, .dimensions = problem->dimensions, .count = of->rows};
    kith_status status =
        octree_sort_in_grid_cuda(of->context, &slice, problem->weight, &of->division.grid, tree);
    if (status == KITH_OK)
        status = kith_allocate_unset(of->rows, sizeof *keys->keys, what_points, &keys->keys);
    if (status == KITH_OK)
        status = copy_own(of, tree->order, of->rows * (int64_t)sizeof *tree->order,
                          of->rows * (int64_t)sizeof *tree->order, what_points, order);
    if (status == KITH_OK && of->rows > 0)
        status = cuda_copy_out(of->context, keys->keys, tree->keys,
                               of->rows * (int64_t)sizeof *keys->keys);
    return ranks_agree(of->context, status);
}

/* Columns of this rank's points, of which there is memory for `count`: they are not needed after
 * the tree is built, whose points and those of others take it. */
static kith_status make_columns(struct slices_run *of, int64_t count, void *columns[4])
{
    const int64_t column = (count * of->real + 255) / 256 * 256;
    struct tree_memory *memory = &of->state->joined.points;
    KITH_TRY(tree_reserve_cuda(of->context, 4 * column, what_points, memory));
    for (int32_t c = 0; c < 4; c++)
        columns[c] = (char *)memory->memory + c * column;
    of->own = *of->problem;
    of->own.is_slice = false;
    of->own.source_count = of->own.target_count = count;
    of->own.weight = columns[3];
    for (int32_t c = 0; c < of->problem->dimensions; c++)
        of->own.source_position[c] = of->own.target_position[c] = columns[c];
    return KITH_OK;
}

/* Memory of the results, also of those of the slice. */
static kith_status reserve_results(struct slices_run *of, int64_t count)
{
    const int64_t most = count > of->rows ? count : of->rows;
    return tree_reserve_cuda(of->context, most * 4 * of->real, "results of a tree",
                             &of->state->results);
}

/* Collective: the points of this rank, on its device, by way of the memory of the results. */
static kith_status divide(struct slices_run *of)
{
    const int64_t points = of->problem->source_count, row = 4 * of->real;
    const struct ranks_parcels *parcels = &of->division.parcels;
    struct tree_memory *rows = &of->state->results;
    void *columns[4];
    KITH_TRY(sort_slice(of));
    KITH_TRY(tree_division_find_branches(
        of->context, points, tree_branch_points(points, of->context->ranks->size), &of->division));
    tree_division_divide(&of->division);
    octree_free_keys(&of->division.slice);
    const int64_t count = ranks_parcels_received(parcels);
    kith_status status = check_count(count);
    if (status == KITH_OK)
        status = reserve_results(of, count);
    if (status == KITH_OK)
        status = make_columns(of, count, columns);
    KITH_TRY(ranks_exchange_parts_on_device(of->context, status, tag_of_points, row,
                                            parcels->first_sent, of->state->sources.point,
                                            parcels->first_received, rows->memory));
    return ranks_agree(of->context,
                       tree_split_rows_cuda(cuda_stream(of->context), of->problem->dtype, count,
                                            rows->memory, columns));
}

/* Collective: the tree of this rank's points. */
static kith_status build(struct slices_run *of)
{
    of->state->is_shared = false;
    of->run =
        (struct tree_run_cuda){.problem = &of->own, .request = of->request, .state = of->state};
    kith_status status =
        tree_build_cuda(of->context, &of->own, of->request->leaf, NULL, 0, of->state);
    if (status == KITH_OK)
        status = tree_begin_joined_cuda(of->context, &of->run);
    return ranks_agree(of->context, status);
}

/* Copies of the own cells. */
static kith_status take_cells(struct slices_run *of)
{
    const struct octree_cuda *tree = &of->state->sources;
    const struct ranks *ranks = of->context->ranks;
    const int32_t cells = tree->cell_count;
    struct tree_essential *e = &of->essential;
    e->division = &of->division;
    e->own =
        (struct octree){.dtype = tree->dtype, .dimensions = tree->dimensions, .count = tree->count};
    e->tree = (struct octree){.dtype = tree->dtype, .dimensions = tree->dimensions};
    KITH_TRY(tree_essential_reserve(e, (int64_t)cells + ranks->size));
    e->tree.cell_count = e->base = e->first_root = cells;
    e->first_number = first_number_of_others;
    if (cells == 0)
        return KITH_OK;
    KITH_TRY(cuda_copy_out(of->context, e->tree.cell, tree->cell,
                           cells * (int64_t)sizeof *e->tree.cell));
    KITH_TRY(cuda_copy_out(of->context, e->tree.net_weight, tree->net_weight,
                           cells * (int64_t)sizeof *e->tree.net_weight));
    KITH_TRY(
        cuda_copy_out(of->context, e->side, of->run.source_side, cells * (int64_t)sizeof *e->side));
    for (int32_t k = 0; k < cells; k++) {
        const struct octree_cell *cell = &e->tree.cell[k];
        const bool is_large = cell->count > tree->count / parts_of_walk && cell->children > 0;
        e->kind[k] = is_large ? tree_above_own : tree_own;
        e->number[k] = k;
        e->owner[k] = ranks->rank;
        e->there[k] = k;
    }
    return KITH_OK;
}

/* A root of another rank, at the end. */
static void add_root(struct tree_essential *e, int32_t rank, const struct root_seen *seen)
{
    const int32_t index = e->tree.cell_count++;
    const bool is_lower = rank < e->division->context->ranks->rank;
    e->tree.cell[index] = (struct octree_cell){.first = -1,
                                               .count = seen->count,
                                               .parent = -1,
                                               .child = seen->children > 0 ? octree_absent : 0,
                                               .children = seen->children,
                                               .around = is_lower ? octree_of_lower_rank : 0};
    e->tree.net_weight[index] = seen->net;
    e->kind[index] = tree_other;
    e->number[index] = tree_first_number(e, rank);
    e->owner[index] = rank;
    e->there[index] = 0;
    e->side[index] = seen->side;
    e->roots++;
}

/* Collective: the roots of all ranks that have points. */
static kith_status take_roots(struct slices_run *of)
{
    const struct ranks *ranks = of->context->ranks;
    const struct octree_cuda *tree = &of->state->sources;
    struct tree_essential *e = &of->essential;
    struct root_seen *seen = NULL;
    KITH_TRY(ranks_agree(of->context, kith_allocate(ranks->size, sizeof *seen, what_cells, &seen)));
    if (tree->cell_count > 0)
        seen[ranks->rank] = (struct root_seen){e->side[0],
                                               e->tree.net_weight[0],
                                               e->tree.cell[0].count,
                                               e->tree.cell[0].children,
                                               tree->generations,
                                               0};
    ranks_gather(of->context, seen, sizeof *seen, ranks->size, 1);
    for (int32_t k = 0; k < ranks->size; k++) {
        if (seen[k].generations > of->generations)
            of->generations = seen[k].generations;
        if (k != ranks->rank && seen[k].count > 0)
            add_root(e, k, &seen[k]);
    }
    free(seen);
    return KITH_OK;
}

/* `bytes_each` of the own cells stay in *memory; those of others follow, from the host. */
static kith_status append(const struct slices_run *of, const void *all, int64_t bytes_each,
                          struct tree_memory *memory)
{
    const int64_t own = of->essential.base * bytes_each;
    const int64_t end = of->essential.tree.cell_count * bytes_each;
    KITH_TRY(tree_grow_cuda(of->context, own, end, what_cells, memory));
    return end == own ? KITH_OK
                      : cuda_copy_in(of->context, (char *)memory->memory + own,
                                     (const char *)all + own, end - own);
}

/* The cells of others after the own ones, on the device. */
static kith_status join_cells(struct slices_run *of)
{
    const struct octree_cuda *tree = &of->state->sources;
    const struct tree_essential *e = &of->essential;
    struct tree_joined_cuda *joined = &of->state->joined;
    const int64_t cells = e->tree.cell_count, cell = (int64_t)sizeof *tree->cell,
                  number = (int64_t)sizeof *tree->net_weight;
    if (e->base == 0)
        return KITH_OK;
    KITH_TRY(copy_own(of, tree->cell, e->base * cell, cells * cell, what_cells, &joined->cells));
    KITH_TRY(copy_own(of, tree->net_weight, e->base * number, cells * number, what_cells,
                      &joined->net_weights));
    KITH_TRY(append(of, e->tree.cell, cell, &joined->cells));
    KITH_TRY(append(of, e->tree.net_weight, number, &joined->net_weights));
    KITH_TRY(append(of, e->side, (int64_t)sizeof *e->side, &of->state->source_sides));
    joined->tree = *tree;
    joined->tree.cell = joined->cells.memory;
    joined->tree.net_weight = joined->net_weights.memory;
    joined->tree.point = joined->points.memory;
    joined->tree.cell_count = e->tree.cell_count;
    joined->tree.generations = of->generations;
    of->run.sources.first_root = e->first_root;
    of->run.sources.roots = e->roots;
    return KITH_OK;
}

/* Collective: the scales of the own cells, here and there. */
static kith_status find_scales(struct slices_run *of)
{
    struct tree_essential *e = &of->essential;
    const struct tree_rule rule = tree_field_rule();
    KITH_TRY(tree_essential_complete(e, e, &rule));
    kith_status status = join_cells(of);
    if (status == KITH_OK)
        status = tree_scale_joined_cuda(of->context, &of->run);
    if (status == KITH_OK && e->base > 0)
        status = cuda_copy_out(of->context, e->side, of->run.source_side,
                               e->base * (int64_t)sizeof *e->side);
    return ranks_agree(of->context, status);
}

/* Collective: the powers of the own cells, and of those of others that are there. */
static kith_status take_powers(struct slices_run *of)
{
    struct tree_essential *e = &of->essential;
    const int32_t terms = of->request->order + 1;
    double *power = NULL;
    kith_status status =
        kith_allocate(e->base, terms * (int64_t)sizeof *power, "multipoles of a tree", &power);
    if (status == KITH_OK && e->base > 0)
        status = cuda_copy_out(of->context, power, of->state->powers.memory,
                               e->base * terms * (int64_t)sizeof *power);
    status = ranks_agree(of->context, status);
    if (status == KITH_OK)
        status = tree_essential_take_powers(e, terms, power);
    free(power);
    return status;
}

/* Collective: all that the sums need of other ranks, on the device. */
static kith_status fetch(struct slices_run *of)
{
    const struct tree_essential *e = &of->essential;
    const int64_t record = of->real * expansion_record_length(&of->run.expansions.expansion);
    KITH_TRY(tree_fetch_slices_cuda(of->context, &of->essential, record, of->state));
    kith_status status = join_cells(of);
    if (status == KITH_OK && e->base > 0 && of->rule.order > 0)
        status = append(of, e->power, e->terms * (int64_t)sizeof *e->power, &of->state->powers);
    return ranks_agree(of->context, status);
}

/* Collective: what the walks of this rank visit of the others' trees. */
static kith_status join(struct slices_run *of)
{
    struct tree_essential *e = &of->essential;
    of->rule = tree_rule_for(&of->own, of->request);
    KITH_TRY(ranks_agree(of->context, take_cells(of)));
    KITH_TRY(take_roots(of));
    if (of->request->error > 0)
        KITH_TRY(find_scales(of));
    if (of->rule.order > 0)
        KITH_TRY(take_powers(of));
    KITH_TRY(tree_essential_complete(e, e, &of->rule));
    return fetch(of);
}

/* Collective: the results of the slice, along the curve, in the memory of those of the tree. */
static kith_status bring_home(struct slices_run *of, struct tree_home_cuda *home)
{
    const struct ranks_parcels *parcels = &of->division.parcels;
    struct tree_memory *there = &of->state->joined.points, *here = &of->state->results;
    const kith_status status = tree_order_results_cuda(
        cuda_stream(of->context), &of->state->sources, here->memory, there->memory);
    home->count = of->rows;
    home->results = here->memory;
    home->order = of->state->joined.order.memory;
    return ranks_exchange_parts_on_device(of->context, status, tag_of_points, 4 * of->real,
                                          parcels->first_received, there->memory,
                                          parcels->first_sent, here->memory);
}

static kith_status run_stages(struct slices_run *of, struct tree_home_cuda *home)
{
    struct tree_counts *counts = &of->state->counts;
    int64_t cells = 0, none = 0;
    KITH_TRY(ranks_agree(of->context, check_count(of->rows)));
    KITH_TRY(divide(of));
    KITH_TRY(build(of));
    KITH_TRY(join(of));
    KITH_TRY(ranks_agree(of->context, tree_sum_joined_cuda(of->context, &of->run)));
    cells = of->state->sources.cell_count;
    ranks_add_counts(of->context, &counts->far, &counts->near_pairs);
    ranks_add_counts(of->context, &cells, &none);
    of->state->report = tree_report_of(of->problem, of->request, counts, cells);
    if (of->request->estimates)
        KITH_TRY(tree_estimate_slices_cuda(of->context, &of->own, &of->essential, of->state,
                                           &of->state->report.error_estimated));
    return bring_home(of, home);
}

kith_status tree_solve_slices_cuda(kith_context *context, const struct tree_problem *problem,
                                   const struct tree_request *request,
                                   struct tree_state_cuda *state, struct tree_home_cuda *home)
{
    const struct ranks *ranks = context->ranks;
    struct slices_run of = {.context = context,
                            .problem = problem,
                            .request = request,
                            .state = state,
                            .real = kith_dtype_bytes(problem->dtype)};
    of.rows = ranks_first(problem->source_count, ranks->size, ranks->rank + 1) -
              ranks_first(problem->source_count, ranks->size, ranks->rank);
    const kith_status status = run_stages(&of, home);
    tree_essential_free(&of.essential);
    tree_division_free(&of.division);
    return status;
}
