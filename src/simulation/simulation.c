/* Simulations and ensembles: advanced, and their time. */

#include <math.h>

#include "core/arguments.h"
#include "device/context.h"
#include "forces/solver.h"
#include "ranks/ranks.h"
#include "simulation/domain.h"
#include "simulation/integrator.h"
#include "simulation/keep.h"
#include "simulation/massive.h"
#include "simulation/slice.h"
#include "simulation/watch.h"

/* Step counts beyond this are not exact in a double. */
static const double max_steps = 9007199254740992.0;

/* On the CPU, steps of this many pairs or fewer take less than some ten milliseconds and are not
 * cancelled; longer ones are, and the state is kept before them. To keep that of an ensemble's
 * small systems takes a part of the time of their pairs: it is done if they take longer than 0.2 s,
 * and then for more steps. */
static const double pairs_of_short_steps = 1e7, pairs_of_short_ensemble = 2e8;
enum { pairs_to_keep_a_body = 1024 };

/* Steps of an ensemble that a GPU takes in one launch at least where a state has six arrays, which
 * takes the time of two steps or three to load and store. */
enum { steps_of_planets = 128 };

/* Steps at least of an ensemble, and of planets with many test particles: these go from memory to
 * the caches and back for all of them once, and are kept once. */
enum { steps_of_many = 16 };

/* Evaluations of a step that chooses its length: two iterations, rarely three. */
enum { adaptive_evaluations = 16 };

/* About how many sources a body has: within a cutoff, if they fill the cell evenly, those in a cube
 * around it. */
static double sources_of_body(const struct kith_simulation *simulation)
{
    const struct forces_space *space = &simulation->problem.space;
    const double n = (double)simulation_bodies(simulation);
    if (simulation->massive)
        return (double)simulation->massive->count;
    if (!simulation->solver->has_cutoff || !(space->cutoff > 0) || !(space->volume > 0))
        return n;
    return n * fmin(1, pow(2 * space->cutoff, simulation->dimensions) / space->volume);
}

static double evaluations_of_step(const struct kith_simulation *simulation)
{
    const int32_t evaluations = integrator_evaluations(simulation->method);
    return evaluations > 0 ? evaluations : adaptive_evaluations;
}

/* The time of a body's own step, in pairs: hybrid looks for its encounters. */
static double pairs_of_body(const struct kith_simulation *simulation)
{
    return simulation->method == &hybrid_method ? 64 : 0;
}

static double pairs_of_step(const struct kith_simulation *simulation)
{
    const double n = (double)simulation_bodies(simulation);
    const double of_body = sources_of_body(simulation) + pairs_of_body(simulation);
    return evaluations_of_step(simulation) * n * of_body * (double)simulation->systems;
}

/* Whether each system of an ensemble has steps of its own, so that a leg ends with all or none. */
static bool has_steps_of_systems(const struct kith_simulation *simulation)
{
    return simulation->is_ensemble && simulation->method->adapt;
}

/* Whether this many steps can be cancelled in their middle. */
static bool keeps_state(const struct kith_simulation *simulation, int64_t steps)
{
    if (has_steps_of_systems(simulation))
        return true;
    const double most = simulation->is_ensemble ? pairs_of_short_ensemble : pairs_of_short_steps;
    return simulation->context->device.kind == KITH_CPU &&
           pairs_of_step(simulation) * (double)steps > most;
}

int64_t simulation_fewest_steps(const struct kith_simulation *simulation)
{
    const bool is_swarm = simulation->method->take && simulation->massive;
    return simulation->is_ensemble || is_swarm ? steps_of_many : 1;
}

/* The steps between two checks whether the context was cancelled: enough that a check costs
 * nothing, few enough not to wait for; on the CPU no more than those before which the state need
 * not be kept. A large ensemble is advanced group by group, each in the cache for this many steps.
 * On a GPU it is some milliseconds, as small systems do all these steps in one launch, and within a
 * cutoff some ten milliseconds: such steps keep a list of pairs, and copy the particles once for
 * all of them, several GPUs from and to the columns of the first, or of all ranks. */
