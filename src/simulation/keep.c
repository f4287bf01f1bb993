#include "simulation/keep.h"

#include <math.h>
#include <string.h>

#include "device/threads.h"
#include "simulation/integrator.h"

enum { bytes_of_task = 1 << 20 };

static const double seconds_of_byte = 0.2e-9;

struct copying {
    char *to;
    const char *from;
    int64_t bytes;
};

static void copy_some(void *argument, int64_t task)
{
    const struct copying *copying = argument;
    const int64_t begin = task * bytes_of_task, left = copying->bytes - begin;
    memcpy(copying->to + begin, copying->from + begin,
           (size_t)(left < bytes_of_task ? left : bytes_of_task));
}

/* A sum of one term has its bits. */
static kith_status copy_there(kith_context *context, void *to, const void *from, int64_t bytes)
{
    const double one = 1;
    return context->services->combine(context, KITH_F64, bytes / (int64_t)sizeof one, 1, &one,
                                      &from, to);
}

static kith_status copy(kith_context *context, void *to, const void *from, int64_t bytes)
{
    if (context->device.kind != KITH_CPU)
        return copy_there(context, to, from, bytes);
    struct copying copying = {to, from, bytes};
    return kith_for_each(context, kith_threads_for(context, (double)bytes * seconds_of_byte),
                         (bytes + bytes_of_task - 1) / bytes_of_task, copy_some, &copying);
}

static int64_t bytes_of_array(const struct kith_simulation *simulation)
{
    return simulation->stride * simulation->dimensions * kith_dtype_bytes(simulation->dtype);
}

kith_status simulation_keep(struct kith_simulation *simulation, struct simulation_moment *moment)
{
    *moment = (struct simulation_moment){.evaluations = simulation->evaluations,
                                         .steps = simulation->steps,
                                         .start_steps = simulation->start_steps,
                                         .body_steps = simulation->body_steps,
                                         .clock = simulation->clock,
                                         .start_time = simulation->start_time};
    const int64_t bytes = bytes_of_array(simulation);
    const int32_t arrays = simulation->method->kept;
    if (!simulation->kept)
        KITH_TRY(simulation->context->services->allocate(
            simulation->context, arrays, bytes, "state of the simulation", &simulation->kept));
    for (int32_t array = 0; array < arrays; array++)
        KITH_TRY(copy(simulation->context, (char *)simulation->kept + array * bytes,
                      simulation->memory[array], bytes));
    return KITH_OK;
}

kith_status simulation_bring_back(struct kith_simulation *simulation,
                                  const struct simulation_moment *moment)
{
    simulation->has_potentials = false;
    simulation->evaluations = moment->evaluations;
    simulation->steps = moment->steps;
    simulation->start_steps = moment->start_steps;
    simulation->body_steps = moment->body_steps;
    simulation->clock = moment->clock;
    simulation->start_time = moment->start_time;
    const int64_t bytes = bytes_of_array(simulation);
    kith_status status = KITH_OK;
    simulation->context->goes_on = true;
    for (int32_t array = 0; array < simulation->method->kept && status == KITH_OK; array++)
        status = copy(simulation->context, simulation->memory[array],
                      (const char *)simulation->kept + array * bytes, bytes);
    simulation->context->goes_on = false;
    return status;
}

kith_status simulation_go_back(struct kith_simulation *simulation, double time,
                               struct simulation_moment *moment)
{
    const struct radau_leg leg = {INT64_MAX, time, (double)INFINITY};
    KITH_TRY(simulation_keep(simulation, moment));
    const kith_status status = simulation->method->adapt(simulation, &leg);
    if (status == KITH_OK)
        return KITH_OK;
    KITH_TRY(simulation_bring_back(simulation, moment));
    return status;
}
