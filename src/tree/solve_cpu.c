#include "tree/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "law/compiled.h"
#include "tree/accuracy.h"
#include "tree/expansion_rotation.h"
#include "tree/near_law_kernel.h"

static kith_status grow(void **memory, int64_t *bytes, int64_t wanted, int64_t room,
                        const char *what)
{
    if (wanted <= *bytes)
        return KITH_OK;
    free(*memory);
    *bytes = 0;
    KITH_TRY(kith_allocate_unset(room, 1, what, memory));
    memset(*memory, 0, (size_t)wanted);
    *bytes = room;
    return KITH_OK;
}

static kith_status check_counts(const struct tree_problem *problem)
{
    const int64_t limit = INT64_C(1) << 31, sources = problem->source_count;
    const int64_t largest = sources > problem->target_count ? sources : problem->target_count;
    if (largest >= limit)
        return kith_fail(
            KITH_UNSUPPORTED,
            "a tree has at most 2147483647 points, but there are %lld; use the solver direct",
            (long long)largest);
    return KITH_OK;
}

static kith_status build(kith_context *context, const struct tree_problem *problem, int32_t leaf,
                         struct tree_state *state)
{
    const void *const *x = problem->source_position, *const *y = problem->target_position;
    const struct sort_points sources = {
        problem->dtype, problem->dimensions, problem->source_count, {x[0], x[1], x[2]}};
    const struct sort_points targets = {
        problem->dtype, problem->dimensions, problem->target_count, {y[0], y[1], y[2]}};
    KITH_TRY(octree_build_cpu(context, &sources, problem->weight, leaf, &state->sources));
    state->target_tree = problem->self ? &state->sources : &state->targets;
    return problem->self ? KITH_OK
                         : octree_build_cpu(context, &targets, NULL, leaf, &state->targets);
}

/* Of every cell; parents come before their children, and give them a unit of length. */
static kith_status make_sides(const struct octree *tree, struct tree_side **sides)
{
    KITH_TRY(kith_allocate(tree->cell_count, sizeof **sides, "cells of a tree", sides));
    for (int32_t k = 0; k < tree->cell_count; k++) {
        const struct octree_sphere *sphere = &tree->sphere[k];
        const int32_t parent = tree->cell[k].parent;
        (*sides)[k] = (struct tree_side){
            .center = {sphere->center[0], sphere->center[1], sphere->center[2]},
            .radius = sphere->radius,
            .weight = tree->weight_sum[k],
            .size = expansion_size(sphere->radius, parent < 0 ? 0 : (*sides)[parent].size),
        };
    }
    return KITH_OK;
}

void tree_write_heads(const struct octree *tree, const struct tree_side *side,
                      const struct tree_expansions *expansions, int64_t first)
{
    const int64_t length = expansion_record_length(&expansions->expansion);
    for (int64_t k = 0; k < tree->cell_count; k++) {
        const double head[4] = {side[k].center[0], side[k].center[1], side[k].center[2],
                                side[k].size};
        for (int32_t c = 0; c < 4; c++)
            if (expansions->dtype == KITH_F64)
                ((double *)expansions->records)[(first + k) * length + c] = head[c];
            else
                ((float *)expansions->records)[(first + k) * length + c] = (float)head[c];
    }
}

/* The near kernel of the problem's law. */
static kith_status find_near_law(kith_context *context, const struct tree_problem *problem,
                                 struct tree_expansions *expansions)
{
#define ADDRESS(isa) &tree_near_law_##isa,
    static const struct tree_near_law_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const struct tree_near_law_kernels *kernels = each_isa[context->isa];
    struct law_view view;
    law_look(problem->pair_law, &view);
    expansions->near =
        (struct tree_near_law){.numbers = view.numbers, .softening2 = problem->softening2};
    if (view.form.kind == law_custom)
        return law_compile_cpu(context, problem->pair_law, "tree/near_law_kernel.c",
                               "tree_near_custom", problem->dtype, &expansions->near_law);
    expansions->near_law =
        (problem->dtype == KITH_F64 ? kernels->in_double : kernels->in_float)[view.form.kind];
    return KITH_OK;
}

kith_status tree_make_bins(const struct tree_problem *problem, const struct tree_request *request,
                           struct tree_run *run)
{
    const struct tree_side *a = run->targets.side, *b = run->sources.side;
    if (problem->law != expansion_series)
        return KITH_OK;
    return tree_law_bins_create(problem, request->order,
                                tree_distance(a, b) + a->radius + b->radius, &run->bins);
}

