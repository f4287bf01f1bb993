#include "run/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "forces/law_choice.h"
#include "forces/solver.h"
#include "run/compare.h"
#include "run/law_record.h"

/* Defaults of `every`: as many frames as a picture or film needs, if they take no more than a
 * modest file, but always enough to see something move. */
enum { most_frames = 1000, fewest_frames = 10 };
enum { observed_bytes = sizeof(kith_diagnostics) };
static const int64_t most_frame_bytes = 256 << 20;

static const double most_steps = 9007199254740992.0; /* 2^53: counts beyond are not exact */

static kith_status check_numbers(const kith_run_options *options)
{
    if (options->every < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "every is %lld; give a number of steps of at least 1, or 0 for the "
                         "default",
                         (long long)options->every);
    if (!isfinite(options->until))
        return kith_fail(KITH_INVALID_ARGUMENT, "until is %g; give a finite time", options->until);
    if (!isfinite(options->checkpoint_seconds) || options->checkpoint_seconds < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the time between checkpoints is %g s; give seconds greater than 0, or 0 "
                         "for the default",
                         options->checkpoint_seconds);
    if (options->simulation.precision != KITH_F64 && options->simulation.precision != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "precision is dtype %d; give KITH_F64 or KITH_F32",
                         (int)options->simulation.precision);
    return KITH_OK;
}

static kith_status check_dt(double dt)
{
    if (!(dt > 0) || !isfinite(dt))
        return kith_fail(KITH_INVALID_ARGUMENT, "dt is %g; give a finite step greater than 0", dt);
    return KITH_OK;
}

/* Steps from a time on, which has done some already. */
static kith_status plan_steps(double time, int64_t done, struct run_plan *plan)
{
    const double dt = plan->parameters.dt, until = plan->parameters.until;
    if ((until - time) / dt + (double)done >= most_steps)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "until is %g, which is %g steps of %g away; give a larger dt", until,
                         (until - time) / dt, dt);
    plan->whole_end = done + kith_simulation_whole_steps(time, until, dt, &plan->rest);
    plan->end = plan->whole_end + (plan->rest > 0);
    return KITH_OK;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int64_t default_every(const struct run_plan *plan, const kith_bodies *bodies)
{
    const double real_bytes = (double)kith_dtype_bytes(plan->parameters.precision);
    const double observables =
        plan->parameters.is_ensemble ? (double)(plan->parameters.systems * observed_bytes) : 0;
    const double frame_bytes = 6.0 * (double)bodies->count * real_bytes + observables;
    const double affordable = (double)most_frame_bytes / fmax(frame_bytes, 1);
    const int64_t frames = (int64_t)fmax(fewest_frames, fmin(most_frames, affordable));
    return plan->end > frames ? divide_up(plan->end, frames) : 1;
}

/*   bodies  NULL: not known */
static kith_status parameters_of(const kith_run_options *options, const kith_bodies *bodies,
                                 struct run_parameters *parameters)
{
    const kith_simulation_options *simulation = &options->simulation;
    struct law_choice choice;
    const kith_solver *solver = NULL;
    KITH_TRY(forces_choose_solver(&simulation->forces, &solver));
    KITH_TRY(forces_choose_law(simulation->forces.law, simulation->forces.gravitational_constant,
                               bodies ? bodies->units.gravitational_constant : 0, &choice));
    *parameters = (struct run_parameters){
        .dt = simulation->dt,
        .until = options->until,
        .gravitational_constant = choice.law ? simulation->forces.gravitational_constant : choice.g,
        .softening = simulation->forces.softening,
        .accuracy = simulation->forces.accuracy,
        .softening_of_bodies = simulation->softening_of_bodies,
        .precision = simulation->precision,
        .every = options->every,
        .is_ensemble = options->is_ensemble,
        .systems = options->is_ensemble ? options->systems : 1};
    snprintf(parameters->integrator, sizeof parameters->integrator, "%s",
             simulation->integrator ? simulation->integrator : "leapfrog");
    snprintf(parameters->solver, sizeof parameters->solver, "%s", solver->name);
    return law_record(simulation->forces.law, parameters->law);
}

kith_status run_plan_start(const kith_run_options *options, const kith_bodies *bodies,
                           struct run_plan *plan)
{
    KITH_TRY(check_numbers(options));
    KITH_TRY(check_dt(options->simulation.dt));
    KITH_TRY(options->is_ensemble ? kith_ensemble_check(bodies, options->systems)
                                  : kith_bodies_check(bodies));
    if (options->until < bodies->time)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "until is %.15g, before the bodies' time %.15g; give a later time",
                         options->until, bodies->time);
    *plan = (struct run_plan){0};
    KITH_TRY(parameters_of(options, bodies, &plan->parameters));
    KITH_TRY(plan_steps(bodies->time, 0, plan));
    if (plan->parameters.every == 0)
        plan->parameters.every = default_every(plan, bodies);
    plan->frames = plan->end / plan->parameters.every + 2;
    return KITH_OK;
}

