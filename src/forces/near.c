#include "forces/near.h"

#include <stdlib.h>

#include "forces/backend.h"
#include "forces/space.h"

const kith_law *near_law(const struct forces_problem *problem)
{
    return problem->law ? problem->law->near : NULL;
}

/* The problem of that law alone; *lattice lives as long.
 * Errors: KITH_INVALID_ARGUMENT, KITH_UNSUPPORTED, as of forces_space_set. */
static kith_status near_problem(const struct forces_problem *problem, struct pairs_lattice *lattice,
                                struct forces_problem *near)
{
    *near = *problem;
    near->law = problem->law->near;
    near->report = NULL;
    near->accuracy = (kith_accuracy){0};
    return forces_space_set(problem->dimensions, 1, lattice, &near->space);
}

kith_status near_prepare(const struct forces_problem *problem, struct near_state *state)
{
    struct forces_problem near;
    if (!near_law(problem))
        return KITH_OK;
    KITH_TRY(near_problem(problem, &state->lattice, &near));
    return cutoff_take_law(&near, &state->law);
}

kith_status near_evaluate(kith_context *context, const struct forces_problem *problem,
                          struct near_state *state)
{
    const struct cutoff_backend *backend = forces_backend_of(context)->cutoff;
    struct forces_problem near;
    bool done = false;
    if (!near_law(problem))
        return KITH_OK;
    KITH_TRY(near_problem(problem, &state->lattice, &near));
    if (backend) {
        KITH_TRY(backend->evaluate(context, &near, &state->law, &state->on_device));
        return near.space.tail ? cutoff_add_tail_of_device(context, &near, &state->law) : KITH_OK;
    }
    if (verlet_suits(&near, &state->law))
        KITH_TRY(verlet_forces_cpu(context, &near, &state->law, state->verlet, &done));
    if (!done)
        KITH_TRY(forces_cutoff_cpu(context, &near, &state->law, &state->memory));
    return near.space.tail ? cutoff_add_tail(context, &near, &state->law) : KITH_OK;
}

void near_free(kith_context *context, struct near_state *state)
{
    if (state->on_device)
        forces_backend_of(context)->cutoff->free(context, state->on_device);
    cutoff_drop_law(&state->law);
    verlet_free_both(state->verlet);
    free(state->memory.bytes);
}
