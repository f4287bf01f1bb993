/* The state of a simulation, out to bodies and checkpoints and in again. */

#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "simulation/integrator.h"
#include "simulation/watch.h"
#include "simulation/whfast_slice.h"

kith_status simulation_check_range(const struct kith_simulation *simulation,
                                   struct system_range range)
{
    if (range.first < 0 || range.count < 0 || range.first > simulation->systems ||
        range.count > simulation->systems - range.first)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%lld systems from system %lld (from 0) on are requested; the simulation "
                         "has %lld",
                         (long long)range.count, (long long)range.first,
                         (long long)simulation->systems);
    return KITH_OK;
}

kith_status kith_simulation_get_systems(kith_simulation *simulation, int64_t first, int64_t systems,
                                        kith_bodies *bodies)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    const struct system_range range = {first, systems};
    KITH_TRY(simulation_check_range(simulation, range));
    const struct watch *watch = simulation->watch;
    const int64_t count = watch ? systems * watch->rows : systems * simulation->count;
    if (bodies->count != count || bodies->dimensions != simulation->dimensions)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "bodies have room for %lld in %d dimensions; the simulation has %lld in "
                         "%d",
                         (long long)bodies->count, (int)bodies->dimensions, (long long)count,
                         (int)simulation->dimensions);
    KITH_TRY(kith_bodies_add_columns(bodies, KITH_VELOCITY));
    KITH_TRY(simulation_read_vectors(simulation, range, POSITION, bodies->position));
    KITH_TRY(simulation_read_vectors(simulation, range, VELOCITY, bodies->velocity));
    if (watch && systems > 0) {
        watch_spread(watch, simulation->count, bodies->position);
        watch_spread(watch, simulation->count, bodies->velocity);
        watch_put_columns(watch, simulation->count, bodies);
    }
    bodies->time = kith_simulation_time(simulation);
    return KITH_OK;
}

kith_status kith_simulation_get_bodies(kith_simulation *simulation, kith_bodies *bodies)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    return kith_simulation_get_systems(simulation, 0, simulation->systems, bodies);
}

/* Numbers of one array in the state. */
static int64_t array_numbers(const struct kith_simulation *simulation)
{
    return simulation->systems * simulation->count * simulation->dimensions;
}

static int64_t state_bytes(const struct kith_simulation *simulation)
{
    return simulation->method->kept * array_numbers(simulation) *
           kith_dtype_bytes(simulation->dtype);
}

static void narrow_to_float(const double *from, float *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (float)from[i];
}

static void widen_to_double(const float *from, double *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i];
}

static kith_status save_arrays(struct kith_simulation *simulation, double *rows, void *state)
{
    const int64_t numbers = array_numbers(simulation);
    const struct system_range all = simulation_all(simulation);
    for (int32_t array = 0; array < simulation->method->kept; array++) {
        if (simulation->dtype == KITH_F64) {
            double *own = (double *)state + array * numbers;
            KITH_TRY(simulation_read_vectors(simulation, all, array, own));
            if (simulation->slice && simulation->method == &whfast_method)
                KITH_TRY(whfast_slice_save(simulation, array, own));
        } else {
            KITH_TRY(simulation_read_vectors(simulation, all, array, rows));
            narrow_to_float(rows, (float *)state + array * numbers, numbers);
        }
    }
    return KITH_OK;
}

static kith_status restore_arrays(struct kith_simulation *simulation, double *rows,
                                  const void *state)
{
    const int64_t numbers = array_numbers(simulation);
    for (int32_t array = 0; array < simulation->method->kept; array++) {
        if (simulation->dtype == KITH_F64)
            memcpy(rows, (const double *)state + array * numbers, (size_t)numbers * sizeof *rows);
        else
            widen_to_double((const float *)state + array * numbers, rows, numbers);
        if (simulation->slice && simulation->method == &whfast_method)
            KITH_TRY(whfast_slice_restore(simulation, array, rows));
        KITH_TRY(simulation_write_vectors(simulation, array, rows));
    }
    return KITH_OK;
}

kith_status kith_simulation_save(kith_simulation *simulation, kith_checkpoint *checkpoint)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    KITH_TRY(kith_check_pointer(checkpoint, "checkpoint"));
    if (simulation->lacks_forces)
        KITH_TRY(integrator_prepare(simulation));
    double *rows = NULL;
    void *state = NULL;
    KITH_TRY(kith_allocate(array_numbers(simulation), sizeof *rows, "checkpoint", &rows));
    kith_status status = kith_allocate(state_bytes(simulation), 1, "checkpoint", &state);
    if (status == KITH_OK && array_numbers(simulation) > 0)
        status = save_arrays(simulation, rows, state);
    free(rows);
    if (status != KITH_OK) {
        free(state);
        return status;
    }
    kith_checkpoint_free(checkpoint);
    *checkpoint = (kith_checkpoint){
        .steps = simulation->steps,
        .start_time = simulation->start_time,
        .start_steps = simulation->start_steps,
        .evaluations = simulation->evaluations,
        .lost_time = simulation->clock.lost_time,
        .next_step = simulation->clock.next_step,
        .last_step = simulation->clock.last_step,
        .previous_time = simulation->clock.previous_time,
        .least_step = simulation->clock.least_step,
        .most_step = simulation->clock.most_step,
        .body_steps = simulation->body_steps,
        .bodies = simulation->systems * simulation->count,
        .arrays = simulation->method->kept,
        .bytes = state_bytes(simulation),
        .state = state,
    };
    return simulation->watch ? watch_save(simulation->watch, simulation->count, checkpoint)
                             : KITH_OK;
}

kith_status kith_simulation_restore(kith_simulation *simulation, const kith_checkpoint *checkpoint)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    KITH_TRY(kith_check_pointer(checkpoint, "checkpoint"));
    if (simulation->watch)
        KITH_TRY(watch_restore(simulation, checkpoint));
    if (checkpoint->arrays != simulation->method->kept ||
        checkpoint->bytes != state_bytes(simulation))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the checkpoint has %lld arrays in %lld bytes and the simulation needs "
                         "%d in %lld; give one of a simulation with the same bodies, integrator "
                         "and precision",
                         (long long)checkpoint->arrays, (long long)checkpoint->bytes,
                         (int)simulation->method->kept, (long long)state_bytes(simulation));
    if (checkpoint->bytes > 0)
        KITH_TRY(kith_check_pointer(checkpoint->state, "the checkpoint's state"));
    double *rows = NULL;
    KITH_TRY(kith_allocate(array_numbers(simulation), sizeof *rows, "checkpoint", &rows));
    kith_status status = KITH_OK;
    if (array_numbers(simulation) > 0)
        status = restore_arrays(simulation, rows, checkpoint->state);
    free(rows);
    KITH_TRY(status);
    simulation->steps = checkpoint->steps;
    simulation->start_time = checkpoint->start_time;
    simulation->start_steps = checkpoint->start_steps;
    simulation->evaluations = checkpoint->evaluations;
    simulation->body_steps = checkpoint->body_steps;
    simulation->clock = (struct radau_clock){.lost_time = checkpoint->lost_time,
                                             .next_step = checkpoint->next_step,
                                             .last_step = checkpoint->last_step,
                                             .previous_time = checkpoint->previous_time,
                                             .least_step = checkpoint->least_step,
                                             .most_step = checkpoint->most_step};
    simulation->lacks_forces = false;
    return KITH_OK;
}

void kith_checkpoint_free(kith_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    free(checkpoint->state);
    free(checkpoint->rows);
    free(checkpoint->columns);
    *checkpoint = (kith_checkpoint){0};
}
