/* Trees on a GPU: what tree_solve_cpu does, stage by stage. */

#include "tree/solve_cuda.h"

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"
#include "tree/accuracy.h"
#include "tree/expansion_angles.h"

#include <stdlib.h>

kith_status tree_check_stream_cuda(kith_context *context)
{
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    KITH_TRY(cuda_check(cudaStreamIsCapturing(cuda_stream(context), &capture), "using the stream"));
    if (capture != cudaStreamCaptureStatusNone)
        return kith_fail(KITH_UNSUPPORTED,
                         "a tree waits for the device and cannot be part of a captured graph; use "
                         "the solver direct there");
    return KITH_OK;
}

static kith_status check_count(const struct tree_problem *problem)
{
    const int64_t limit = INT64_C(1) << 31;
    const int64_t points = problem->source_count > problem->target_count ? problem->source_count
                                                                         : problem->target_count;
    return points < limit
               ? KITH_OK
               : kith_fail(KITH_UNSUPPORTED,
                           "a tree has at most 2147483647 points, but there are %lld; use the "
                           "solver direct",
                           (long long)points);
}

static kith_status check_order(const struct tree_problem *problem,
                               const struct tree_request *request)
{
    const bool is_series = problem->law == expansion_series;
    if (request->order > tree_most_full_order_cuda && (problem->softening2 > 0 || is_series) &&
        problem->dimensions == 3)
        return kith_fail(KITH_UNSUPPORTED,
                         "order is %d, and %s a GPU has orders up to %d; give one of these, or use "
                         "the CPU",
                         (int)request->order, is_series ? "for this law" : "with softening",
                         (int)tree_most_full_order_cuda);
    return KITH_OK;
}

static struct tree_state_cuda *state_of_part(const struct tree_share_cuda *share, int32_t k)
{
    return k == 0 ? share->first : &share->others[k - 1];
}

/* The first device sorts the points, which go to the others while it makes the cells. */
static kith_status build_shared(kith_context *context, const struct tree_share_cuda *share,
                                const struct sort_points *points, const void *weight, int32_t leaf,
                                const struct octree_cuda *first, struct octree_cuda *tree)
{
    const struct cuda_part *part = share->part;
    const bool is_first = part->index == 0;
    if (is_first)
        KITH_TRY(octree_sort_cuda(context, points, weight, leaf, tree));
    KITH_TRY(cuda_meet(share->meeting, part, !is_first));
    KITH_TRY(is_first ? octree_make_cells_cuda(context, tree)
                      : octree_copy_points_cuda(part, first, tree));
    KITH_TRY(cuda_meet(share->meeting, part, !is_first));
    if (!is_first)
        KITH_TRY(octree_copy_cells_cuda(part, first, tree));
    return octree_measure_cuda(context, tree);
}

static kith_status build_both_shared(kith_context *context, const struct tree_problem *problem,
                                     const struct sort_points *sources,
                                     const struct sort_points *targets, int32_t leaf,
                                     struct tree_state_cuda *state)
{
    const struct tree_share_cuda *share = state->share;
    state->target_tree = problem->self ? &state->sources : &state->targets;
    KITH_TRY(build_shared(context, share, sources, problem->weight, leaf, &share->first->sources,
                          &state->sources));
    return problem->self ? KITH_OK
                         : build_shared(context, share, targets, NULL, leaf, &share->first->targets,
                                        &state->targets);
}

kith_status tree_build_cuda(kith_context *context, const struct tree_problem *problem, int32_t leaf,
                            const struct cuda_reading *also, int more,
                            struct tree_state_cuda *state)
{
    const void *const *x = problem->source_position, *const *y = problem->target_position;
    const struct sort_points sources = {
        problem->dtype, problem->dimensions, problem->source_count, {x[0], x[1], x[2]}};
    const struct sort_points targets = {
        problem->dtype, problem->dimensions, problem->target_count, {y[0], y[1], y[2]}};
    KITH_TRY(tree_check_stream_cuda(context));
    KITH_TRY(check_count(problem));
    if (state->share)
        return build_both_shared(context, problem, &sources, &targets, leaf, state);
    KITH_TRY(octree_begin_cuda(context, &sources, problem->weight, leaf, &state->sources));
    KITH_TRY(octree_finish_cuda(context, also, more, &state->sources));
    state->target_tree = problem->self ? &state->sources : &state->targets;
    if (!problem->self)
        KITH_TRY(octree_build_cuda(context, &targets, NULL, leaf, &state->targets));
    if (!state->is_shared)
        state->range = (struct octree_range){0, (int32_t)problem->target_count};
    return KITH_OK;
}

