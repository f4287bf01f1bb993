/* The integrator ias15 of an ensemble: each system takes steps of its own from one common time to
 * the next, with the kernels and the bits of a single simulation (simulation/ias15.c). */

#include <math.h>
#include <stdlib.h>

#include "device/threads.h"
#include "forces/solver.h"
#include "simulation/advance_program.h"
#include "simulation/backend.h"
#include "simulation/integrator.h"

/* The arrays of a simulation: what radau.h keeps, and of each system the length of its next step
 * and of its last, the first two components at body 0. */
enum { SYSTEM_CLOCK = RADAU_KEPT, SYSTEMS_KEPT };

_Static_assert((int)kith_most_bodies_of_system <= (int)radau_most_bodies,
               "the kernel takes fewer bodies");

/* The bodies of one system, in the layout of a single simulation. */
struct one_system {
    _Alignas(64) double memory[RADAU_KEPT][3 * kith_most_bodies_of_system];
    _Alignas(64) double mass[kith_most_bodies_of_system];
    _Alignas(64) double half_softening2[kith_most_bodies_of_system];
    struct forces_problem forces;
};

struct systems_leg {
    struct kith_simulation *simulation;
    struct radau_leg leg;
    struct radau_system *system;
};

static double *element(const struct kith_simulation *simulation, int32_t array, int32_t c,
                       int64_t body, int64_t system)
{
    const int64_t step = kith_padded(simulation->systems);
    return (double *)simulation->vector[array][c] + body * step + system;
}

static void gather(const struct kith_simulation *simulation, int64_t s, int32_t arrays,
                   struct one_system *one)
{
    const int64_t step = kith_padded(simulation->systems);
    const double *mass = simulation->mass, *softening = simulation->half_softening2;
    one->forces = simulation->problem;
    one->forces.system_count = one->forces.system_stride = 0;
    one->forces.source_mass = one->mass;
    if (softening)
        one->forces.source_half_softening2 = one->forces.target_half_softening2 =
            one->half_softening2;
    for (int64_t i = 0; i < simulation->count; i++) {
        one->mass[i] = mass[i * step + s];
        one->half_softening2[i] = softening ? softening[i * step + s] : 0;
        for (int32_t array = 0; array < arrays; array++)
            for (int32_t c = 0; c < simulation->dimensions; c++)
                one->memory[array][c * kith_most_bodies_of_system + i] =
                    *element(simulation, array, c, i, s);
    }
}

static void scatter(const struct kith_simulation *simulation, int64_t s, int32_t first,
                    int32_t arrays, const struct one_system *one)
{
    for (int32_t array = first; array < arrays; array++)
        for (int32_t c = 0; c < simulation->dimensions; c++)
            for (int64_t i = 0; i < simulation->count; i++)
                *element(simulation, array, c, i, s) =
                    one->memory[array][c * kith_most_bodies_of_system + i];
}

static bool is_on_cpu(const struct kith_simulation *simulation)
{
    return !simulation_backend_of(simulation->context)->radau;
}

/* Forces at the start, on a CPU as a single simulation evaluates them. */
static kith_status prepare(struct kith_simulation *simulation)
{
    if (!is_on_cpu(simulation))
        return simulation_evaluate(simulation, POSITION, ACCELERATION);
    for (int64_t s = 0; s < simulation->systems && simulation->count > 0; s++) {
        struct one_system one = {.mass = {0}};
        void *prepared = NULL;
        gather(simulation, s, VELOCITY, &one);
        for (int32_t c = 0; c < simulation->dimensions; c++) {
            const int64_t at = c * kith_most_bodies_of_system;
            one.forces.source_position[c] = one.forces.target_position[c] =
                one.memory[RADAU_POSITION] + at;
            one.forces.acceleration[c] = one.memory[RADAU_ACCELERATION] + at;
        }
        KITH_TRY(forces_evaluate(simulation->context, simulation->solver, &one.forces, &prepared));
        forces_forget(simulation->context, simulation->solver, &prepared);
        scatter(simulation, s, RADAU_ACCELERATION, RADAU_ACCELERATION + 1, &one);
    }
    simulation->evaluations++;
    return KITH_OK;
}

static void run_system(void *argument, int64_t s)
{
    const struct systems_leg *run = argument;
    const struct kith_simulation *simulation = run->simulation;
    struct radau_system *leg = &run->system[s];
    struct one_system one = {.mass = {0}};
    struct radau_problem problem = {.forces = &one.forces, .stride = kith_most_bodies_of_system};
    gather(simulation, s, RADAU_KEPT, &one);
    for (int32_t array = 0; array < RADAU_KEPT; array++)
        problem.array[array] = one.memory[array];
    double *const next = element(simulation, SYSTEM_CLOCK, 0, 0, s);
    double *const last = element(simulation, SYSTEM_CLOCK, 1, 0, s);
    leg->clock = (struct radau_clock){.time = simulation->start_time,
                                      .next_step = *next > 0 ? *next : simulation->dt,
                                      .last_step = *last};
    leg->end = radau_kernels_of(simulation->context)->of_few(&problem, &run->leg, &leg->clock);
    leg->steps = problem.steps;
    leg->evaluations = problem.evaluations;
    *next = leg->clock.next_step;
    *last = leg->clock.last_step;
    scatter(simulation, s, 0, RADAU_KEPT, &one);
}