static int64_t steps_at_once(const struct kith_simulation *simulation)
{
    if (simulation->watch)
        return 1;
    const bool on_gpu = simulation->context->device.kind == KITH_CUDA;
    if (on_gpu && simulation->method->has_blocks && !simulation->is_ensemble)
        return INT64_MAX; /* as many as the device takes in some milliseconds */
    const double pairs = pairs_of_step(simulation);
    const struct ranks *ranks = simulation->context->ranks;
    const double devices = ranks ? ranks->size : 1 + simulation->context->peers;
    const double pairs_at_once = simulation->solver->has_cutoff ? 2e10 * devices : 2e9;
    const double most_pairs = on_gpu ? pairs_at_once : pairs_of_short_steps;
    const double most_steps = on_gpu ? 2e4 / evaluations_of_step(simulation) : 1e7;
    const int64_t least = simulation_fewest_steps(simulation);
    const int64_t fewest = !simulation->is_ensemble ? least
                           : keeps_state(simulation, least)
                               ? least + pairs_to_keep_a_body / (simulation->count + 1)
                           : on_gpu && simulation->method->take ? steps_of_planets
                                                                : least;
    const int64_t fitting = (int64_t)fmin(most_pairs / (pairs + 1), most_steps) + on_gpu;
    return pairs < most_pairs && fitting > fewest ? fitting : fewest;
}

/* At most this many steps of h, at least one; or those of a leg, of an integrator that chooses
 * them.
 */
struct stretch {
    double h;
    struct radau_leg leg; /* leg.steps counts for both */
};

static kith_status do_steps(struct kith_simulation *simulation, const struct stretch *stretch)
{
    const double h = stretch->h;
    int64_t done = 0;
    if (simulation->method->adapt)
        return simulation->method->adapt(simulation, &stretch->leg);
    if (simulation->method->take)
        return simulation->method->take(simulation, h, stretch->leg.steps);
    if (simulation_is_divided(simulation))
        KITH_TRY(simulation_step_divided(simulation, h, stretch->leg.steps, &done));
    if (done > 0)
        return KITH_OK;
    if (!simulation->slice || simulation->context->device.kind != KITH_CPU)
        KITH_TRY(simulation_advance(simulation, h, stretch->leg.steps, &done));
    if (done == 0 && !simulation->slice)
        KITH_TRY(simulation_replay(simulation, h, stretch->leg.steps, &done));
    if (done == 0) {
        KITH_TRY(simulation->method->step(simulation, h));
        done = 1;
    }
    simulation->steps += done;
    return KITH_OK;
}

/* The same, or the state is as before. */
static kith_status do_steps_or_none(struct kith_simulation *simulation,
                                    const struct stretch *stretch)
{
    struct simulation_moment moment;
    KITH_TRY(simulation_keep(simulation, &moment));
    const kith_status status = do_steps(simulation, stretch);
    if (status == KITH_OK || (status != KITH_CANCELLED && !has_steps_of_systems(simulation)))
        return status;
    KITH_TRY(simulation_bring_back(simulation, &moment));
    if (status != KITH_CANCELLED)
        return status;
    return kith_fail(KITH_CANCELLED, "cancelled");
}

static kith_status take_some_steps(struct kith_simulation *simulation,
                                   const struct stretch *stretch)
{
    kith_context *context = simulation->context;
    const bool is_divided = simulation_is_divided(simulation);
    KITH_TRY(is_divided ? ranks_agree(context, KITH_OK) : kith_context_check_cancelled(context));
    if (simulation->lacks_forces && !is_divided)
        KITH_TRY(integrator_prepare(simulation));
    if (!is_divided && keeps_state(simulation, stretch->leg.steps))
        return do_steps_or_none(simulation, stretch);
    context->goes_on = true;
    const kith_status status = do_steps(simulation, stretch);
    context->goes_on = false;
    return status;
}

/* A single step whose collisions are resolved, too. */
static kith_status take_watched_step(struct kith_simulation *simulation,
                                     const struct stretch *stretch)
{
    kith_context *context = simulation->context;
    const double time = kith_simulation_time(simulation);
    KITH_TRY(watch_before_step(simulation));
    KITH_TRY(take_some_steps(simulation, stretch));
    const double h =
        simulation->method->adapt ? kith_simulation_time(simulation) - time : stretch->h;
    context->goes_on = true;
    const kith_status status = watch_after_step(simulation, time, h);
    context->goes_on = false;
    return status;
}

