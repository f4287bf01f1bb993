/* The solvers tree and fmm on the CPU: the tree's results in the order and units of the problem. */

#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/threads.h"
#include "forces/tree_weights.h"
#include "ranks/ranks.h"

enum { targets_of_task = 1 << 13 };

/* Of one thread. */
static const double seconds_of_target = 10e-9;

/* Memory from call to call. */
struct trees {
    struct tree_state tree;
    struct forces_tree_weights weights;
};

static kith_status prepare(void **state)
{
    return kith_allocate(1, sizeof(struct trees), "a tree", state);
}

static void forget(kith_context *context, void *state)
{
    struct trees *trees = state;
    (void)context;
    tree_free(&trees->tree);
    free(trees->weights.column);
    free(trees);
}

static bool may_keep(void *state)
{
    struct trees *trees = state;
    return tree_may_keep(&trees->tree);
}

struct delivery_run {
    const struct forces_tree_sums *sums;
    const struct tree_state *state;
    double unit;            /* of the weights of the sources */
    int64_t targets, first; /* of all, or of this rank's slice; the first in the columns */
};

static void put(const struct forces_problem *problem, void *column, int64_t i, double value)
{
    if (!column)
        return;
    const double sum = problem->accumulate ? real_get(problem->dtype, column, i) + value : value;
    real_set(problem->dtype, column, i, sum);
}

static void deliver(void *argument, int64_t task)
{
    const struct delivery_run *run = argument;
    const struct forces_problem *problem = run->sums->problem;
    const struct forces_weights *weights = &run->sums->weights;
    const struct tree_state *state = run->state;
    const kith_dtype dtype = problem->dtype;
    const int64_t begin = task * targets_of_task, left = run->targets - begin;
    const int64_t end = begin + (left < targets_of_task ? left : targets_of_task);
    for (int64_t k = begin; k < end; k++) {
        const int64_t i = state->is_sliced ? run->first + k : state->target_tree->order[k];
        const double weight = weights->target ? real_get(dtype, weights->target, i) : 1;
        const double of_potential = weights->strength * weight;
        const double of_gradient =
            problem->law ? of_potential / real_get(dtype, problem->target_mass, i) : of_potential;
        put(problem, problem->potential, i,
            of_potential * (run->unit * real_get(dtype, state->potential, k)));
        for (int32_t c = 0; c < problem->dimensions; c++)
            if (problem->acceleration[c])
                put(problem, problem->acceleration[c], i,
                    -of_gradient * (run->unit * real_get(dtype, state->gradient[c], k)));
    }
}

/* Collective: the results of all. */
static void gather_slices(kith_context *context, const struct forces_problem *problem)
{
    const int64_t real = kith_dtype_bytes(problem->dtype);
    if (problem->potential)
        ranks_gather(context, problem->potential, real, problem->target_count, 1);
    for (int32_t c = 0; c < problem->dimensions; c++)
        if (problem->acceleration[c])
            ranks_gather(context, problem->acceleration[c], real, problem->target_count, 1);
}

/* All results, or those of this rank's slice. */
static kith_status deliver_all(kith_context *context, const struct forces_tree_sums *sums,
                               double unit, const struct tree_state *state)
{
    struct delivery_run run = {.sums = sums, .state = state, .unit = unit};
    run.targets = state->is_sliced ? state->slice_count : sums->sums.target_count;
    run.first = sums->sums.is_slice ? 0 : state->slice_first;
    const double seconds = seconds_of_target * (double)run.targets;
    return kith_for_each(context, kith_threads_for(context, seconds),
                         (run.targets + targets_of_task - 1) / targets_of_task, deliver, &run);
}

static kith_status evaluate(kith_context *context, const struct forces_tree_sums *sums, void *state,
                            struct tree_report *report)
{
    struct trees *trees = state;
    struct tree_state *tree = &trees->tree;
    struct tree_problem problem = sums->sums;
    double unit = 1;
    if (sums->problem->softening2_at)
        problem.softening2 = *sums->problem->softening2_at;
    KITH_TRY(forces_scale_tree_weights(context, sums, &problem, &trees->weights, &unit));
    const struct tree_request request = tree_choose(&problem, &sums->wanted);
    KITH_TRY(tree_solve_cpu(context, &problem, &request, tree));
    kith_status status = deliver_all(context, sums, unit, tree);
    if (tree->is_sliced)
        status = ranks_agree(context, status);
    KITH_TRY(status);
    if (tree->is_sliced && !problem.is_slice)
        gather_slices(context, sums->problem);
    *report = tree->report;
    return KITH_OK;
}

const struct forces_tree_backend forces_tree_cpu = {
    .prepare = prepare, .evaluate = evaluate, .free = forget, .may_keep = may_keep};
