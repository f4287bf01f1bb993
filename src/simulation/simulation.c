/* Simulations: made, advanced, and their time. */

#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "simulation/integrator.h"

/* Step counts beyond this are not exact in a double. */
static const double max_steps = 9007199254740992.0;

static kith_status check_options(const kith_simulation_options *options, const kith_bodies *bodies)
{
    if (!(options->dt > 0) || !isfinite(options->dt))
        return kith_fail(KITH_INVALID_ARGUMENT, "dt is %g; give a finite step greater than 0",
                         options->dt);
    if (!(options->softening >= 0) || !isfinite(options->softening))
        return kith_fail(KITH_INVALID_ARGUMENT, "softening is %g; give a finite length ≥ 0",
                         options->softening);
    if (!isfinite(options->gravitational_constant))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "gravitational constant is %g; give a finite number",
                         options->gravitational_constant);
    if (options->precision != KITH_F64 && options->precision != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "precision is dtype %d; give KITH_F64 or KITH_F32",
                         (int)options->precision);
    if (options->softening_of_bodies && !bodies->softening && bodies->count > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "the bodies have no softening lengths of their "
                                                "own; add that column or give one softening");
    return KITH_OK;
}

static kith_status check_bodies(const kith_bodies *bodies)
{
    KITH_TRY(kith_bodies_check(bodies));
    for (int64_t i = 0; bodies->mass && i < bodies->count; i++)
        if (bodies->mass[i] < 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "mass of body %lld (from 0) is %g; give a mass ≥ 0", (long long)i,
                             bodies->mass[i]);
    return KITH_OK;
}

kith_status kith_simulation_create(kith_context *context, const kith_simulation_options *options,
                                   const kith_bodies *bodies, kith_simulation **simulation)
{
    *simulation = NULL;
    const struct integrator_method *method = NULL;
    KITH_TRY(integrator_find(options->integrator, &method));
    KITH_TRY(check_bodies(bodies));
    KITH_TRY(check_options(options, bodies));

    struct kith_simulation *created = NULL;
    KITH_TRY(kith_allocate(1, sizeof *created, "simulation", &created));
    created->context = context;
    created->method = method;
    created->dtype = options->precision;
    created->dimensions = bodies->dimensions;
    created->count = bodies->count;
    created->stride = kith_padded(bodies->count > 0 ? bodies->count : 1);
    created->dt = options->dt;
    created->start_time = bodies->time;

    kith_status status = simulation_load(created, options, bodies);
    if (status == KITH_OK)
        status = integrator_prepare(created);
    if (status != KITH_OK) {
        kith_simulation_free(created);
        return status;
    }
    *simulation = created;
    return KITH_OK;
}

void kith_simulation_free(kith_simulation *simulation)
{
    if (!simulation)
        return;
    kith_context_synchronize(simulation->context);
    simulation_release(simulation);
    free(simulation);
}

/* So many steps between two looks at whether the context was cancelled: enough that looking costs
 * nothing, few enough (10⁷ pairs) not to wait for. */
static int64_t steps_at_once(const struct kith_simulation *simulation)
{
    const double n = (double)simulation->count, pairs = 1e7;
    return n * n < pairs ? (int64_t)(pairs / (n * n + 1)) + 1 : 1;
}

/* At most so many steps of h, at least one. */
static kith_status take_steps(struct kith_simulation *simulation, double h, int64_t steps)
{
    int64_t done = 0;
    KITH_TRY(kith_context_check_cancelled(simulation->context));
    KITH_TRY(simulation_advance(simulation, h, steps, &done));
    if (done == 0) {
        KITH_TRY(simulation->method->step(simulation, h));
        done = 1;
    }
    simulation->steps += done;
    return KITH_OK;
}

kith_status kith_simulation_step(kith_simulation *simulation, int64_t steps)
{
    if (steps < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "steps is %lld; give a number ≥ 0",
                         (long long)steps);
    const int64_t most = steps_at_once(simulation), end = simulation->steps + steps;
    while (simulation->steps < end) {
        const int64_t left = end - simulation->steps;
        KITH_TRY(take_steps(simulation, simulation->dt, left < most ? left : most));
    }
    return KITH_OK;
}

/* From here on time counts from time, which is now. */
static void set_time(struct kith_simulation *simulation, double time)
{
    simulation->start_time = time;
    simulation->start_steps = simulation->steps;
}

kith_status kith_simulation_step_by(kith_simulation *simulation, double h)
{
    if (!isfinite(h))
        return kith_fail(KITH_INVALID_ARGUMENT, "the step is %g; give a finite length", h);
    const double time = kith_simulation_time(simulation) + h;
    KITH_TRY(take_steps(simulation, h, 1));
    set_time(simulation, time);
    return KITH_OK;
}

double kith_simulation_time(const kith_simulation *simulation)
{
    const int64_t steps = simulation->steps - simulation->start_steps;
    return simulation->start_time + (double)steps * simulation->dt;
}

int64_t kith_simulation_steps(const kith_simulation *simulation)
{
    return simulation->steps;
}

/* (until − start) / dt, rounded to a whole number if that is as near as the tolerance: 1e-9, or
 * what the rounding of the times themselves amounts to. */
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
    *rest = 0;
    if (!(between > 0))
        return 0;
    if (between >= max_steps)
        return INT64_MAX;
    const double whole = floor(between);
    if (whole < between)
        *rest = fmax(until - (start + whole * dt), 0);
    return (int64_t)whole;
}

/* Counts from the start and not from now, so that a run in pieces ends with the same last step. */
kith_status kith_simulation_run(kith_simulation *simulation, double until)
{
    const double start = simulation->start_time, dt = simulation->dt;
    const int64_t done = simulation->steps - simulation->start_steps;
    const double needed = steps_between(start, until, dt);
    if (!isfinite(until) || needed < (double)done)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "until is %g and the time is %g already; give a finite time not before",
                         until, kith_simulation_time(simulation));
    if (needed >= max_steps)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "until is %g, which is %g steps of %g away; give a larger dt", until,
                         needed, dt);

    double rest = 0;
    const int64_t whole = kith_simulation_whole_steps(start, until, dt, &rest);
    KITH_TRY(kith_simulation_step(simulation, whole - done));
    if (rest > 0)
        KITH_TRY(kith_simulation_step_by(simulation, rest));
    if (kith_simulation_time(simulation) != until)
        set_time(simulation, until);
    return KITH_OK;
}