static bool gives_accuracy(const kith_accuracy *accuracy)
{
    return accuracy->error > 0 || accuracy->theta > 0 || accuracy->order > 0;
}

/* Without bodies, what is left at zero is what the file says. */
static void fill_in(const struct run_parameters *past, const kith_run_options *options,
                    struct run_parameters *parameters)
{
    const kith_simulation_options *simulation = &options->simulation;
    if (simulation->dt == 0)
        parameters->dt = past->dt;
    if (!simulation->integrator)
        snprintf(parameters->integrator, sizeof parameters->integrator, "%s", past->integrator);
    if (!simulation->forces.solver && simulation->forces.method == KITH_FORCES_AUTO)
        memcpy(parameters->solver, past->solver, sizeof past->solver);
    if (!gives_accuracy(&simulation->forces.accuracy))
        parameters->accuracy = past->accuracy;
    if (simulation->forces.gravitational_constant == 0)
        parameters->gravitational_constant = past->gravitational_constant;
    if (!simulation->forces.law)
        memcpy(parameters->law, past->law, sizeof past->law);
    if (simulation->forces.softening == 0 && !simulation->softening_of_bodies) {
        parameters->softening = past->softening;
        parameters->softening_of_bodies = past->softening_of_bodies;
    }
    if (simulation->precision == KITH_F64)
        parameters->precision = past->precision;
    if (options->until == 0)
        parameters->until = past->until;
    if (!options->is_ensemble) {
        parameters->is_ensemble = past->is_ensemble;
        parameters->systems = past->systems;
    }
}

kith_status run_plan_resume(const kith_run_options *options, const kith_bodies *bodies,
                            const struct run_past *past, struct run_plan *plan)
{
    KITH_TRY(check_numbers(options));
    *plan = (struct run_plan){0};
    KITH_TRY(parameters_of(options, bodies, &plan->parameters));
    if (!bodies)
        fill_in(&past->parameters, options, &plan->parameters);
    if (options->every == 0)
        plan->parameters.every = past->parameters.every;
    KITH_TRY(check_dt(plan->parameters.dt));
    KITH_TRY(compare_parameters(&plan->parameters, &past->parameters, options->output));
    if (bodies)
        KITH_TRY(compare_bodies(bodies, past, options->output));

    const kith_checkpoint *checkpoint = &past->checkpoint;
    const double dt = plan->parameters.dt;
    const double time =
        checkpoint->start_time + (double)(checkpoint->steps - checkpoint->start_steps) * dt;
    KITH_TRY(plan_steps(checkpoint->start_time, checkpoint->start_steps, plan));
    if (plan->end < checkpoint->steps || (plan->parameters.until - time) / dt < -1e-6)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "until is %.15g, and %s is at %.15g already; give a time that is not "
                         "before",
                         plan->parameters.until, options->output, time);
    plan->frames = plan->end / plan->parameters.every + 2;
    return KITH_OK;
}

bool run_plan_has_frame(const struct run_plan *plan, int64_t step)
{
    return step == plan->end || step % plan->parameters.every == 0;
}

int64_t run_plan_next_stop(const struct run_plan *plan, int64_t step)
{
    const int64_t every = plan->parameters.every;
    const int64_t to_frame = every - step % every;
    const int64_t to_end = plan->whole_end - step;
    return step + (to_frame < to_end ? to_frame : to_end);
}

kith_status run_plan_simulation(const struct run_plan *plan, const kith_forces_options *forces,
                                const kith_law *law, kith_simulation_options *options)
{
    const struct run_parameters *parameters = &plan->parameters;
    *options = (kith_simulation_options){.dt = parameters->dt,
                                         .integrator = parameters->integrator,
                                         .forces = *forces,
                                         .softening_of_bodies = parameters->softening_of_bodies,
                                         .precision = parameters->precision};
    options->forces.gravitational_constant = parameters->gravitational_constant;
    options->forces.softening = parameters->softening;
    options->forces.accuracy = parameters->accuracy;
    options->forces.law = law;
    const kith_solver *chosen = NULL;
    KITH_TRY(forces_choose_solver(&options->forces, &chosen));
    if (strcmp(chosen->name, parameters->solver) == 0)
        return KITH_OK;
    return kith_solver_find(parameters->solver, &options->forces.solver);
}
