/* The solvers tree and fmm: the far pairs by expansions of a tree's cells (tree/tree.h). */

#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/solver.h"
#include "law/law.h"
#include "tree/tree.h"

static const char no_law[] =
    "which has gravity, coulomb, log2d and other laws of weights over the distance";

/* V = strength w_i w_j / s, or times ln s, and the columns of its weights; NULL: ones. */
struct law_of_weights {
    enum expansion_law law;
    double strength;
    const void *source, *target;
};

static bool find_law(const struct forces_problem *problem, struct law_of_weights *found)
{
    struct law_view view;
    *found = (struct law_of_weights){expansion_inverse, -problem->gravitational_constant,
                                     problem->source_mass, NULL};
    if (!problem->law)
        return true;
    law_look(problem->law, &view);
    const bool is_logarithm = view.form.kind == law_log2d;
    if ((view.form.kind != law_inverse && !is_logarithm) || view.formula)
        return false;
    const bool of_mass = view.weight == law_weight_mass;
    const bool of_charge = view.weight == law_weight_charge;
    found->law = is_logarithm ? expansion_logarithm : expansion_inverse;
    found->strength = is_logarithm ? view.parameter[0] : view.numbers.c[0];
    found->source = of_mass ? problem->source_mass : of_charge ? problem->source_charge : NULL;
    found->target = of_mass ? problem->target_mass : of_charge ? problem->target_charge : NULL;
    return true;
}

static kith_status check_accuracy(const char *name, const struct forces_problem *problem)
{
    const kith_accuracy *wanted = &problem->accuracy;
    const double least = tree_least_error(problem->dtype);
    if (wanted->error > 0 && wanted->error < least)
        return kith_fail(KITH_UNSUPPORTED,
                         "error is %g, and the solver %s reaches %g in %s precision; ask for that, "
                         "or use %s",
                         wanted->error, name, least,
                         problem->dtype == KITH_F32 ? "single" : "double",
                         problem->dtype == KITH_F32 ? "double precision" : "the solver direct");
    return KITH_OK;
}

static kith_status suits(const char *name, const kith_context *context,
                         const struct forces_problem *problem)
{
    struct law_of_weights law;
    if (context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, which computes on the CPU; use that, or "
                         "the solver direct",
                         name);
    if (problem->system_count > 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, which solves a single system, and there are %lld; use auto",
                         name, (long long)problem->system_count);
    if (problem->jerk[0] || problem->potential_rate)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, which has no derivatives of forces; use "
                         "the solver direct",
                         name);
    if (problem->source_half_softening2)
        return kith_fail(KITH_UNSUPPORTED,
                         "the column softening is given, and the solver %s has one softening for "
                         "all bodies; give that as the option softening, or use the solver direct",
                         name);
    if (!find_law(problem, &law))
        return kith_fail(KITH_UNSUPPORTED, "solver is %s, %s; use the solver direct", name, no_law);
    return check_accuracy(name, problem);
}

static kith_status suits_tree(const kith_context *context, const struct forces_problem *problem)
{
    return suits("tree", context, problem);
}

static kith_status suits_fmm(const kith_context *context, const struct forces_problem *problem)
{
    return suits("fmm", context, problem);
}

/* Memory is kept; the tree is built anew in each evaluation. */
static kith_status prepare(kith_context *context, const struct forces_problem *problem,
                           void **prepared)
{
    (void)context;
    (void)problem;
    return *prepared ? KITH_OK : kith_allocate(1, sizeof(struct tree_state), "a tree", prepared);
}

static void forget(kith_context *context, void *prepared)
{
    (void)context;
    tree_free(prepared);
    free(prepared);
}

/* Puts results into the order and units of the problem. */
struct delivery_run {
    const struct forces_problem *problem;
    const struct tree_state *state;
    struct law_of_weights law;
};

static void put(const struct forces_problem *problem, void *column, int64_t i, double value)
{
    if (!column)
        return;
    const double sum = problem->accumulate ? real_get(problem->dtype, column, i) + value : value;
    real_set(problem->dtype, column, i, sum);
}

enum { targets_of_task = 1 << 13 };

