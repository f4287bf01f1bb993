/* Many steps of a composition in one call of the backend. */

#include "simulation/backend.h"
#include "simulation/integrator.h"

static int64_t evaluations_of_step(const struct integrator_method *method)
{
    if (method->advance != advance_composition)
        return method->advance == advance_hermite ? 2 : 4;
    int64_t evaluations = 0;
    bool forces_fit_positions = method->kept > ACCELERATION;
    for (int32_t k = 0; k < method->stage_count; k++) {
        evaluations += method->stages[k].kick != 0 && !forces_fit_positions;
        forces_fit_positions =
            method->stages[k].drift == 0 && (forces_fit_positions || method->stages[k].kick != 0);
    }
    return evaluations;
}

kith_status simulation_advance(struct kith_simulation *simulation, double h, int64_t steps,
                               int64_t *done)
{
    const struct integrator_method *method = simulation->method;
    const struct simulation_backend *backend = simulation_backend_of(simulation->context);
    *done = 0;
    if (!simulation->is_fused || !backend->advance)
        return KITH_OK;

    struct advance_problem problem = {
        .forces = simulation->problem,
        .method = method->advance,
        .stages = method->stages,
        .stage_count = method->stage_count,
        .keeps_acceleration = method->kept > ACCELERATION,
        .h = h,
        .steps = steps,
    };
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        problem.position[k] = simulation->vector[POSITION][k];
        problem.velocity[k] = simulation->vector[VELOCITY][k];
        problem.lost_position[k] = simulation->vector[LOST_POSITION][k];
        problem.lost_velocity[k] = simulation->vector[LOST_VELOCITY][k];
        problem.acceleration[k] = simulation->vector[ACCELERATION][k];
        problem.jerk[k] = simulation->vector[JERK][k];
    }
    KITH_TRY(backend->advance(simulation->context, &problem, done));
    simulation->evaluations += *done * evaluations_of_step(method);
    return KITH_OK;
}
