/* Test particles cost only their share of targets: massive.h. */

#include "simulation/massive.h"

#include <stdlib.h>
#include <string.h>

/* Fewer bodies cost next to nothing, and have the bits that they have in an ensemble. */
enum { column_count = 8, least_bodies = 65 };

static void pick(const struct kith_simulation *simulation, const void *from, void *to)
{
    const struct massive *massive = simulation->massive;
    const double *doubles = from;
    const float *floats = from;
    for (int64_t k = 0; k < massive->count; k++)
        if (simulation->dtype == KITH_F64)
            ((double *)to)[k] = doubles[massive->body[k]];
        else
            ((float *)to)[k] = floats[massive->body[k]];
}

static bool has_mass(const struct kith_simulation *simulation, int64_t i)
{
    return simulation->dtype == KITH_F64 ? ((const double *)simulation->mass)[i] != 0
                                         : ((const float *)simulation->mass)[i] != 0;
}

static kith_status make(struct kith_simulation *simulation, int64_t count)
{
    struct massive *massive = NULL;
    const int64_t bytes = kith_dtype_bytes(simulation->dtype) * kith_padded(count);
    KITH_TRY(kith_allocate(1, sizeof *massive, "bodies with mass", &massive));
    simulation->massive = massive;
    KITH_TRY(kith_allocate(count, sizeof *massive->body, "bodies with mass", &massive->body));
    KITH_TRY(kith_allocate(column_count, bytes, "bodies with mass", &massive->memory));
    char *column = massive->memory;
    for (int32_t c = 0; c < 3; c++) {
        massive->position[c] = column + c * bytes;
        massive->velocity[c] = column + (3 + c) * bytes;
    }
    massive->mass = column + 6 * bytes;
    massive->half_softening2 = column + 7 * bytes;
    for (int64_t i = 0; i < simulation->count; i++)
        if (has_mass(simulation, i))
            massive->body[massive->count++] = i;
    pick(simulation, simulation->mass, massive->mass);
    if (simulation->half_softening2)
        pick(simulation, simulation->half_softening2, massive->half_softening2);
    return KITH_OK;
}

kith_status massive_choose(struct kith_simulation *simulation)
{
    massive_free(simulation);
    if (simulation->context->device.kind != KITH_CPU || simulation->is_ensemble ||
        simulation->law.law || !simulation->is_fused || simulation->space.cutoff > 0 ||
        simulation->count < least_bodies)
        return KITH_OK;
    int64_t count = 0;
    for (int64_t i = 0; i < simulation->count; i++)
        count += has_mass(simulation, i);
    return count > 0 && 2 * count <= simulation->count ? make(simulation, count) : KITH_OK;
}

void massive_free(struct kith_simulation *simulation)
{
    struct massive *massive = simulation->massive;
    if (!massive)
        return;
    free(massive->body);
    free(massive->memory);
    free(massive);
    simulation->massive = NULL;
}

void massive_take(const struct kith_simulation *simulation, struct forces_problem *problem)
{
    const struct massive *massive = simulation->massive;
    if (!massive)
        return;
    for (int32_t c = 0; c < problem->dimensions; c++) {
        pick(simulation, problem->source_position[c], massive->position[c]);
        problem->source_position[c] = massive->position[c];
        if (!problem->source_velocity[c])
            continue;
        pick(simulation, problem->source_velocity[c], massive->velocity[c]);
        problem->source_velocity[c] = massive->velocity[c];
    }
    problem->self = false;
    problem->source_count = massive->count;
    problem->source_mass = massive->mass;
    if (problem->source_half_softening2)
        problem->source_half_softening2 = massive->half_softening2;
}