static kith_status make_tables(struct tree_run *run)
{
    struct expansion *expansion = &run->expansions.expansion;
    KITH_TRY(kith_allocate(1, sizeof *run->angles, "expansions of a tree", &run->angles));
    expansion_make_angles(expansion->has_solid ? expansion_max_order : expansion->order,
                          run->angles);
    expansion->angles = run->angles;
    if (!expansion->has_solid)
        return KITH_OK;
    KITH_TRY(kith_allocate(1, sizeof *run->tables, "expansions of a tree", &run->tables));
    expansion_make_tables(run->angles, run->tables);
    expansion->tables = run->tables;
    return KITH_OK;
}

/* M2L by solid coefficients takes the order that a pair of cells needs. */
static kith_status make_orders(const struct tree_problem *problem,
                               const struct tree_request *request, struct tree_run *run)
{
    if (!tree_has_orders(problem, request))
        return KITH_OK;
    KITH_TRY(kith_allocate(1, sizeof *run->orders, "expansions of a tree", &run->orders));
    tree_make_orders(request, run->orders);
    run->expansions.orders = run->orders;
    return KITH_OK;
}

static kith_status make_softenings(const struct tree_problem *problem,
                                   const struct tree_state *state, struct tree_run *run)
{
    if (!problem->source_half_softening2)
        return KITH_OK;
    KITH_TRY(tree_softenings_create(&state->sources, problem->source_half_softening2,
                                    &run->source_softenings));
    return problem->self
               ? KITH_OK
               : tree_softenings_create(state->target_tree, problem->target_half_softening2,
                                        &run->target_softenings);
}

kith_status tree_make_expansions(kith_context *context, const struct tree_problem *problem,
                                 const struct tree_request *request,
                                 const struct tree_softenings *const softenings[2], int64_t sources,
                                 int64_t spare, struct tree_state *state, struct tree_run *run)
{
    /* An error e of each pair is one of at most 10 e by the measure of the request. */
    const double rough_factor = 16;
    const struct tree_near_kernels *near = tree_near_kernels_of(context, problem->dtype);
    struct tree_expansions *expansions = &run->expansions;
    *expansions = (struct tree_expansions){
        .operators = expansion_kernels_of(context->isa, problem->dtype),
        .expansion = {tree_basis_for(problem), request->order, problem->softening2, problem->law,
                      &run->bins.bins, NULL, tree_has_solid(problem, request)},
        .dtype = problem->dtype,
        .points = request->points,
        .rough = rough_factor * near->rough_error <= request->error,
        .softenings = {softenings[0], softenings[1]},
    };
    KITH_TRY(make_tables(run));
    KITH_TRY(make_orders(problem, request, run));
    const int64_t record =
        kith_dtype_bytes(problem->dtype) * expansion_record_length(&expansions->expansion);
    KITH_TRY(grow(&state->records, &state->record_bytes, sources * record,
                  (sources + spare) * record, "multipoles of a tree"));
    KITH_TRY(kith_allocate(sources * (request->order + 1), sizeof *run->power,
                           "multipoles of a tree", &run->power));
    if (problem->law == expansion_series)
        KITH_TRY(find_near_law(context, problem, expansions));
    expansions->records = state->records;
    expansions->power = run->power;
    return KITH_OK;
}

static kith_status widen_records(struct tree_state *state, int64_t kept_bytes, int64_t bytes)
{
    void *grown = NULL;
    if (bytes <= state->record_bytes)
        return KITH_OK;
    KITH_TRY(kith_allocate_unset(bytes, 1, "multipoles of a tree", &grown));
    memcpy(grown, state->records, (size_t)kept_bytes);
    free(state->records);
    state->records = grown;
    state->record_bytes = bytes;
    return KITH_OK;
}

kith_status tree_place_targets(const struct tree_problem *problem,
                               const struct tree_request *request, int64_t kept, int64_t sources,
                               int64_t targets, struct tree_state *state, struct tree_run *run)
{
    struct tree_expansions *expansions = &run->expansions;
    const int64_t real = kith_dtype_bytes(problem->dtype);
    const int64_t first = problem->self ? 0 : sources;
    const int64_t record = real * expansion_record_length(&expansions->expansion);
    const int64_t local = real * expansion_local_length(&expansions->expansion);
    const int64_t local_bytes = request->groups ? 0 : (first + targets) * local;
    KITH_TRY(widen_records(state, kept * record,
                           (problem->self ? sources : sources + targets) * record));
    KITH_TRY(grow(&state->locals, &state->local_bytes, local_bytes, local_bytes,
                  "expansions of a tree"));
    if (local_bytes > 0)
        memset(state->locals, 0, (size_t)local_bytes);
    expansions->target_record = (int32_t)first;
    expansions->records = state->records;
    expansions->locals = request->groups ? NULL : state->locals;
    return KITH_OK;
}

