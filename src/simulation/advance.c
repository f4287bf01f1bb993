/* Many steps of a composition in one call of the backend. */

#include "forces/cutoff.h"
#include "forces/solver.h"
#include "simulation/backend.h"
#include "simulation/integrator.h"
#include "simulation/thermostat.h"

/* Steps of leapfrog within a cutoff, where the device keeps a list of pairs through them. */
static kith_status advance_within_cutoff(struct kith_simulation *simulation, double h,
                                         int64_t steps, int64_t *done)
{
    struct forces_problem problem = simulation->problem;
    struct cutoff_steps of_solver = {.h = h, .count = steps};
    struct cutoff_noise noise;
    if (simulation->method != &leapfrog_method || simulation->is_ensemble ||
        simulation->thermostat.kind == KITH_THERMOSTAT_BUSSI)
        return KITH_OK;
    if (simulation->thermostat.kind == KITH_THERMOSTAT_LANGEVIN) {
        noise = thermostat_noise(simulation, h);
        of_solver.noise = &noise;
    }
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        of_solver.position[k] = simulation->vector[POSITION][k];
        of_solver.velocity[k] = simulation->vector[VELOCITY][k];
        of_solver.lost_position[k] = simulation->vector[LOST_POSITION][k];
        of_solver.lost_velocity[k] = simulation->vector[LOST_VELOCITY][k];
        of_solver.acceleration[k] = problem.acceleration[k] = simulation->vector[ACCELERATION][k];
        problem.target_position[k] = problem.source_position[k] = of_solver.position[k];
    }
    problem.is_slice = simulation->slice != NULL;
    KITH_TRY(
        cutoff_take_steps(simulation->context, &simulation->prepared, &problem, &of_solver, done));
    simulation->evaluations += *done;
    return KITH_OK;
}

kith_status simulation_advance(struct kith_simulation *simulation, double h, int64_t steps,
                               int64_t *done)
{
    const struct integrator_method *method = simulation->method;
    const struct simulation_backend *backend = simulation_backend_of(simulation->context);
    *done = 0;
    simulation->has_potentials = false;
    if (simulation->solver == &forces_solver_cutoff)
        return advance_within_cutoff(simulation, h, steps, done);
    if (!simulation->is_fused || simulation->massive || !backend->advance)
        return KITH_OK;

    struct advance_problem problem = {
        .forces = simulation->problem,
        .method = method->advance,
        .composition = method->composition,
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
    simulation->evaluations += *done * integrator_evaluations(method);
    return KITH_OK;
}
