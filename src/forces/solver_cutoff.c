/* The solver cutoff: pairs within a distance, at every periodic image, by a cell list. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/backend.h"
#include "forces/cutoff.h"
#include "forces/cutoff_slices.h"
#include "forces/solver.h"
#include "forces/verlet.h"
#include "ranks/bodies.h"

struct cutoff_state {
    struct cutoff_law law;
    struct cutoff_memory memory;
    struct verlet *verlet[2]; /* of a run, by the dtype */
    void *on_device;          /* what its backend keeps */
};

static kith_status suits(const kith_context *context, const struct forces_problem *problem)
{
    (void)context;
    if (problem->system_count > 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is cutoff, which supports a single system, but there are %lld; "
                         "use the solver direct",
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

kith_status cutoff_add_tail_of_device(kith_context *context, const struct forces_problem *problem,
                                      const struct cutoff_law *law)
{
    int64_t first = 0, rows = problem->source_count;
    if (problem->is_slice)
        ranks_rows(context, problem->source_count, &first, &rows);
    const int64_t bytes = rows * kith_dtype_bytes(problem->dtype);
    struct forces_problem on_host = *problem;
    struct cutoff_law of_host = *law;
    const bool of_charges = law->view.weight == law_weight_charge;
    const void **weights = of_charges ? &of_host.source_charge : &on_host.source_mass;
    void *copy = NULL;
    if (!problem->space.totals)
        return KITH_OK;
    if (!*weights || law->view.weight == law_weight_none)
        return cutoff_add_tail(context, problem, law);
    kith_status status = kith_allocate(bytes, 1, "weights of the tail", &copy);
    if (status == KITH_OK)
        status = context->services->copy_out(context, copy, *weights, bytes);
    if (problem->is_slice)
        status = ranks_agree(context, status);
    *weights = copy;
    if (status == KITH_OK)
        status = cutoff_add_tail(context, &on_host, &of_host);
    free(copy);
    return status;
}

static kith_status evaluate(kith_context *context, void *prepared,
                            const struct forces_problem *problem)
{
    const struct cutoff_backend *backend = forces_backend_of(context)->cutoff;
    struct cutoff_state *state = prepared;
    if (problem->report)
        *problem->report = (kith_solver_report){.solver = &forces_solver_cutoff};
    if (backend) {
        KITH_TRY(backend->evaluate(context, problem, &state->law, &state->on_device));
        return problem->space.tail ? cutoff_add_tail_of_device(context, problem, &state->law)
                                   : KITH_OK;
    }
    bool done = false;
    if (problem->is_slice)
        return forces_cutoff_slices(context, problem, &state->memory);
    if (verlet_suits(problem, &state->law))
        KITH_TRY(verlet_forces_cpu(context, problem, &state->law, state->verlet, &done));
    if (!done)
        KITH_TRY(forces_cutoff_cpu(context, problem, &state->law, &state->memory));
    return problem->space.tail ? cutoff_add_tail(context, problem, &state->law) : KITH_OK;
}

static void forget(kith_context *context, void *prepared)
{
    struct cutoff_state *state = prepared;
    if (state->on_device)
        forces_backend_of(context)->cutoff->free(context, state->on_device);
    cutoff_drop_law(&state->law);
    verlet_free_both(state->verlet);
    free(state->memory.bytes);
    free(state);
}

kith_status cutoff_take_steps(kith_context *context, void **prepared,
                              const struct forces_problem *problem,
                              const struct cutoff_steps *steps, int64_t *done)
{
    const struct cutoff_backend *backend = forces_backend_of(context)->cutoff;
    *done = 0;
    if (!backend)
        return KITH_OK;
    KITH_TRY(prepare(context, problem, prepared));
    struct cutoff_state *state = *prepared;
    return backend->take_steps(context, problem, &state->law, steps, &state->on_device, done);
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
