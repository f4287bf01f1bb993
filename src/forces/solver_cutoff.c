/* The solver cutoff: pairs within a distance, at every periodic image, by a cell list. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/cutoff.h"
#include "forces/excluded.h"
#include "forces/solver.h"
#include "forces/verlet.h"

struct cutoff_state {
    struct cutoff_law law;
    struct cutoff_memory memory;
    struct verlet *verlet; /* of the steps of a run */
};

static kith_status suits(const kith_context *context, const struct forces_problem *problem)
{
    if (context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED, "solver is cutoff, which computes on the CPU; use that");
    if (problem->system_count > 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is cutoff, which solves a single system, and there are %lld; use "
                         "the solver direct",
                         (long long)problem->system_count);
    if (problem->jerk[0] || problem->potential_rate)
        return kith_fail(KITH_UNSUPPORTED, "solver is cutoff, which has no derivatives of forces; "
                                           "use the solver direct");
    return KITH_OK;
}

static kith_status prepare(kith_context *context, const struct forces_problem *problem,
                           void **prepared)
{
    (void)context;
    if (!*prepared)
        KITH_TRY(kith_allocate(1, sizeof(struct cutoff_state), "forces within a cutoff", prepared));
    struct cutoff_state *state = *prepared;
    return cutoff_take_law(problem, &state->law);
}

static kith_status evaluate(kith_context *context, void *prepared,
                            const struct forces_problem *problem)
{
    struct cutoff_state *state = prepared;
    if (problem->report)
        *problem->report = (kith_solver_report){.solver = &forces_solver_cutoff};
    bool done = false;
    if (!excluded_any(problem) && verlet_suits(problem, &state->law))
        KITH_TRY(verlet_forces_cpu(context, problem, &state->law, &state->verlet, &done));
    if (done)
        return KITH_OK;
    KITH_TRY(forces_cutoff_cpu(context, problem, &state->law, &state->memory));
    return problem->space.tail ? cutoff_add_tail(problem, &state->law) : KITH_OK;
}

static void forget(kith_context *context, void *prepared)
{
    struct cutoff_state *state = prepared;
    (void)context;
    cutoff_drop_law(&state->law);
    verlet_free(state->verlet);
    free(state->memory.bytes);
    free(state);
}

const struct kith_solver forces_solver_cutoff = {
    .name = "cutoff",
    .summary = "pairs within a distance, at every periodic image, by a cell list",
    .has_cutoff = true,
    .suits = suits,
    .prepare = prepare,
    .evaluate = evaluate,
    .free = forget,
};