static kith_status make_sides(kith_context *context, const struct octree_cuda *tree,
                              bool has_scales, struct tree_memory *memory, struct tree_side **side)
{
    KITH_TRY(tree_reserve_cuda(context, tree->cell_count * (int64_t)sizeof **side,
                               "cells of a tree", memory));
    *side = memory->memory;
    return tree_make_sides_cuda(context, tree, has_scales, *side);
}

/* Made once for all orders. */
static kith_status make_angles(kith_context *context, struct tree_memory *memory)
{
    struct expansion_angles *angles = NULL;
    if (memory->memory)
        return KITH_OK;
    KITH_TRY(kith_allocate(1, sizeof *angles, "multipoles of a tree", &angles));
    expansion_make_angles(expansion_max_full, angles);
    kith_status status = tree_reserve_cuda(context, sizeof *angles, "multipoles of a tree", memory);
    if (status == KITH_OK)
        status = cuda_copy_in(context, memory->memory, angles, sizeof *angles);
    free(angles);
    return status;
}

/* What is to be known of the law. */
static kith_status make_law(kith_context *context, const struct tree_run_cuda *run)
{
    struct tree_side a, b; /* of all points */
    run->state->bins = NULL;
    if (run->problem->law != expansion_series)
        return KITH_OK;
    KITH_TRY(cuda_copy_out(context, &a, run->target_side, sizeof a));
    KITH_TRY(cuda_copy_out(context, &b, run->source_side, sizeof b));
    return tree_make_law_cuda(context, run->problem, run->request->order,
                              tree_distance(&a, &b) + a.radius + b.radius, &run->state->bins);
}

static kith_status make_expansions(kith_context *context, struct tree_run_cuda *run)
{
    const struct tree_problem *problem = run->problem;
    const struct tree_request *request = run->request;
    struct tree_state_cuda *state = run->state;
    struct tree_expansions_cuda *expansions = &run->expansions;
    const int32_t least_order_of_rotations = 12; /* tree/m2l_cuda.cuh */
    *expansions = (struct tree_expansions_cuda){
        .expansion = {tree_basis_for(problem), request->order, problem->softening2, problem->law,
                      state->bins ? &state->bins->bins : NULL, NULL,
                      tree_basis_for(problem) == expansion_harmonic &&
                          request->order >= least_order_of_rotations},
        .dtype = problem->dtype,
        .pair_law = problem->pair_law,
        .target_record = problem->self ? 0 : state->sources.cell_count,
        .range = state->range,
    };
    const int64_t real = kith_dtype_bytes(problem->dtype);
    const int64_t cells = (int64_t)expansions->target_record + state->target_tree->cell_count;
    const int64_t records = cells * real * expansion_record_length(&expansions->expansion);
    const int64_t locals = cells * real * expansion_local_length(&expansions->expansion);
    const int64_t powers =
        (int64_t)state->sources.cell_count * (request->order + 1) * (int64_t)sizeof(double);
    KITH_TRY(tree_reserve_cuda(context, records, "multipoles of a tree", &state->records));
    KITH_TRY(tree_reserve_cuda(context, powers, "multipoles of a tree", &state->powers));
    KITH_TRY(make_angles(context, &state->angles));
    if (!request->groups) {
        KITH_TRY(tree_reserve_cuda(context, locals, "expansions of a tree", &state->locals));
        KITH_TRY(cuda_check(
            cudaMemsetAsync(state->locals.memory, 0, (size_t)locals, cuda_stream(context)),
            "clearing memory"));
        expansions->locals = state->locals.memory;
    }
    expansions->records = state->records.memory;
    expansions->power = state->powers.memory;
    expansions->angles = state->angles.memory;
    return KITH_OK;
}

/* The upward pass. */
static kith_status expand(cudaStream_t stream, const struct tree_run_cuda *run)
{
    const struct tree_expansions_cuda *expansions = &run->expansions;
    struct tree_state_cuda *state = run->state;
    KITH_TRY(tree_write_heads_cuda(stream, &state->sources, run->source_side, expansions, 0));
    if (!run->problem->self)
        KITH_TRY(tree_write_heads_cuda(stream, &state->targets, run->target_side, expansions,
                                       expansions->target_record));
    return tree_expand_cuda(stream, &state->sources, run->source_side, expansions);
}