static kith_status expand(kith_context *context, const struct tree_problem *problem,
                          const struct tree_request *request,
                          const struct tree_softenings *const softenings[2],
                          struct tree_state *state, struct tree_run *run)
{
    struct tree_expansions *expansions = &run->expansions;
    const int64_t sources = state->sources.cell_count, targets = state->target_tree->cell_count;
    KITH_TRY(tree_make_expansions(context, problem, request, softenings, sources,
                                  problem->self ? 0 : targets, state, run));
    KITH_TRY(tree_place_targets(problem, request, 0, sources, targets, state, run));
    tree_write_heads(&state->sources, run->source_side, expansions, 0);
    if (!problem->self)
        tree_write_heads(&state->targets, run->target_side, expansions, expansions->target_record);
    return tree_expand_cpu(context, &state->sources, run->source_side, expansions);
}

void tree_allow_points(double net, double sum, struct tree_run *run, struct tree_rule *rule)
{
    double binomial = 1;
    if (rule->walk != tree_walk_mutual || rule->logarithm || rule->decay || rule->order < 2 ||
        fabs(net) != sum)
        return;
    for (int32_t k = 0; k <= rule->order; k++) {
        run->as_point[k] = (k + 1) / binomial;
        binomial *= (double)(rule->order - k) / (k + 1);
    }
    rule->as_point = run->as_point;
}

kith_status tree_make_bounds(const struct tree_request *request, const struct tree_side *sides,
                             int32_t cells, struct tree_run *run)
{
    /* P_2 / (M ρ²) above which the cells of a disk or a line may all be longest in one direction:
     * their errors add up, those of a line, 1/3, most. */
    const double usual_power = 0.05, most_of_disk = 4;
    const struct tree_softening *softening = run->expansions.softenings[1]->of_cell;
    const int32_t order = request->order;
    KITH_TRY(
        kith_allocate(3 * (int64_t)cells, sizeof *run->bounds, "errors of a tree", &run->bounds));
    for (int32_t cell = 0; cell < cells; cell++) {
        const struct tree_side *side = &sides[cell];
        const double second = side->weight * side->radius * side->radius;
        double *bound = run->bounds + 3 * (int64_t)cell, binomial = 1, size_k = 1, rest_k = 1;
        memset(bound, 0, 3 * sizeof *bound);
        for (int32_t k = 1; k <= order && side->radius > 0; k++) {
            binomial *= (double)(order + 1 - k) / k;
            size_k *= side->size;
            rest_k *= k > 2 ? request->theta / side->radius : 1;
            const double power = run->power[cell * (order + 1) + k] / binomial * size_k;
            const double alike = k == 2 ? fmax(1, power / (usual_power * second)) : 1;
            const double of_line = fmax(1, alike / most_of_disk);
            bound[k > 1] += (k + 1) * power * rest_k * alike * sqrt(alike) * of_line;
        }
        bound[2] = 2.5 * second;
        if (softening)
            bound[1] +=
                tree_softening_error(&softening[cell], side->weight, side->radius, request->theta);
    }
    return KITH_OK;
}

struct tree_costs tree_costs_of(const struct tree_problem *problem,
                                const struct tree_request *request)
{
    const double order = request->order, terms = (order + 1) * (order + 1);
    const double of_points = terms / 8 * (problem->softening2 > 0 ? 1.5 : 1);
    const bool is_full = tree_basis_for(problem) == expansion_full;
    const double coefficients = is_full ? (order + 1) * (order + 2) * (order + 3) / 6 : terms;
    /* As measured with AVX-512, orders 7 to 12, softened and not, and by rotations 9 to 20, or 14
     * to 30, of which most pairs take lower ones. */
    const double of_cells = (tree_has_orders(problem, request)  ? 2 * coefficients
                             : tree_has_solid(problem, request) ? 3 * coefficients
                             : is_full ? 40 + 0.0125 * coefficients * coefficients
                                       : 10 + 0.024 * coefficients * coefficients) *
                            (problem->dtype == KITH_F32 ? 1.5 : 1);
    const double of_far = request->points ? 1 : of_points;
    return (struct tree_costs){request->groups ? of_far : of_cells, of_points};
}

static kith_status sum(kith_context *context, const struct tree_problem *problem,
                       const struct tree_request *request, struct tree_state *state,
                       struct tree_run *run, struct tree_counts *counts)
{
    struct tree_rule rule = tree_rule_for(problem, request);
    rule.decay = problem->law == expansion_series ? &run->bins.decay : NULL;
    tree_allow_points(state->sources.net_weight[0], state->sources.weight_sum[0], run, &rule);
    return tree_sum_cpu(context, problem, &rule, &run->targets, &run->sources, NULL, NULL,
                        &run->expansions, state, counts);
}

