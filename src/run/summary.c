#include "run/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ranks/ranks.h"
#include "simulation/integrator.h"
#include "simulation/massive.h"
#include "simulation/state.h"

enum { flops_an_interaction = 20 }; /* the usual count: Warren & Salmon 1997, and others */

kith_status run_record_begin(int64_t systems, struct run_record *record)
{
    *record = (struct run_record){.systems = systems};
    return kith_allocate(systems, sizeof *record->system, "record of the run", &record->system);
}

void run_record_free(struct run_record *record)
{
    free(record->system);
    *record = (struct run_record){0};
}

/* Adds Σ m |v|. */
static void add_momenta(void *argument, void *sum)
{
    const kith_bodies *bodies = argument;
    double scale = *(double *)sum;
    for (int64_t i = 0; i < bodies->count; i++) {
        double speed2 = 0;
        for (int32_t k = 0; k < bodies->dimensions; k++) {
            const double component = bodies->velocity[i * bodies->dimensions + k];
            speed2 += component * component;
        }
        scale += (bodies->mass ? bodies->mass[i] : 1) * sqrt(speed2);
    }
    *(double *)sum = scale;
}

static double momentum_scale(const kith_context *of_slice, kith_bodies *bodies)
{
    double scale = 0;
    if (of_slice)
        ranks_in_turn(of_slice, add_momenta, bodies, &scale, sizeof scale);
    else
        add_momenta(bodies, &scale);
    return scale;
}

static void begin_system(struct system_record *system, const kith_context *of_slice,
                         kith_bodies *bodies, const kith_diagnostics *first)
{
    system->first_energy = first->total_energy;
    memcpy(system->first_momentum, first->momentum, sizeof first->momentum);
    system->momentum_scale = momentum_scale(of_slice, bodies);
}

static void continue_system(struct system_record *system, const kith_diagnostics *last)
{
    system->last_energy = last->total_energy;
    memcpy(system->last_momentum, last->momentum, sizeof last->momentum);
    system->largest_energy_error =
        fmax(system->largest_energy_error, fabs(last->total_energy - system->first_energy));
}

void run_record_frame(struct run_record *record, const kith_context *of_slice,
                      const kith_bodies *bodies, const double *mass,
                      const kith_diagnostics *diagnostics)
{
    kith_bodies all = *bodies;
    all.mass = (double *)mass;
    for (int64_t s = 0; s < record->systems; s++) {
        kith_bodies one = kith_ensemble_system(&all, record->systems, s);
        if (!record->has_frames)
            begin_system(&record->system[s], of_slice, &one, &diagnostics[s]);
        continue_system(&record->system[s], &diagnostics[s]);
    }
    record->has_frames = true;
}

void run_record_past(struct run_record *record, const kith_context *of_slice,
                     const struct run_past *past)
{
    for (int64_t s = 0; s < record->systems; s++) {
        struct system_record *system = &record->system[s];
        kith_bodies one = kith_ensemble_system(past->start, record->systems, s);
        begin_system(system, of_slice, &one, &past->first[s]);
        continue_system(system, &past->last[s]);
        system->largest_energy_error = past->largest_energy_error[s];
    }
    record->has_frames = true;
    record->steps_resumed = past->checkpoint.steps;
    record->evaluations_resumed = past->checkpoint.evaluations;
}

static double momentum_error(const struct system_record *system)
{
    double change2 = 0;
    for (int k = 0; k < 3; k++) {
        const double change = system->last_momentum[k] - system->first_momentum[k];
        change2 += change * change;
    }
    return sqrt(change2) / (system->momentum_scale > 0 ? system->momentum_scale : 1);
}

static double divide(double a, double b)
{
    return b != 0 ? a / b : (double)NAN;
}

/* Energies summed over systems, and the largest errors; fmax leaves out those that are not numbers.
 */
static void summarize_systems(const struct run_record *record, kith_run_summary *summary)
{
    summary->relative_energy_error = summary->max_relative_energy_error = (double)NAN;
    for (int64_t s = 0; s < record->systems; s++) {
        const struct system_record *system = &record->system[s];
        const double energy = system->first_energy, scale = fabs(energy);
        const double error = divide(fabs(system->last_energy - energy), scale);
        const double largest = divide(system->largest_energy_error, scale);
        summary->energy_initial += energy;
        summary->energy_final += system->last_energy;
        summary->relative_energy_error = fmax(summary->relative_energy_error, error);
        summary->max_relative_energy_error = fmax(summary->max_relative_energy_error, largest);
        summary->momentum_error = fmax(summary->momentum_error, momentum_error(system));
    }
}

/* The shortest and the longest of the steps that no frame and no end cut short. */
static void summarize_steps(const struct run_plan *plan, const struct kith_simulation *simulation,
                            kith_run_summary *summary)
{
    const struct radau_clock *clock = &simulation->clock;
    summary->dt_min = summary->dt_max = plan->parameters.dt;
    if (plan->is_adaptive && clock->last_step != 0)
        summary->dt_min = summary->dt_max = fabs(clock->last_step);
    if (clock->least_step > 0) {
        summary->dt_min = clock->least_step;
        summary->dt_max = clock->most_step;
    }
    summary->body_steps = simulation->body_steps;
    summary->collisions = kith_simulation_collisions(simulation);
    (void)kith_simulation_rows(simulation, &summary->bodies_final);
    if (summary->systems > 0)
        summary->bodies_final /= summary->systems;
    summary->has_stopped = kith_simulation_has_stopped(simulation);
}

kith_run_summary run_summarize(const struct run_record *record, const struct run_plan *plan,
                               const kith_context *context, const kith_simulation *simulation,
                               int64_t bodies)
{
    const int64_t steps = kith_simulation_steps(simulation);
    const int64_t steps_here = steps - record->steps_resumed;
    const struct run_moment now = {steps, kith_simulation_time(simulation), 0};
    kith_run_summary summary = {
        .systems = record->systems,
        .bodies = bodies,
        .steps = steps,
        .evaluations = plan->is_adaptive ? simulation->evaluations - record->evaluations_resumed
                                         : steps_here * integrator_evaluations(simulation->method),
        .dt = plan->parameters.dt,
        .time = run_plan_is_over(plan, &now) ? plan->parameters.until : now.time,
        .seconds = record->stepping_seconds,
        .device = kith_context_device(context),
        .precision = plan->parameters.precision,
        .steps_resumed = record->steps_resumed,
    };
    summary.thermostat = simulation->thermostat.kind;
    summarize_steps(plan, simulation, &summary);
    summarize_systems(record, &summary);
    const double systems = (double)record->systems;
    const int64_t sources = simulation->massive ? simulation->massive->count : bodies;
    const double pairs = systems * (double)bodies * (double)sources * (double)summary.evaluations;
    if (summary.seconds > 0) {
        summary.interactions_per_second = pairs / summary.seconds;
        summary.system_steps_per_second = systems * (double)steps_here / summary.seconds;
    }
    summary.gflops = flops_an_interaction * summary.interactions_per_second * 1e-9;
    snprintf(summary.integrator, sizeof summary.integrator, "%s", plan->parameters.integrator);
    snprintf(summary.solver, sizeof summary.solver, "%s", plan->parameters.solver);
    return summary;
}