/* What the caller needs besides the results: the places of the targets, and the sums of the samples
 * by which the error is estimated. */
static kith_status begin_extras(kith_context *context, cudaStream_t stream,
                                const struct tree_run_cuda *run)
{
    if (run->state->finds_places)
        KITH_TRY(tree_find_places_cuda(stream, run->state->target_tree, run->state->places.memory));
    return run->request->estimates
               ? tree_sum_samples_cuda(context, stream, run->problem, run->state)
               : KITH_OK;
}

/* The same while the field is found, of which it needs nothing. */
static kith_status expand_aside(kith_context *context, void *user)
{
    (void)context;
    const struct tree_run_cuda *run = user;
    return expand(run->state->aside.stream, run);
}

/* The walk for the lists needs the expansions, but no samples. */
static kith_status join_aside(kith_context *context, void *user)
{
    const struct tree_run_cuda *run = user;
    KITH_TRY(tree_join_cuda(context, &run->state->aside));
    return begin_extras(context, run->state->aside.stream, run);
}

static kith_status make_aside(struct tree_aside *aside)
{
    const char what[] = "making a stream";
    if (aside->joined)
        return KITH_OK;
    if (!aside->stream) {
        int last = 0, first = 0;
        KITH_TRY(cuda_check(cudaDeviceGetStreamPriorityRange(&last, &first), what));
        KITH_TRY(cuda_check(
            cudaStreamCreateWithPriority(&aside->stream, cudaStreamNonBlocking, first), what));
    }
    if (!aside->forked)
        KITH_TRY(
            cuda_check(cudaEventCreateWithFlags(&aside->forked, cudaEventDisableTiming), what));
    return cuda_check(cudaEventCreateWithFlags(&aside->joined, cudaEventDisableTiming), what);
}

static void free_aside(struct tree_aside *aside)
{
    if (aside->joined)
        cudaEventDestroy(aside->joined);
    if (aside->forked)
        cudaEventDestroy(aside->forked);
    if (aside->stream)
        cudaStreamDestroy(aside->stream);
}

kith_status tree_fork_cuda(kith_context *context, const struct tree_aside *aside)
{
    KITH_TRY(cuda_check(cudaEventRecord(aside->forked, cuda_stream(context)), "using a stream"));
    return cuda_check(cudaStreamWaitEvent(aside->stream, aside->forked, 0), "using a stream");
}

kith_status tree_join_cuda(kith_context *context, const struct tree_aside *aside)
{
    KITH_TRY(cuda_check(cudaEventRecord(aside->joined, aside->stream), "using a stream"));
    return cuda_check(cudaStreamWaitEvent(cuda_stream(context), aside->joined, 0),
                      "using a stream");
}

static kith_status make_results(kith_context *context, const struct tree_problem *problem,
                                struct tree_state_cuda *state)
{
    const int64_t bytes = 4 * problem->target_count * kith_dtype_bytes(problem->dtype);
    KITH_TRY(tree_reserve_cuda(context, bytes, "results of a tree", &state->results));
    if (state->finds_places)
        KITH_TRY(tree_reserve_cuda(context, problem->target_count * (int64_t)sizeof(uint32_t),
                                   "places in a tree", &state->places));
    return bytes == 0 ? KITH_OK
                      : cuda_check(cudaMemsetAsync(state->results.memory, 0, (size_t)bytes,
                                                   cuda_stream(context)),
                                   "clearing memory");
}

static kith_status use_lists(kith_context *context, void *user, const struct tree_batch *batch)
{
    struct tree_run_cuda *run = user;
    struct tree_state_cuda *state = run->state;
    struct tree_parts_memory *far = &state->walker.parts[tree_list_far];
    struct tree_parts_memory *near = &state->walker.parts[tree_list_near];
    if (!run->expansions.locals) { /* both add to the results */
        KITH_TRY(tree_m2p_cuda(context, &run->points, batch));
        return tree_near_cuda(context, &run->points, batch, near);
    }
    run->has_far = run->has_far || batch->far_count > 0;
    kith_status status =
        tree_m2l_cuda(context, &run->expansions, batch, state->bins ? NULL : &state->aside, far);
    if (status == KITH_OK)
        status = tree_near_cuda(context, &run->points, batch, near);
    if (batch->end < state->target_tree->cell_count || status != KITH_OK) /* lists follow */
        KITH_TRY(tree_join_cuda(context, &state->aside));
    return status;
}

