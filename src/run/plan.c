#include "run/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "forces/law_choice.h"
#include "forces/solver.h"
#include "run/compare.h"
#include "run/fill_in.h"
#include "run/law_record.h"
#include "simulation/thermostat.h"

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
    if (!(options->every_time >= 0) || !isfinite(options->every_time))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "every-time is %g; give a time greater than 0, or 0 for none",
                         options->every_time);
    if (options->every > 0 && options->every_time > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "every is %lld and every-time %g; give one of them",
                         (long long)options->every, options->every_time);
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

static int64_t default_frames(const struct run_plan *plan, int64_t bodies)
{
    const double real_bytes = (double)kith_dtype_bytes(plan->parameters.precision);
    const double observables =
        plan->parameters.is_ensemble ? (double)(plan->parameters.systems * observed_bytes) : 0;
    const double frame_bytes = 6.0 * (double)bodies * real_bytes + observables;
    const double affordable = (double)most_frame_bytes / fmax(frame_bytes, 1);
    return (int64_t)fmax(fewest_frames, fmin(most_frames, affordable));
}

/* A fixed step goes to frames at equal times if it divides the time between them. */
static kith_status every_of_time(double every_time, double dt, int64_t *every)
{
    const double steps = every_time / dt, whole = round(steps);
    if (!(whole >= 1) || whole >= most_steps || fabs(steps - whole) > 1e-9 * whole)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "every-time is %g, which is %.10g steps of %g; give a whole number of "
                         "steps, or an integrator that chooses its own",
                         every_time, steps, dt);
    *every = (int64_t)whole;
    return KITH_OK;
}

/* Whether frames can be within steps: of one system, and collisions and escapes are at the ends of
 * steps. */
static bool can_be_within(const struct run_parameters *parameters)
{
    return strcmp(parameters->integrator, "ias15") == 0 && !parameters->is_ensemble &&
           parameters->on_collision == KITH_ON_COLLISION_PASS && parameters->encounter == 0 &&
           parameters->escape == 0;
}

/* When there are frames, as the options say or as is the default. */
static kith_status choose_frames(const kith_run_options *options, int64_t bodies,
                                 struct run_plan *plan)
{
    struct run_parameters *parameters = &plan->parameters;
    const int64_t frames = default_frames(plan, bodies);
    const double way = parameters->until - plan->start;
    if (options->every > 0 && plan->is_adaptive && parameters->is_ensemble)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "every is %lld steps, and each system of an ensemble has steps of its own "
                         "with integrator %s; give every-time",
                         (long long)options->every, parameters->integrator);
    if (options->every > 0)
        return KITH_OK;
    if (options->every_time > 0 && !plan->is_adaptive)
        return every_of_time(options->every_time, parameters->dt, &parameters->every);
    if (!plan->is_adaptive) {
        parameters->every = plan->end > frames ? divide_up(plan->end, frames) : 1;
        return KITH_OK;
    }
    parameters->within = options->every_time > 0 && can_be_within(parameters);
    parameters->lands = (options->every_time > 0 && !parameters->within) || parameters->is_ensemble;
    parameters->every_time = options->every_time > 0 ? options->every_time
                             : way > 0               ? way / (double)frames
                                                     : parameters->dt;
    return KITH_OK;
}

static kith_status check_pressures(const struct run_plan *plan)
{
    const struct run_parameters *parameters = &plan->parameters;
    if (parameters->pressure_every == 0)
        return KITH_OK;
    if (parameters->pressure_every < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "pressure-every is %lld; give a number of steps of at least 1, or 0 for "
                         "the pressures of frames alone",
                         (long long)parameters->pressure_every);
    if (plan->is_adaptive)
        return kith_fail(KITH_UNSUPPORTED,
                         "pressure-every is %lld steps, and those of the integrator %s are of no "
                         "fixed length; use another integrator",
                         (long long)parameters->pressure_every, parameters->integrator);
    if (!run_parameters_have_cell(parameters))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "pressure-every is %lld, but forces without a cutoff have no "
                         "virial; give a cutoff, or leave pressure-every out",
                         (long long)parameters->pressure_every);
    return KITH_OK;
}

static int64_t expected_frames(const struct run_plan *plan)
{
    const struct run_parameters *parameters = &plan->parameters;
    if (!plan->is_adaptive)
        return plan->end / parameters->every + 2;
    if (parameters->every > 0)
        return most_frames;
    return (int64_t)fmin((parameters->until - plan->start) / parameters->every_time, 1e9) + 2;
}

/* NULL: not given. */
static const kith_integrator *row_of(const char *integrator)
{
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (strcmp(list[k].name, integrator) == 0)
            return &list[k];
    return NULL;
}

static bool is_adaptive(const char *integrator)
{
    const kith_integrator *row = row_of(integrator);
    return row && row->adaptive;
}

static bool is_central_integrator(const char *integrator)
{
    const kith_integrator *row = row_of(integrator);
    return row && row->central;
}

