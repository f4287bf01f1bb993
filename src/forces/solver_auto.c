/* The solver that is chosen where an accuracy is given and no solver: direct or fmm, whichever
 * takes less time by a model of the work. The choice depends on the problem alone, so that a
 * simulation takes one solver for all its steps. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/advice.h"
#include "forces/solver.h"
#include "forces/weights.h"

struct auto_state {
    const struct kith_solver *solver;
    void *prepared;
};

static const struct kith_solver *choose(const kith_context *context,
                                        const struct forces_problem *problem)
{
    return forces_solver_fmm.suits(context, problem) == KITH_OK &&
                   forces_fmm_seconds(context, problem, &problem->accuracy) <
                       forces_direct_seconds(context, problem)
               ? &forces_solver_fmm
               : &forces_solver_direct;
}

static kith_status suits(const kith_context *context, const struct forces_problem *problem)
{
    const double least = problem->dtype == KITH_F64 ? 1e-14 : 1e-6; /* of direct */
    if (problem->accuracy.error > 0 && problem->accuracy.error < least)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "error is %g, but %s precision reaches only %g; request that%s",
                         problem->accuracy.error, problem->dtype == KITH_F64 ? "double" : "single",
                         least, problem->dtype == KITH_F64 ? "" : ", or use double precision");
    return forces_solver_direct.suits(context, problem);
}

static kith_status prepare(kith_context *context, const struct forces_problem *problem,
                           void **prepared)
{
    if (!*prepared)
        KITH_TRY(kith_allocate(1, sizeof(struct auto_state), "a solver", prepared));
    struct auto_state *state = *prepared;
    const struct kith_solver *solver = choose(context, problem);
    if (state->solver != solver && state->solver)
        forces_forget(context, state->solver, &state->prepared);
    state->solver = solver;
    return solver->prepare ? solver->prepare(context, problem, &state->prepared) : KITH_OK;
}

static kith_status evaluate(kith_context *context, void *prepared,
                            const struct forces_problem *problem)
{
    struct auto_state *state = prepared;
    kith_status status = state->solver->evaluate(context, state->prepared, problem);
    if (status == KITH_UNSUPPORTED && state->solver == &forces_solver_fmm) {
        /* a law that is not smooth over these distances */
        forces_forget(context, state->solver, &state->prepared);
        state->solver = &forces_solver_direct;
        KITH_TRY(state->solver->prepare ? state->solver->prepare(context, problem, &state->prepared)
                                        : KITH_OK);
        status = state->solver->evaluate(context, state->prepared, problem);
    }
    KITH_TRY(status);
    if (problem->report && state->solver == &forces_solver_direct)
        *problem->report = (kith_solver_report){.solver = state->solver};
    return KITH_OK;
}

/* Of a law that proves not to be smooth the sums are direct. */
static enum solver_potentials potentials(const kith_context *context,
                                         const struct forces_problem *problem)
{
    struct forces_weights law;
    const struct kith_solver *solver = choose(context, problem);
    const bool may_change = solver == &forces_solver_fmm && !forces_find_weights(problem, &law);
    return may_change ? other_potentials : solver->potentials(context, problem);
}

static void forget(kith_context *context, void *prepared)
{
    struct auto_state *state = prepared;
    if (state->solver)
        forces_forget(context, state->solver, &state->prepared);
    free(state);
}

const struct kith_solver forces_solver_auto = {
    .name = "auto",
    .summary = "direct or fmm, whichever is faster for the accuracy",
    .suits = suits,
    .prepare = prepare,
    .evaluate = evaluate,
    .free = forget,
    .potentials = potentials,
};