/* Of several devices each adds those of its leaves to the first one's. */
static kith_status finish_results(kith_context *context, struct tree_run_cuda *run)
{
    const struct tree_share_cuda *share = run->state->share;
    if (share && share->is_direct && share->part->index > 0) {
        run->points.finished = share->first->results.memory;
        run->points.first_finished = run->state->range.first;
        run->state->has_delivered = true;
    }
    return tree_l2p_cuda(context, &run->points);
}

/* Scales of the leaves of all devices. */
static kith_status share_scales(kith_context *context, const struct tree_pull *pulls, void *user)
{
    const struct tree_run_cuda *run = user;
    const struct tree_state_cuda *state = run->state;
    const struct tree_share_cuda *share = state->share;
    struct tree_sides_of_devices devices = {.count = share->part->count, .own = share->part->index};
    KITH_TRY(tree_find_leaf_scales_cuda(context, state->target_tree, state->range, pulls,
                                        run->target_side));
    KITH_TRY(cuda_meet(share->meeting, share->part, true));
    for (int32_t k = 0; k < devices.count; k++) {
        const struct tree_state_cuda *other = state_of_part(share, k);
        devices.end[k] = other->range.end;
        devices.side[k] =
            run->problem->self ? other->source_sides.memory : other->target_sides.memory;
    }
    return tree_gather_scales_cuda(context, state->target_tree, &devices, run->target_side);
}

/* field: NULL if there are no scales to be found. */
static kith_status sum(kith_context *context, struct tree_run_cuda *run,
                       const struct tree_field_cuda *field, struct tree_counts *counts)
{
    const struct tree_problem *problem = run->problem;
    struct tree_state_cuda *state = run->state;
    struct tree_rule rule = tree_rule_for(problem, run->request);
    rule.decay = state->bins ? &state->bins->decay : NULL;
    run->points = (struct tree_points_cuda){state->target_tree,
                                            run->sources.tree,
                                            problem->self,
                                            &run->expansions,
                                            state->results.memory,
                                            state->results.memory,
                                            0};
    run->sources.power = run->expansions.power;
    run->targets.power = problem->self ? run->expansions.power : NULL;
    state->walker.divides[tree_list_near] = true;
    state->walker.divides[tree_list_far] = run->expansions.locals != NULL;
    kith_status status = tree_walk_cuda(context, &rule, field, &run->targets, &run->sources,
                                        use_lists, run, &state->walker, counts);
    if (status == KITH_OK && run->has_far)
        status = tree_l2l_cuda(context, state->bins ? cuda_stream(context) : state->aside.stream,
                               state->target_tree, &run->expansions);
    KITH_TRY(tree_join_cuda(context, &state->aside)); /* the samples' sums, too */
    KITH_TRY(status);
    return run->expansions.locals ? finish_results(context, run) : KITH_OK;
}

static kith_status run_stages(kith_context *context, struct tree_run_cuda *run,
                              struct tree_counts *counts)
{
    const struct tree_problem *problem = run->problem;
    struct tree_state_cuda *state = run->state;
    KITH_TRY(make_results(context, problem, state));
    if (problem->target_count == 0 || problem->source_count == 0)
        return KITH_OK;
    const bool has_scales = run->request->error > 0;
    KITH_TRY(make_sides(context, &state->sources, has_scales && problem->self, &state->source_sides,
                        &run->source_side));
    run->target_side = run->source_side;
    if (!problem->self)
        KITH_TRY(make_sides(context, &state->targets, has_scales, &state->target_sides,
                            &run->target_side));
    run->sources = (struct tree_sides_cuda){.tree = &state->sources, .side = run->source_side};
    run->targets = (struct tree_sides_cuda){
        .tree = state->target_tree, .side = run->target_side, .range = state->range};
    KITH_TRY(make_aside(&state->aside));
    KITH_TRY(make_law(context, run));
    KITH_TRY(make_expansions(context, run));
    if (run->request->estimates)
        KITH_TRY(tree_reserve_samples_cuda(context, state));
    const struct tree_share_cuda *share = state->share;
    const bool shares_field = share && share->is_direct && share->has_all && has_scales;
    if (share && !shares_field) /* the first device's results are there */
        KITH_TRY(cuda_meet(share->meeting, share->part, true));
    if (!has_scales) {
        KITH_TRY(expand(cuda_stream(context), run));
        KITH_TRY(begin_extras(context, cuda_stream(context), run));
        return sum(context, run, NULL, counts);
    }
    const struct tree_field_cuda field = {problem->softening2,
                                          problem->law,
                                          state->bins,
                                          run->target_side,
                                          {expand_aside, join_aside, run},
                                          shares_field ? share_scales : NULL};
    KITH_TRY(tree_fork_cuda(context, &state->aside));
    return sum(context, run, &field, counts);
}