kith_status tree_make_results(const struct tree_problem *problem, int64_t targets,
                              struct tree_state *state)
{
    const int64_t column = kith_padded(targets) * kith_dtype_bytes(problem->dtype);
    const int64_t bytes = 4 * column + targets;
    KITH_TRY(grow(&state->results, &state->result_bytes, bytes, bytes, "results of a tree"));
    if (bytes > 0)
        memset(state->results, 0, (size_t)bytes);
    state->potential = state->results;
    state->stratum = (uint8_t *)state->results + 4 * column;
    for (int32_t c = 0; c < 3; c++)
        state->gradient[c] = (char *)state->results + (c + 1) * column;
    return KITH_OK;
}

static kith_status run_stages(kith_context *context, const struct tree_problem *problem,
                              const struct tree_request *request, struct tree_state *state,
                              struct tree_run *run)
{
    struct tree_counts counts = {0};
    double error = 0;
    KITH_TRY(build(context, problem, request->leaf, state));
    KITH_TRY(tree_make_results(problem, problem->target_count, state));
    if (!request->estimates)
        state->stratum = NULL;
    KITH_TRY(make_sides(&state->sources, &run->source_side));
    if (!problem->self)
        KITH_TRY(make_sides(&state->targets, &run->target_side));
    struct tree_side *target_side = problem->self ? run->source_side : run->target_side;
    run->sources = (struct tree_sides){&state->sources, run->source_side, NULL};
    run->targets = (struct tree_sides){state->target_tree, target_side, NULL};
    if (problem->target_count > 0 && problem->source_count > 0) {
        KITH_TRY(tree_make_bins(problem, request, run));
        KITH_TRY(make_softenings(problem, state, run));
        const struct tree_softenings *softenings[] = {problem->self ? &run->source_softenings
                                                                    : &run->target_softenings,
                                                      &run->source_softenings};
        if (request->error > 0)
            KITH_TRY(tree_find_field_cpu(context, problem, &run->targets, &run->sources, &run->bins,
                                         softenings, target_side));
        KITH_TRY(expand(context, problem, request, softenings, state, run));
        if (run->expansions.points)
            KITH_TRY(
                tree_make_bounds(request, run->sources.side, run->sources.tree->cell_count, run));
        run->sources.power = run->expansions.points ? run->bounds : run->power;
        run->targets.power = problem->self ? run->sources.power : NULL;
        KITH_TRY(sum(context, problem, request, state, run, &counts));
        if (request->estimates)
            KITH_TRY(tree_estimate_cpu(context, problem, &run->targets, &run->expansions, state,
                                       &error));
    }
    state->report = tree_report_of(problem, request, &counts, state->sources.cell_count);
    state->report.error_estimated = error;
    return KITH_OK;
}

kith_status tree_solve_cpu(kith_context *context, const struct tree_problem *problem,
                           const struct tree_request *request, struct tree_state *state)
{
    struct tree_run run = {0};
    KITH_TRY(check_counts(problem));
    state->slice_first = state->slice_count = 0;
    state->is_sliced = false;
    if (context->ranks && problem->target_count > 0 && problem->source_count > 0)
        return tree_solve_ranks(context, problem, request, state);
    const kith_status status = run_stages(context, problem, request, state, &run);
    tree_run_free(&run);
    return status;
}

void tree_run_free(struct tree_run *run)
{
    free(run->source_side);
    free(run->target_side);
    free(run->power);
    free(run->bounds);
    free(run->angles);
    free(run->tables);
    free(run->orders);
    tree_softenings_free(&run->source_softenings);
    tree_softenings_free(&run->target_softenings);
    tree_law_bins_free(&run->bins);
    *run = (struct tree_run){0};
}

bool tree_may_keep(struct tree_state *state)
{
    const int64_t most_points = 1 << 20;
    const int64_t points = state->sources.count + state->targets.count;
    if (state->work.count > 0 || state->is_sliced || points == 0 || points > most_points)
        return false;
    state->targets.count = 0;    /* those of a problem whose targets are its sources */
    if (state->record_bytes > 0) /* what pads them is 0, of any order */
        memset(state->records, 0, (size_t)state->record_bytes);
    return true;
}

void tree_free(struct tree_state *state)
{
    octree_free(&state->sources);
    octree_free(&state->targets);
    free(state->results);
    free(state->records);
    free(state->locals);
    tree_work_free(&state->work);
    *state = (struct tree_state){0};
}