static kith_status take_steps(struct kith_simulation *simulation, const struct stretch *stretch)
{
    const int64_t done = simulation->steps;
    const int64_t bodies = simulation->systems * simulation_bodies(simulation);
    if (simulation->is_looked_at)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "the simulation is in its heartbeat, which may read it but not step it; take steps "
            "after the current call has returned");
    const kith_status status = simulation->watch ? take_watched_step(simulation, stretch)
                                                 : take_some_steps(simulation, stretch);
    if (!simulation->method->has_blocks)
        simulation->body_steps += (simulation->steps - done) * bodies;
    return status;
}

static bool is_over(const struct kith_simulation *simulation, const struct radau_leg *leg)
{
    if (kith_simulation_has_stopped(simulation))
        return true;
    return simulation->method->adapt &&
           (simulation->start_time == leg->until || simulation->start_time >= leg->pause);
}

/* Positions and velocities after steps that went well or did not, as status says. */
static kith_status finish(struct kith_simulation *simulation, kith_status status)
{
    if (status == KITH_OK || status == KITH_CANCELLED) {
        const kith_status shown = simulation_show(simulation);
        status = status == KITH_OK ? shown : status;
    }
    if (!simulation->lacks_bodies)
        return status;
    simulation->context->goes_on = true;
    const kith_status finished = simulation->method->finish(simulation);
    simulation->context->goes_on = false;
    simulation->lacks_bodies = false;
    return status != KITH_OK ? status : finished;
}

kith_status simulation_take_leg(struct kith_simulation *simulation, const struct radau_leg *leg)
{
    const int64_t most = steps_at_once(simulation), end = simulation->steps + leg->steps;
    struct stretch stretch = {simulation->dt, *leg};
    kith_status status = KITH_OK;
    if (simulation->watch)
        simulation->watch->has_stopped = false;
    while (status == KITH_OK && simulation->steps < end && !is_over(simulation, leg)) {
        const int64_t left = end - simulation->steps;
        stretch.leg.steps = heartbeat_steps(simulation, left < most ? left : most);
        status = take_steps(simulation, &stretch);
        if (simulation->heartbeat)
            status = finish(simulation, status);
        if (status == KITH_OK)
            status = heartbeat_call(simulation);
    }
    return finish(simulation, status);
}

kith_status kith_simulation_step(kith_simulation *simulation, int64_t steps)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    if (steps < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "steps is %lld; give a number ≥ 0",
                         (long long)steps);
    if (steps > INT64_MAX - simulation->steps)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "steps is %lld, after %lld that were done; give fewer than can be counted",
                         (long long)steps, (long long)simulation->steps);
    const struct radau_leg leg = {steps, (double)INFINITY, (double)INFINITY};
    return simulation_take_leg(simulation, &leg);
}

/* From here on time counts from time + lost, which is now. */
static void set_time(struct kith_simulation *simulation, double time, double lost)
{
    simulation->start_time = time;
    simulation->start_steps = simulation->steps;
    simulation->clock.lost_time = lost;
}

/* The time, of an integrator with fixed steps, and what of it did not fit, so that steps of other
 * lengths add up exactly. */
static double exact_time(const struct kith_simulation *simulation, double *lost)
{
    const double steps = (double)(simulation->steps - simulation->start_steps);
    const double way = fma(steps, simulation->dt, simulation->clock.lost_time);
    const double rest = fma(steps, simulation->dt, -way) + simulation->clock.lost_time;
    const double time = simulation->start_time + way, of_way = time - simulation->start_time;
    *lost = (simulation->start_time - (time - of_way)) + (way - of_way) + rest;
    return time;
}

/* At most this many steps of an integrator that chooses them, towards a time before or after. */
static kith_status adapt_until(struct kith_simulation *simulation, double until, int64_t steps)
{
    const struct radau_leg leg = {steps, until, (double)INFINITY};
    return simulation_take_leg(simulation, &leg);
}