static void deliver(void *argument, int64_t task)
{
    const struct delivery_run *run = argument;
    const struct forces_problem *problem = run->problem;
    const struct tree_state *state = run->state;
    const kith_dtype dtype = problem->dtype;
    const int64_t begin = task * targets_of_task, left = problem->target_count - begin;
    const int64_t end = begin + (left < targets_of_task ? left : targets_of_task);
    for (int64_t k = begin; k < end; k++) {
        const int64_t i = state->target_tree->order[k];
        const double weight = run->law.target ? real_get(dtype, run->law.target, i) : 1;
        const double of_potential = run->law.strength * weight;
        const double of_gradient =
            problem->law ? of_potential / real_get(dtype, problem->target_mass, i) : of_potential;
        put(problem, problem->potential, i, of_potential * real_get(dtype, state->potential, k));
        for (int32_t c = 0; c < problem->dimensions; c++)
            if (problem->acceleration[c])
                put(problem, problem->acceleration[c], i,
                    -of_gradient * real_get(dtype, state->gradient[c], k));
    }
}

static void report(const struct kith_solver *solver, const struct forces_problem *problem,
                   const struct tree_report *done)
{
    if (problem->report)
        *problem->report = (kith_solver_report){
            .solver = solver,
            .order = done->order,
            .leaf = done->leaf,
            .theta = done->theta,
            .error_requested = done->error_requested,
            .error_estimated = done->error_estimated,
            .p2p_per_body = done->near_per_target,
            .m2l_per_body = done->far_per_target,
        };
}

static kith_status evaluate(const struct kith_solver *solver, kith_context *context,
                            struct tree_state *state, const struct forces_problem *problem)
{
    static const double seconds_of_target = 10e-9;
    struct delivery_run run = {.problem = problem, .state = state};
    if (!find_law(problem, &run.law))
        return kith_fail(KITH_UNSUPPORTED, "solver is %s, %s", solver->name, no_law);
    struct tree_problem sums = {.dtype = problem->dtype,
                                .dimensions = problem->dimensions,
                                .law = run.law.law,
                                .self = problem->self,
                                .target_count = problem->target_count,
                                .source_count = problem->source_count,
                                .weight = run.law.source,
                                .softening2 = problem->softening2_at ? *problem->softening2_at
                                                                     : problem->softening2};
    for (int32_t c = 0; c < problem->dimensions; c++) {
        sums.source_position[c] = problem->source_position[c];
        sums.target_position[c] = problem->target_position[c];
    }
    const struct tree_request wanted = {.groups = solver == &forces_solver_tree,
                                        .error = problem->accuracy.error,
                                        .theta = problem->accuracy.theta,
                                        .order = problem->accuracy.order};
    const struct tree_request request = tree_choose(&sums, &wanted);
    KITH_TRY(tree_solve_cpu(context, &sums, &request, state));
    const double seconds = seconds_of_target * (double)problem->target_count;
    KITH_TRY(kith_for_each(context, kith_threads_for(context, seconds),
                           (problem->target_count + targets_of_task - 1) / targets_of_task, deliver,
                           &run));
    report(solver, problem, &state->report);
    return KITH_OK;
}

static kith_status evaluate_tree(kith_context *context, void *prepared,
                                 const struct forces_problem *problem)
{
    return evaluate(&forces_solver_tree, context, prepared, problem);
}

static kith_status evaluate_fmm(kith_context *context, void *prepared,
                                const struct forces_problem *problem)
{
    return evaluate(&forces_solver_fmm, context, prepared, problem);
}

const struct kith_solver forces_solver_tree = {
    .name = "tree",
    .summary = "Barnes-Hut: far cells of a tree by their multipoles, to a requested error",
    .suits = suits_tree,
    .prepare = prepare,
    .evaluate = evaluate_tree,
    .free = forget,
};

const struct kith_solver forces_solver_fmm = {
    .name = "fmm",
    .summary =
        "fast multipole method: far cells by multipoles and local expansions, to a requested "
        "error",
    .suits = suits_fmm,
    .prepare = prepare,
    .evaluate = evaluate_fmm,
    .free = forget,
};
