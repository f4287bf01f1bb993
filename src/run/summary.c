#include "run/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { flops_an_interaction = 20 }; /* the usual count: Warren & Salmon 1997, and others */

double run_momentum_scale(const kith_bodies *bodies, const double *mass)
{
    double scale = 0;
    for (int64_t i = 0; i < bodies->count; i++) {
        double speed2 = 0;
        for (int32_t k = 0; k < bodies->dimensions; k++) {
            const double component = bodies->velocity[i * bodies->dimensions + k];
            speed2 += component * component;
        }
        scale += (mass ? mass[i] : 1) * sqrt(speed2);
    }
    return scale;
}

static double momentum_error(const struct run_record *record)
{
    double change2 = 0;
    for (int k = 0; k < 3; k++) {
        const double change = record->last.momentum[k] - record->first.momentum[k];
        change2 += change * change;
    }
    return sqrt(change2) / (record->momentum_scale > 0 ? record->momentum_scale : 1);
}

static int64_t evaluations_a_step(const char *integrator)
{
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (strcmp(list[k].name, integrator) == 0)
            return list[k].evaluations;
    return 0;
}

static double divide(double a, double b)
{
    return b != 0 ? a / b : NAN;
}

kith_run_summary run_summarize(const struct run_record *record, const struct run_plan *plan,
                               const kith_context *context, const kith_simulation *simulation,
                               int64_t bodies)
{
    const int64_t steps = kith_simulation_steps(simulation);
    const double energy = record->first.total_energy, scale = fabs(energy);
    kith_run_summary summary = {
        .bodies = bodies,
        .steps = steps,
        .evaluations =
            (steps - record->steps_resumed) * evaluations_a_step(plan->parameters.integrator),
        .dt = plan->parameters.dt,
        .time = steps == plan->end ? plan->parameters.until : kith_simulation_time(simulation),
        .energy_initial = energy,
        .energy_final = record->last.total_energy,
        .relative_energy_error = divide(fabs(record->last.total_energy - energy), scale),
        .max_relative_energy_error = divide(record->largest_energy_error, scale),
        .momentum_error = momentum_error(record),
        .seconds = record->stepping_seconds,
        .device = kith_context_device(context),
        .precision = plan->parameters.precision,
        .steps_resumed = record->steps_resumed,
        .interrupted = steps < plan->end,
    };
    const double pairs = (double)bodies * (double)bodies * (double)summary.evaluations;
    summary.interactions_per_second = summary.seconds > 0 ? pairs / summary.seconds : 0;
    summary.gflops = flops_an_interaction * summary.interactions_per_second * 1e-9;
    snprintf(summary.integrator, sizeof summary.integrator, "%s", plan->parameters.integrator);
    return summary;
}