kith_status kith_simulation_step_by(kith_simulation *simulation, double h)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    if (!isfinite(h))
        return kith_fail(KITH_INVALID_ARGUMENT, "the step is %g; give a finite length", h);
    if (h < 0 && simulation->thermostat.kind != KITH_THERMOSTAT_NONE)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the step is %g, but a thermostat cannot go backwards; give a length ≥ 0",
                         h);
    if (simulation->method->adapt)
        return adapt_until(simulation, simulation->start_time + h, INT64_MAX - simulation->steps);
    const struct stretch stretch = {h, {1, (double)INFINITY, (double)INFINITY}};
    double lost;
    const double start = exact_time(simulation, &lost);
    KITH_TRY(finish(simulation, take_steps(simulation, &stretch)));
    const double way = h + lost, time = start + way, of_way = time - start;
    set_time(simulation, time, (start - (time - of_way)) + (way - of_way) + (lost - (way - h)));
    return heartbeat_call(simulation);
}

double kith_simulation_time(const kith_simulation *simulation)
{
    double lost;
    if (!simulation)
        return 0;
    return simulation->method->adapt ? simulation->start_time : exact_time(simulation, &lost);
}

int64_t kith_simulation_steps(const kith_simulation *simulation)
{
    return simulation ? simulation->steps : 0;
}

int64_t kith_simulation_systems(const kith_simulation *simulation)
{
    return simulation ? simulation->systems : 0;
}

/* (until − start) / dt, rounded to an integer if that is as near as the tolerance: 1e-9, or what
 * the rounding of the times themselves amounts to. */
static double steps_between(double start, double until, double dt)
{
    const double exact = (until - start) / dt;
    const double rounding = 4 * 2.3e-16 * (fabs(start) + fabs(until)) / dt;
    const double whole = round(exact);
    return fabs(exact - whole) <= fmax(1e-9, rounding) ? whole : exact;
}

int64_t kith_simulation_whole_steps(double start, double until, double dt, double *rest)
{
    const double between = steps_between(start, until, dt);
    if (rest)
        *rest = 0;
    if (!(between > 0))
        return 0;
    if (between >= max_steps)
        return INT64_MAX;
    const double whole = floor(between);
    if (rest && whole < between)
        *rest = fmax(until - (start + whole * dt), 0);
    return (int64_t)whole;
}

static kith_status check_until(const struct kith_simulation *simulation, double until,
                               double needed)
{
    const bool is_before = simulation->method->adapt
                               ? until < simulation->start_time
                               : needed < (double)(simulation->steps - simulation->start_steps);
    if (!isfinite(until) || is_before)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "until is %g, but the time is already %g; give a finite time of at least that", until,
            kith_simulation_time(simulation));
    if (needed >= max_steps && !simulation->method->adapt)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "until is %g, which is %g steps of %g away; give a larger dt", until,
                         needed, simulation->dt);
    return KITH_OK;
}

/* Counts from the start and not from now, so that a run in pieces ends with the same last step. */
kith_status kith_simulation_run_steps(kith_simulation *simulation, double until, int64_t steps)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    const double start = simulation->start_time, dt = simulation->dt;
    KITH_TRY(check_until(simulation, until, steps_between(start, until, dt)));
    if (steps < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "steps is %lld; give a number ≥ 0",
                         (long long)steps);
    const int64_t countable = INT64_MAX - simulation->steps;
    if (simulation->method->adapt)
        return adapt_until(simulation, until, steps < countable ? steps : countable);

    double rest = 0;
    const int64_t done = simulation->steps - simulation->start_steps;
    const int64_t whole = kith_simulation_whole_steps(start, until, dt, &rest) - done;
    KITH_TRY(kith_simulation_step(simulation, steps < whole ? steps : whole));
    if (steps < whole || (steps == whole && rest > 0))
        return KITH_OK;
    if (kith_simulation_has_stopped(simulation))
        return KITH_OK;
    if (rest > 0)
        KITH_TRY(kith_simulation_step_by(simulation, rest));
    if (kith_simulation_time(simulation) != until)
        set_time(simulation, until, 0);
    return KITH_OK;
}

kith_status kith_simulation_run(kith_simulation *simulation, double until)
{
    return kith_simulation_run_steps(simulation, until, INT64_MAX);
}