static void set_word(char to[KITH_NAME_BYTES], const char *word, const char *absent)
{
    snprintf(to, KITH_NAME_BYTES, "%s", word ? word : absent);
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
        .cutoff = simulation->forces.cutoff,
        .shift = simulation->forces.shift,
        .tail = simulation->forces.tail,
        .exclusions = simulation->forces.exclusions,
        .ewald = simulation->forces.ewald,
        .softening_of_bodies = simulation->softening_of_bodies,
        .eta = simulation->eta,
        .on_collision = simulation->on_collision,
        .restitution = simulation->restitution,
        .encounter = simulation->encounter,
        .escape = simulation->escape,
        .precision = simulation->precision,
        .every = options->every,
        .substeps = simulation->substeps > 1 ? simulation->substeps : 0,
        .pressure_every = options->pressure_every,
        .wrap = options->wrap,
        .is_ensemble = options->is_ensemble,
        .systems = options->is_ensemble ? options->systems : 1};
    snprintf(parameters->integrator, sizeof parameters->integrator, "%s",
             simulation->integrator ? simulation->integrator : "leapfrog");
    snprintf(parameters->solver, sizeof parameters->solver, "%s", solver->name);
    const bool is_central = is_central_integrator(parameters->integrator);
    const bool is_hybrid = strcmp(parameters->integrator, "hybrid") == 0;
    set_word(parameters->coordinates, simulation->coordinates,
             is_hybrid    ? "democratic-heliocentric"
             : is_central ? "jacobi"
                          : "");
    set_word(parameters->kernel, simulation->kernel, is_central ? "default" : "");
    parameters->corrector = simulation->corrector;
    KITH_TRY(thermostat_write(&simulation->thermostat, parameters->thermostat));
    return law_record(simulation->forces.law, parameters->law);
}

/* Positions are wrapped into the cell that the frames have. */
static kith_status check_wrap(const struct run_parameters *parameters, const kith_bodies *bodies)
{
    bool is_periodic = false;
    for (int k = 0; k < bodies->dimensions; k++)
        is_periodic |= bodies->has_cell && bodies->periodic[k];
    if (!parameters->wrap || (is_periodic && run_parameters_have_cell(parameters)))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "wrap is given, and the run has no periodic cell; give a cell, or leave wrap "
                     "out");
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
    *plan = (struct run_plan){.start = bodies->time};
    KITH_TRY(parameters_of(options, bodies, &plan->parameters));
    KITH_TRY(check_wrap(&plan->parameters, bodies));
    plan->is_adaptive = is_adaptive(plan->parameters.integrator);
    if (!plan->is_adaptive)
        KITH_TRY(plan_steps(bodies->time, 0, plan));
    KITH_TRY(check_pressures(plan));
    KITH_TRY(choose_frames(
        options, options->bodies_of_all > 0 ? options->bodies_of_all : bodies->count, plan));
    plan->frames = expected_frames(plan);
    return KITH_OK;
}

kith_status run_plan_resume(const kith_run_options *options, const kith_bodies *bodies, int64_t all,
                            const struct run_past *past, struct run_plan *plan)
{
    KITH_TRY(check_numbers(options));
    *plan = (struct run_plan){.start = past->start->time};
    KITH_TRY(parameters_of(options, bodies, &plan->parameters));
    if (!bodies)
        run_fill_in(&past->parameters, options, &plan->parameters);
    KITH_TRY(check_dt(plan->parameters.dt));
    plan->is_adaptive = is_adaptive(plan->parameters.integrator);
    if (options->every_time > 0) {
        KITH_TRY(choose_frames(options, past->all, plan));
    } else if (options->every == 0) {
        plan->parameters.every = past->parameters.every;
        plan->parameters.every_time = past->parameters.every_time;
        plan->parameters.lands = past->parameters.lands;
        plan->parameters.within = past->parameters.within;
    }
    KITH_TRY(check_pressures(plan));
    KITH_TRY(compare_parameters(&plan->parameters, &past->parameters, options->output));
    if (bodies)
        KITH_TRY(compare_bodies(bodies, all, past, options->output));

    const kith_checkpoint *checkpoint = &past->checkpoint;
    const double dt = plan->parameters.dt;
    const double time =
        checkpoint->start_time + (double)(checkpoint->steps - checkpoint->start_steps) * dt;
    if (!plan->is_adaptive)
        KITH_TRY(plan_steps(checkpoint->start_time, checkpoint->start_steps, plan));
    const bool is_before = plan->is_adaptive ? plan->parameters.until < time
                                             : plan->end < checkpoint->steps ||
                                                   (plan->parameters.until - time) / dt < -1e-6;
    if (is_before)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "until is %.15g, and %s is at %.15g already; give a time that is not "
                         "before",
                         plan->parameters.until, options->output, time);
    plan->frames = expected_frames(plan);
    return KITH_OK;
}

bool run_plan_is_over(const struct run_plan *plan, const struct run_moment *now)
{
    return plan->is_adaptive ? now->time == plan->parameters.until : now->step == plan->end;
}