/* Steps and evaluations are those of a system, on average. */
static kith_status add_up(struct kith_simulation *simulation, const struct radau_system *system)
{
    struct radau_clock *clock = &simulation->clock;
    const int64_t systems = simulation->systems > 0 ? simulation->systems : 1;
    int64_t steps = 0, evaluations = 0;
    for (int64_t s = 0; s < simulation->systems; s++) {
        if (system[s].end == radau_stuck)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "system %lld (from 0): the step of ias15 became too short at time "
                             "%.15g: bodies collide; give a softening",
                             (long long)s, system[s].clock.time);
        const double least = system[s].clock.least_step;
        steps += system[s].steps;
        evaluations += system[s].evaluations;
        simulation->body_steps += system[s].steps * simulation->count;
        if (least > 0)
            clock->least_step = clock->least_step > 0 ? fmin(clock->least_step, least) : least;
        clock->most_step = fmax(clock->most_step, system[s].clock.most_step);
    }
    const int64_t mean = (steps + systems / 2) / systems;
    simulation->steps += mean > 0 ? mean : 1;
    simulation->evaluations += (evaluations + systems / 2) / systems;
    return KITH_OK;
}

/* The same by a backend. */
static kith_status run_by(kith_context *context, const struct systems_leg *run)
{
    struct kith_simulation *simulation = run->simulation;
    struct radau_systems problem = {.forces = &simulation->problem,
                                    .next_step = element(simulation, SYSTEM_CLOCK, 0, 0, 0),
                                    .last_step = element(simulation, SYSTEM_CLOCK, 1, 0, 0),
                                    .start = simulation->start_time,
                                    .until = run->leg.until,
                                    .dt = simulation->dt};
    for (int32_t array = 0; array < RADAU_KEPT; array++)
        for (int32_t c = 0; c < simulation->dimensions; c++)
            problem.array[array][c] = simulation->vector[array][c];
    return simulation_backend_of(context)->radau(context, &problem, run->system);
}

/* A system's share of a leg of a planetary system, on a slow processor. */
static const double seconds_of_system = 1e-3;

static kith_status adapt(struct kith_simulation *simulation, const struct radau_leg *leg)
{
    const double until = fmin(leg->until, leg->pause), start = simulation->start_time;
    if (!isfinite(until))
        return kith_fail(KITH_UNSUPPORTED,
                         "the systems of an ensemble have steps of their own with ias15, and no "
                         "number of steps in common; run to a time");
    if (simulation->heartbeat)
        return kith_fail(KITH_UNSUPPORTED,
                         "the systems of an ensemble have steps of their own with ias15, and a "
                         "heartbeat counts steps; leave it out");
    struct systems_leg run = {simulation, {INT64_MAX, until, (double)INFINITY}, NULL};
    KITH_TRY(kith_allocate(simulation->systems, sizeof *run.system, "steps of the systems",
                           &run.system));
    const double seconds = seconds_of_system * (double)simulation->systems;
    kith_status status = KITH_OK;
    if (simulation->count > 0 && simulation->systems > 0 && !is_on_cpu(simulation))
        status = run_by(simulation->context, &run);
    else if (simulation->count > 0)
        status = kith_for_each(simulation->context, kith_threads_for(simulation->context, seconds),
                               simulation->systems, run_system, &run);
    if (status == KITH_OK)
        status = add_up(simulation, run.system);
    free(run.system);
    KITH_TRY(status);
    simulation->clock.previous_time = start;
    simulation->start_time = until;
    simulation->start_steps = simulation->steps;
    return KITH_OK;
}

static kith_status check(const struct kith_simulation *simulation, const kith_bodies *bodies)
{
    if (simulation->law.law || !simulation->is_fused)
        return kith_fail(KITH_UNSUPPORTED,
                         "integrator is ias15, whose ensembles support only gravity with the "
                         "solver direct; use these, or simulate the systems one by one");
    for (int64_t s = 0; s < simulation->systems; s++) {
        const kith_bodies one = kith_ensemble_system(bodies, simulation->systems, s);
        const kith_status status = ias15_check(simulation, &one);
        if (status != KITH_OK)
            return kith_fail_within(status, "system %lld (from 0): ", (long long)s);
    }
    return KITH_OK;
}

static void begin(struct kith_simulation *simulation)
{
    for (int32_t array = LOST_POSITION; array < SYSTEMS_KEPT; array++)
        simulation_clear(simulation, array);
    simulation->clock = (struct radau_clock){.next_step = simulation->dt};
}

const struct integrator_method ias15_systems_method = {.check = check,
                                                       .begin = begin,
                                                       .prepare = prepare,
                                                       .adapt = adapt,
                                                       .arrays = SYSTEMS_KEPT,
                                                       .kept = SYSTEMS_KEPT,
                                                       .has_blocks = true};
