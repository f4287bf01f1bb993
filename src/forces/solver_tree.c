/* The solvers tree and fmm: the far pairs by expansions of a tree's cells (tree/tree.h). */

#include <stddef.h>
#include <string.h>

#include "device/context.h"
#include "forces/backend.h"
#include "forces/solver.h"
#include "forces/tree_sums.h"
#include "tree/tree.h"

static const char no_law[] = "which supports laws w_i w_j u(r) of masses or of charges, and u(r)";

static kith_status check_accuracy(const char *name, const struct forces_problem *problem)
{
    const kith_accuracy *wanted = &problem->accuracy;
    const double least = tree_least_error(problem->dtype);
    if (wanted->error > 0 && wanted->error < least)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "error is %g, but the solver %s reaches only %g in %s precision; request that, or use "
            "%s",
            wanted->error, name, least, problem->dtype == KITH_F32 ? "single" : "double",
            problem->dtype == KITH_F32 ? "double precision" : "the solver direct");
    return KITH_OK;
}

/* Of a softening per body. */
static kith_status check_softenings(const char *name, const kith_context *context,
                                    const struct forces_problem *problem,
                                    const struct forces_weights *law)
{
    if (strcmp(name, "tree") != 0 || context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "the solver %s%s does not support softening lengths of bodies; use the "
                         "solver tree on the CPU, the solver direct, or one softening",
                         name, context->device.kind == KITH_CPU ? "" : " on a GPU");
    if (law->any || law->is_logarithm)
        return kith_fail(KITH_UNSUPPORTED,
                         "the solver tree supports softening lengths of bodies with laws w_i w_j / "
                         "r only; use the solver direct, or one softening");
    if (problem->accuracy.order > 1)
        return kith_fail(KITH_UNSUPPORTED,
                         "order is %d, but with softening lengths of bodies cells of the solver "
                         "tree act as points; leave out the order, or give one softening",
                         (int)problem->accuracy.order);
    return KITH_OK;
}

static kith_status suits(const char *name, const kith_context *context,
                         const struct forces_problem *problem)
{
    struct forces_weights law;
    if (problem->system_count > 0)
        return kith_fail(
            KITH_UNSUPPORTED,
            "solver is %s, which supports a single system, but there are %lld; use auto", name,
            (long long)problem->system_count);
    if (problem->accumulate && problem->delivery.measured)
        return kith_fail(KITH_UNSUPPORTED, "the results go to the caller's arrays and cannot be "
                                           "added to them there");
    if (problem->jerk[0] || problem->potential_rate)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, which has no derivatives of forces; use "
                         "the solver direct",
                         name);
    if (!forces_find_weights_of_any(problem, &law))
        return kith_fail(KITH_UNSUPPORTED, "solver is %s, %s; use the solver direct", name, no_law);
    if (problem->source_half_softening2)
        KITH_TRY(check_softenings(name, context, problem, &law));
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

static void free_memory(kith_context *context, void *prepared)
{
    forces_backend_of(context)->trees->free(context, prepared);
}

/* Memory of the last call, for the next one. */
static const struct device_slot_kind spare_memory = {.free = free_memory};

static void forget(kith_context *context, void *prepared)
{
    const struct forces_tree_backend *trees = forces_backend_of(context)->trees;
    void **spare = device_slot(context, &spare_memory);
    if (spare && !*spare && trees->may_keep && trees->may_keep(prepared))
        *spare = prepared;
    else
        free_memory(context, prepared);
}

/* Memory is kept; the tree is rebuilt in each evaluation. */
static kith_status prepare(kith_context *context, const struct forces_problem *problem,
                           void **prepared)
{
    (void)problem;
    void **spare = device_slot(context, &spare_memory);
    if (!*prepared && spare) {
        *prepared = *spare;
        *spare = NULL;
    }
    return *prepared ? KITH_OK : forces_backend_of(context)->trees->prepare(prepared);
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

static kith_status evaluate(const struct kith_solver *solver, kith_context *context, void *prepared,
                            const struct forces_problem *problem)
{
    struct forces_tree_sums sums = {
        .problem = problem,
        .sums = {.dtype = problem->dtype,
                 .dimensions = problem->dimensions,
                 .self = problem->self,
                 .is_slice = problem->is_slice,
                 .target_count = problem->target_count,
                 .source_count = problem->source_count,
                 .softening2 = problem->softening2,
                 .target_half_softening2 = problem->target_half_softening2,
                 .source_half_softening2 = problem->source_half_softening2},
        .wanted = {.groups = solver == &forces_solver_tree,
                   .error = problem->accuracy.error,
                   .theta = problem->accuracy.theta,
                   .order = problem->accuracy.order,
                   .estimates = problem->report != NULL},
    };
    if (!forces_find_weights_of_any(problem, &sums.weights))
        return kith_fail(KITH_UNSUPPORTED, "solver is %s, %s", solver->name, no_law);
    sums.sums.law = sums.weights.any            ? expansion_series
                    : sums.weights.is_logarithm ? expansion_logarithm
                                                : expansion_inverse;
    sums.sums.pair_law = sums.weights.any;
    sums.sums.weight = sums.weights.source;
    for (int32_t c = 0; c < problem->dimensions; c++) {
        sums.sums.source_position[c] = problem->source_position[c];
        sums.sums.target_position[c] = problem->target_position[c];
    }
    struct tree_report done;
    KITH_TRY(forces_backend_of(context)->trees->evaluate(context, &sums, prepared, &done));
    report(solver, problem, &done);
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

/* Found with the gradients, wanted or not. */
static enum solver_potentials potentials(const kith_context *context,
                                         const struct forces_problem *problem)
{
    (void)context, (void)problem;
    return free_potentials;
}

const struct kith_solver forces_solver_tree = {
    .name = "tree",
    .summary = "Barnes-Hut: far cells of a tree by their multipoles, to a requested error",
    .suits = suits_tree,
    .prepare = prepare,
    .evaluate = evaluate_tree,
    .free = forget,
    .potentials = potentials,
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
    .potentials = potentials,
};