int64_t run_plan_steps(const struct run_plan *plan, const struct run_moment *now)
{
    const double done = now->time - plan->start, way = plan->parameters.until - plan->start;
    if (!plan->is_adaptive)
        return plan->end;
    if (run_plan_is_over(plan, now) || !(done > 0))
        return now->step;
    return (int64_t)fmin((double)now->step * (way / done), most_steps);
}

/* The time of a frame, exactly until where it is that but for rounding. */
static double frame_time(const struct run_plan *plan, double k)
{
    const struct run_parameters *parameters = &plan->parameters;
    const double time = plan->start + k * parameters->every_time;
    const double near = 1e-9 * parameters->every_time;
    return fabs(time - parameters->until) <= near ? parameters->until : time;
}

/* The number of the last frame's time not after a time. */
static double last_frame(const struct run_plan *plan, double time)
{
    double k = floor((time - plan->start) / plan->parameters.every_time);
    if (frame_time(plan, k) > time)
        k--;
    return frame_time(plan, k + 1) <= time ? k + 1 : k;
}

bool run_plan_has_frame(const struct run_plan *plan, const struct run_moment *now)
{
    if (run_plan_is_over(plan, now) || now->step == 0)
        return true;
    if (plan->parameters.every > 0)
        return now->step % plan->parameters.every == 0;
    const double last = last_frame(plan, now->time);
    return last > last_frame(plan, now->previous_time) &&
           (!plan->parameters.within || frame_time(plan, last) == now->time);
}

bool run_plan_frame_within(const struct run_plan *plan, const struct run_moment *now, int64_t k,
                           double *time)
{
    if (!plan->parameters.within || now->step == 0)
        return false;
    *time = frame_time(plan, last_frame(plan, now->previous_time) + 1 + (double)k);
    return *time < now->time;
}

bool run_plan_has_pressure(const struct run_plan *plan, const struct run_moment *now)
{
    const int64_t every = plan->parameters.pressure_every;
    return every > 0 && now->step % every == 0;
}

struct radau_leg run_plan_next_leg(const struct run_plan *plan, const struct run_moment *now)
{
    const struct run_parameters *parameters = &plan->parameters;
    struct radau_leg leg = {INT64_MAX, parameters->until, (double)INFINITY};
    if (parameters->every > 0) {
        leg.steps = parameters->every - now->step % parameters->every;
        return leg;
    }
    const double next = frame_time(plan, last_frame(plan, now->time) + 1);
    if (parameters->lands)
        leg.until = fmin(next, parameters->until);
    else
        leg.pause = next;
    return leg;
}

int64_t run_plan_next_stop(const struct run_plan *plan, int64_t step)
{
    const int64_t every = plan->parameters.every, of_pressure = plan->parameters.pressure_every;
    const int64_t to_frame = every - step % every;
    int64_t to_stop = plan->whole_end - step;
    to_stop = to_frame < to_stop ? to_frame : to_stop;
    if (of_pressure > 0 && of_pressure - step % of_pressure < to_stop)
        to_stop = of_pressure - step % of_pressure;
    return step + to_stop;
}

static const char *word_or_none(const char *word)
{
    return *word ? word : NULL;
}

kith_status run_plan_simulation(const struct run_plan *plan, const kith_forces_options *forces,
                                const kith_law *law, kith_simulation_options *options)
{
    const struct run_parameters *parameters = &plan->parameters;
    *options = (kith_simulation_options){.dt = parameters->dt,
                                         .integrator = parameters->integrator,
                                         .forces = *forces,
                                         .softening_of_bodies = parameters->softening_of_bodies,
                                         .eta = parameters->eta,
                                         .on_collision = parameters->on_collision,
                                         .restitution = parameters->restitution,
                                         .encounter = parameters->encounter,
                                         .escape = parameters->escape,
                                         .precision = parameters->precision,
                                         .coordinates = word_or_none(parameters->coordinates),
                                         .substeps = (int32_t)parameters->substeps,
                                         .corrector = parameters->corrector,
                                         .kernel = word_or_none(parameters->kernel)};
    options->forces.gravitational_constant = parameters->gravitational_constant;
    options->forces.softening = parameters->softening;
    options->forces.accuracy = parameters->accuracy;
    options->forces.cutoff = parameters->cutoff;
    options->forces.shift = parameters->shift;
    options->forces.tail = parameters->tail;
    options->forces.exclusions = parameters->exclusions;
    options->forces.ewald = parameters->ewald;
    options->forces.law = law;
    if (*parameters->thermostat)
        KITH_TRY(kith_thermostat_parse(parameters->thermostat, &options->thermostat));
    const kith_solver *chosen = NULL;
    if (!options->forces.solver && run_parameters_have_images(parameters))
        return kith_solver_find(parameters->solver, &options->forces.solver);
    KITH_TRY(forces_choose_solver(&options->forces, &chosen));
    if (strcmp(chosen->name, parameters->solver) == 0)
        return KITH_OK;
    return kith_solver_find(parameters->solver, &options->forces.solver);
}