kith_status tree_begin_joined_cuda(kith_context *context, struct tree_run_cuda *run)
{
    struct tree_state_cuda *state = run->state;
    state->counts = (struct tree_counts){0};
    state->samples.parts = 0;
    state->bins = NULL;
    state->finds_places = false;
    KITH_TRY(check_order(run->problem, run->request));
    KITH_TRY(make_results(context, run->problem, state));
    if (run->problem->source_count == 0)
        return KITH_OK;
    KITH_TRY(make_sides(context, &state->sources, run->request->error > 0, &state->source_sides,
                        &run->source_side));
    KITH_TRY(make_aside(&state->aside));
    KITH_TRY(make_expansions(context, run));
    return expand(cuda_stream(context), run);
}

/* The memory may have moved. */
static void take_joined(struct tree_run_cuda *run)
{
    struct tree_state_cuda *state = run->state;
    run->source_side = run->target_side = state->source_sides.memory;
    run->expansions.records = state->records.memory;
    run->expansions.power = state->powers.memory;
    run->sources.tree = &state->joined.tree;
    run->sources.side = run->source_side;
    run->targets = (struct tree_sides_cuda){
        .tree = &state->sources, .side = run->source_side, .range = state->range};
}

kith_status tree_scale_joined_cuda(kith_context *context, struct tree_run_cuda *run)
{
    const struct tree_problem *problem = run->problem;
    if (problem->source_count == 0)
        return KITH_OK;
    take_joined(run);
    const struct tree_field_cuda field = {
        .softening2 = problem->softening2, .law = problem->law, .target_side = run->target_side};
    return tree_find_field_cuda(context, &field, &run->targets, &run->sources, &run->state->walker);
}

kith_status tree_sum_joined_cuda(kith_context *context, struct tree_run_cuda *run)
{
    if (run->problem->source_count == 0)
        return KITH_OK;
    take_joined(run);
    return sum(context, run, NULL, &run->state->counts);
}

kith_status tree_sum_cuda(kith_context *context, const struct tree_problem *problem,
                          const struct tree_request *request, struct tree_state_cuda *state)
{
    struct tree_run_cuda run = {.problem = problem, .request = request, .state = state};
    state->counts = (struct tree_counts){0};
    state->samples.parts = 0;
    state->has_delivered = false;
    KITH_TRY(check_order(problem, request));
    KITH_TRY(run_stages(context, &run, &state->counts));
    state->report = tree_report_of(problem, request, &state->counts, state->sources.cell_count);
    return KITH_OK;
}

kith_status tree_solve_cuda(kith_context *context, const struct tree_problem *problem,
                            const struct tree_request *request, struct tree_state_cuda *state)
{
    KITH_TRY(tree_build_cuda(context, problem, request->leaf, NULL, 0, state));
    return tree_sum_cuda(context, problem, request, state);
}

void tree_free_cuda(kith_context *context, struct tree_state_cuda *state)
{
    const struct tree_memory *const memory[] = {&state->results,
                                                &state->records,
                                                &state->locals,
                                                &state->powers,
                                                &state->source_sides,
                                                &state->target_sides,
                                                &state->angles,
                                                &state->samples.memory,
                                                &state->places,
                                                &state->joined.cells,
                                                &state->joined.net_weights,
                                                &state->joined.points,
                                                &state->joined.order};
    octree_free_cuda(context, &state->sources);
    octree_free_cuda(context, &state->targets);
    tree_walker_free_cuda(context, &state->walker);
    free_aside(&state->aside);
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++)
        cuda_release(context, memory[k]->memory);
    *state = (struct tree_state_cuda){0};
}
