/* Test particles cost only their share of targets: massive.h. */

#include "simulation/massive.h"

#include <stdlib.h>
#include <string.h>

#include "simulation/backend.h"
#include "simulation/integrator.h"
#include "simulation/recording.h"

/* Fewer bodies cost next to nothing, and have the bits that they have in an ensemble; on a GPU they
 * do whole steps in a launch. */
enum { column_count = 8, least_bodies = 65, least_bodies_on_gpu = 8193 };

kith_status massive_pick_cpu(kith_context *context, kith_dtype dtype, int64_t count,
                             const int64_t *body, const void *from, void *to)
{
    (void)context;
    for (int64_t k = 0; k < count; k++)
        if (dtype == KITH_F64)
            ((double *)to)[k] = ((const double *)from)[body[k]];
        else
            ((float *)to)[k] = ((const float *)from)[body[k]];
    return KITH_OK;
}

static kith_status pick(const struct kith_simulation *simulation, const void *from, void *to)
{
    const struct massive *massive = simulation->massive;
    return simulation_backend_of(simulation->context)
        ->pick(simulation->context, simulation->dtype, massive->count, massive->body, from, to);
}

/* The bodies with mass, on the host, which the caller frees. */
static kith_status list(struct kith_simulation *simulation, int64_t **body, int64_t *count)
{
    const struct device_services *services = simulation->context->services;
    const int64_t each = kith_dtype_bytes(simulation->dtype);
    const char zero[sizeof(double)] = {0};
    char *mass = NULL;
    *count = 0;
    KITH_TRY(kith_allocate(simulation->count, each, "bodies with mass", &mass));
    kith_status status =
        services->copy_out(simulation->context, mass, simulation->mass, simulation->count * each);
    if (status == KITH_OK)
        status = kith_allocate(simulation->count, sizeof **body, "bodies with mass", body);
    for (int64_t i = 0; status == KITH_OK && i < simulation->count; i++)
        if (memcmp(mass + i * each, zero, (size_t)each) != 0)
            (*body)[(*count)++] = i;
    free(mass);
    return status;
}

static kith_status make(struct kith_simulation *simulation, const int64_t *body, int64_t count)
{
    const struct device_services *services = simulation->context->services;
    struct massive *massive = NULL;
    const int64_t bytes = kith_dtype_bytes(simulation->dtype) * kith_padded(count);
    KITH_TRY(kith_allocate(1, sizeof *massive, "bodies with mass", &massive));
    simulation->massive = massive;
    massive->count = count;
    KITH_TRY(services->allocate(simulation->context, count, sizeof *body, "bodies with mass",
                                &massive->body));
    KITH_TRY(services->allocate(simulation->context, column_count, bytes, "bodies with mass",
                                &massive->memory));
    char *column = massive->memory;
    for (int32_t c = 0; c < 3; c++) {
        massive->position[c] = column + c * bytes;
        massive->velocity[c] = column + (3 + c) * bytes;
    }
    massive->mass = column + 6 * bytes;
    massive->half_softening2 = column + 7 * bytes;
    KITH_TRY(
        services->copy_in(simulation->context, massive->body, body, count * (int64_t)sizeof *body));
    KITH_TRY(pick(simulation, simulation->mass, massive->mass));
    return simulation->half_softening2
               ? pick(simulation, simulation->half_softening2, massive->half_softening2)
               : KITH_OK;
}

static bool suits(const struct kith_simulation *simulation)
{
    const bool on_gpu = simulation->context->device.kind != KITH_CPU;
    return !simulation->is_ensemble && !simulation->law.law && simulation->is_fused &&
           simulation->space.cutoff <= 0 && !(on_gpu && simulation->method->has_blocks) &&
           simulation->count >= (on_gpu ? least_bodies_on_gpu : least_bodies);
}

kith_status massive_choose(struct kith_simulation *simulation)
{
    massive_free(simulation);
    if (!suits(simulation))
        return KITH_OK;
    int64_t *body = NULL, count = 0;
    kith_status status = list(simulation, &body, &count);
    if (status == KITH_OK && count > 0 && 2 * count <= simulation->count)
        status = make(simulation, body, count);
    if (status != KITH_OK)
        massive_free(simulation);
    free(body);
    return status;
}

/* A recorded step has the addresses of the columns. */
void massive_free(struct kith_simulation *simulation)
{
    const struct device_services *services = simulation->context->services;
    struct massive *massive = simulation->massive;
    if (!massive)
        return;
    simulation_forget_recording(simulation);
    services->release(simulation->context, massive->body);
    services->release(simulation->context, massive->memory);
    free(massive);
    simulation->massive = NULL;
}

kith_status massive_take(const struct kith_simulation *simulation, struct forces_problem *problem)
{
    const struct massive *massive = simulation->massive;
    if (!massive)
        return KITH_OK;
    for (int32_t c = 0; c < problem->dimensions; c++) {
        KITH_TRY(pick(simulation, problem->source_position[c], massive->position[c]));
        problem->source_position[c] = massive->position[c];
        if (!problem->source_velocity[c])
            continue;
        KITH_TRY(pick(simulation, problem->source_velocity[c], massive->velocity[c]));
        problem->source_velocity[c] = massive->velocity[c];
    }
    problem->self = false;
    problem->source_count = massive->count;
    problem->source_mass = massive->mass;
    if (problem->source_half_softening2)
        problem->source_half_softening2 = massive->half_softening2;
    return KITH_OK;
}
