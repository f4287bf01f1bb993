/* The bodies of a simulation that may become fewer: who is left, and what they are now. */

#include "simulation/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "simulation/integrator.h"

/* Paths and distances are those of open space. */
static kith_status check_space(const kith_simulation_options *options, const kith_bodies *bodies)
{
    const bool watches = watch_is_wanted(options);
    const bool *periodic = options->forces.cell ? options->forces.cell->periodic : bodies->periodic;
    for (int32_t k = 0; k < bodies->dimensions && watches; k++)
        if (periodic[k])
            return kith_fail(
                KITH_UNSUPPORTED,
                "the cell is periodic along its vector %c, but collisions, encounters and escapes "
                "need open space; leave them out, or use a cell that is not periodic",
                "abc"[k]);
    return KITH_OK;
}

kith_status watch_check(const kith_simulation_options *options, const kith_bodies *bodies)
{
    if (options->on_collision < KITH_ON_COLLISION_PASS ||
        options->on_collision > KITH_ON_COLLISION_STOP)
        return kith_fail(KITH_INVALID_ARGUMENT, "on_collision is %d; give one of kith_on_collision",
                         (int)options->on_collision);
    if (!(options->restitution >= 0 && options->restitution <= 1))
        return kith_fail(KITH_INVALID_ARGUMENT, "restitution is %g; give a number from 0 to 1",
                         options->restitution);
    if (!(options->encounter >= 0) || !isfinite(options->encounter))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "encounter is %g; give a distance greater than 0, or 0 for none",
                         options->encounter);
    if (!(options->escape >= 0) || !isfinite(options->escape))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "escape is %g; give a distance greater than 0, or 0 for none",
                         options->escape);
    if (options->on_collision != KITH_ON_COLLISION_PASS && !bodies->radius && bodies->count > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the bodies have no radii, but collisions need them; add a column radius");
    return check_space(options, bodies);
}

static kith_status copy_column(const double *from, double absent, int64_t count, double **to)
{
    KITH_TRY(kith_allocate(count, sizeof **to, "columns of the bodies", to));
    for (int64_t i = 0; i < count; i++)
        (*to)[i] = from ? from[i] : absent;
    return KITH_OK;
}

static kith_status fill_watch(const kith_bodies *bodies, struct watch *watch)
{
    const int64_t rows = bodies->count;
    KITH_TRY(copy_column(bodies->mass, 1, rows, &watch->mass));
    KITH_TRY(copy_column(bodies->charge, 1, rows, &watch->charge));
    KITH_TRY(copy_column(bodies->radius, 0, rows, &watch->radius));
    KITH_TRY(copy_column(bodies->softening, 0, rows, &watch->softening));
    KITH_TRY(kith_allocate(rows, sizeof *watch->row, "rows of the bodies", &watch->row));
    for (int64_t i = 0; i < rows; i++)
        watch->row[i] = i;
    for (int end = 0; end < 2; end++) {
        const int64_t bytes = bodies->dimensions * (int64_t)sizeof(double);
        KITH_TRY(kith_allocate(rows, bytes, "positions", &watch->position[end]));
        KITH_TRY(kith_allocate(rows, bytes, "velocities", &watch->velocity[end]));
    }
    return KITH_OK;
}

kith_status watch_create(const kith_context *context, const kith_simulation_options *options,
                         bool is_ensemble, const kith_bodies *bodies, struct watch **watch)
{
    struct watch *made = NULL;
    *watch = NULL;
    if (!watch_is_wanted(options))
        return KITH_OK;
    if (is_ensemble)
        return kith_fail(
            KITH_UNSUPPORTED,
            "collisions, encounters and escapes do not support ensembles; simulate the systems "
            "one by one");
    if (context->device.kind != KITH_CPU)
        return kith_fail(
            KITH_UNSUPPORTED,
            "collisions, encounters and escapes are not available on a GPU; simulate on the "
            "CPU");
    KITH_TRY(kith_allocate(1, sizeof *made, "collisions", &made));
    made->on_collision = options->on_collision;
    made->restitution = options->restitution;
    made->encounter = options->encounter;
    made->escape = options->escape;
    made->dimensions = bodies->dimensions;
    made->rows = bodies->count;
    const kith_status status = fill_watch(bodies, made);
    if (status != KITH_OK) {
        watch_free(made);
        return status;
    }
    *watch = made;
    return KITH_OK;
}

void watch_free(struct watch *watch)
{
    if (!watch)
        return;
    contact_search_free(watch->search);
    free(watch->row);
    free(watch->mass);
    free(watch->charge);
    free(watch->radius);
    free(watch->softening);
    for (int end = 0; end < 2; end++) {
        free(watch->position[end]);
        free(watch->velocity[end]);
    }
    free(watch->events.event);
    free(watch->followed.pair);
    free(watch->passed.pair);
    free(watch);
}

/* The arrays of a simulation have zeros after the bodies. */
static void clear_arrays(struct kith_simulation *simulation)
{
    void *const columns[] = {simulation->mass, simulation->shown_mass, simulation->half_softening2,
                             simulation->charge};
    const size_t bytes = (size_t)(simulation->stride * kith_dtype_bytes(simulation->dtype));
    for (int k = 0; k < 4; k++)
        if (columns[k])
            memset(columns[k], 0, bytes);
    for (int32_t array = 0; array < simulation->method->arrays; array++)
        memset(simulation->memory[array], 0, bytes * (size_t)simulation->dimensions);
}

static void gather(const struct watch *watch, int64_t count, const double *column, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = column[watch->row[i]];
}

kith_status watch_fill(struct kith_simulation *simulation, int64_t count, double *position,
                       double *velocity)
{
    const struct watch *watch = simulation->watch;
    double *columns = NULL;
    KITH_TRY(kith_allocate(count, 3 * (int64_t)sizeof *columns, "columns of the bodies", &columns));
    gather(watch, count, watch->mass, columns);
    gather(watch, count, watch->charge, columns + count);
    gather(watch, count, watch->softening, columns + 2 * count);
    const kith_bodies left = {.count = count,
                              .dimensions = simulation->dimensions,
                              .position = position,
                              .velocity = velocity,
                              .mass = columns,
                              .charge = columns + count,
                              .softening = columns + 2 * count};
    const struct radau_clock clock = simulation->clock;
    clear_arrays(simulation);
    simulation->count = count;
    const kith_status status = simulation_refill(simulation, &left);
    free(columns);
    /* The step goes on as long as it was; there is no past to continue. */
    simulation->clock = clock;
    simulation->clock.last_step = 0;
    return status;
}

static bool is_removed(const kith_bodies *bodies, int64_t row)
{
    for (int32_t k = 0; k < bodies->dimensions; k++)
        if (!isnan(bodies->position[row * bodies->dimensions + k]))
            return false;
    return true;
}

/* The bodies that are there, with their rows. */
static void gather_bodies(const kith_bodies *bodies, struct watch *watch, kith_bodies *left)
{
    const int32_t d = bodies->dimensions;
    int64_t count = 0;
    for (int64_t row = 0; row < bodies->count; row++) {
        if (is_removed(bodies, row))
            continue;
        for (int32_t k = 0; k < d; k++) {
            left->position[count * d + k] = bodies->position[row * d + k];
            left->velocity[count * d + k] = bodies->velocity ? bodies->velocity[row * d + k] : 0;
        }
        left->mass[count] = bodies->mass ? bodies->mass[row] : 1;
        left->charge[count] = bodies->charge ? bodies->charge[row] : 1;
        left->radius[count] = bodies->radius ? bodies->radius[row] : 0;
        left->softening[count] = bodies->softening ? bodies->softening[row] : 0;
        watch->row[count++] = row;
    }
    left->count = count;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = watch->row[i];
        watch->mass[row] = left->mass[i];
        watch->charge[row] = left->charge[i];
        watch->radius[row] = left->radius[i];
        watch->softening[row] = left->softening[i];
    }
    watch->has_changed = watch->has_changed || count < watch->rows;
}

static kith_status check_left(const struct kith_simulation *simulation, const kith_bodies *bodies)
{
    for (int64_t row = 0; row < bodies->count; row++) {
        const int32_t d = bodies->dimensions;
        for (int32_t k = 0; k < d && !is_removed(bodies, row); k++)
            if (!isfinite(bodies->position[row * d + k]) ||
                (bodies->velocity && !isfinite(bodies->velocity[row * d + k])))
                return kith_fail(KITH_INVALID_ARGUMENT,
                                 "body %lld (from 0) has a coordinate that is not finite; every "
                                 "number must be finite, or all coordinates NaN of a body removed",
                                 (long long)row);
        if (bodies->mass && !(bodies->mass[row] >= 0 && isfinite(bodies->mass[row])))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "mass of body %lld (from 0) is %g; give a mass ≥ 0", (long long)row,
                             bodies->mass[row]);
        if (bodies->radius && !(bodies->radius[row] >= 0 && isfinite(bodies->radius[row])))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "radius of body %lld (from 0) is %g; give a length ≥ 0",
                             (long long)row, bodies->radius[row]);
    }
    if (bodies->count != simulation->watch->rows || bodies->dimensions != simulation->dimensions)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the bodies are %lld in %d dimensions and the simulation has %lld in %d; "
                         "give as many, or make another simulation",
                         (long long)bodies->count, (int)bodies->dimensions,
                         (long long)simulation->watch->rows, (int)simulation->dimensions);
    return KITH_OK;
}

kith_status watch_set_bodies(struct kith_simulation *simulation, const kith_bodies *bodies)
{
    struct watch *watch = simulation->watch;
    kith_bodies *left = NULL;
    KITH_TRY(check_left(simulation, bodies));
    KITH_TRY(kith_bodies_create(
        bodies->count, bodies->dimensions,
        KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING | KITH_RADIUS, &left));
    gather_bodies(bodies, watch, left);
    watch->knows_start = false;
    simulation->clock = (struct radau_clock){.next_step = simulation->dt};
    simulation->units.length = 0;
    const kith_status status = watch_fill(simulation, left->count, left->position, left->velocity);
    kith_bodies_free(left);
    return status;
}

void watch_spread(const struct watch *watch, int64_t count, double *vectors)
{
    const int32_t d = watch->dimensions;
    int64_t i = count - 1;
    for (int64_t row = watch->rows - 1; row >= 0; row--) {
        const bool is_left = i >= 0 && watch->row[i] == row;
        for (int32_t k = d - 1; k >= 0; k--)
            vectors[row * d + k] = is_left ? vectors[i * d + k] : (double)NAN;
        i -= is_left;
    }
}

static void put_column(const struct watch *watch, int64_t count, const double *now, double *column)
{
    if (!column)
        return;
    memset(column, 0, (size_t)watch->rows * sizeof *column);
    for (int64_t i = 0; i < count; i++)
        column[watch->row[i]] = now[watch->row[i]];
}

void watch_put_columns(const struct watch *watch, int64_t count, kith_bodies *bodies)
{
    if (!watch->has_changed)
        return;
    put_column(watch, count, watch->mass, bodies->mass);
    put_column(watch, count, watch->charge, bodies->charge);
    put_column(watch, count, watch->radius, bodies->radius);
}

kith_status watch_add_event(struct watch *watch, const kith_event *event)
{
    struct watch_events *events = &watch->events;
    if (events->count == events->room) {
        const int64_t room = events->room > 0 ? 2 * events->room : 64;
        kith_event *grown = NULL;
        KITH_TRY(kith_allocate(room, sizeof *grown, "events", &grown));
        if (events->count > 0)
            memcpy(grown, events->event, (size_t)events->count * sizeof *grown);
        free(events->event);
        events->event = grown;
        events->room = room;
    }
    events->event[events->count++] = *event;
    return KITH_OK;
}

kith_status watch_take_events(struct watch *watch, const kith_event *events, int64_t count)
{
    watch->events.count = 0;
    for (int64_t k = 0; k < count; k++)
        KITH_TRY(watch_add_event(watch, &events[k]));
    return KITH_OK;
}

/* Forgets the events after a step. */
static void cut_events(struct watch *watch, int64_t step)
{
    while (watch->events.count > 0 && watch->events.event[watch->events.count - 1].step > step)
        watch->events.count--;
}

kith_status watch_save(const struct watch *watch, int64_t count, kith_checkpoint *checkpoint)
{
    const int64_t rows = watch->rows;
    checkpoint->collisions = watch->collisions;
    if (!watch->has_changed)
        return KITH_OK;
    KITH_TRY(kith_allocate(count, sizeof *checkpoint->rows, "checkpoint", &checkpoint->rows));
    KITH_TRY(kith_allocate(rows, 3 * (int64_t)sizeof *checkpoint->columns, "checkpoint",
                           &checkpoint->columns));
    checkpoint->bodies = count;
    if (count > 0)
        memcpy(checkpoint->rows, watch->row, (size_t)count * sizeof *checkpoint->rows);
    if (rows > 0) {
        const size_t bytes = (size_t)rows * sizeof(double);
        memcpy(checkpoint->columns, watch->mass, bytes);
        memcpy(checkpoint->columns + rows, watch->charge, bytes);
        memcpy(checkpoint->columns + 2 * rows, watch->radius, bytes);
    }
    return KITH_OK;
}

static kith_status check_rows(const struct watch *watch, const kith_checkpoint *checkpoint)
{
    bool fits = checkpoint->bodies >= 0 && checkpoint->bodies <= watch->rows;
    for (int64_t i = 0; fits && i < checkpoint->bodies; i++)
        fits = checkpoint->rows[i] >= (i > 0 ? checkpoint->rows[i - 1] + 1 : 0) &&
               checkpoint->rows[i] < watch->rows;
    return fits ? KITH_OK
                : kith_fail(KITH_INVALID_ARGUMENT,
                            "the checkpoint's rows are not some of the %lld "
                            "of the simulation, ascending",
                            (long long)watch->rows);
}

kith_status watch_restore(struct kith_simulation *simulation, const kith_checkpoint *checkpoint)
{
    struct watch *watch = simulation->watch;
    const int64_t rows = watch->rows;
    watch->knows_start = false;
    watch->collisions = checkpoint->collisions;
    cut_events(watch, checkpoint->steps);
    if (!checkpoint->rows && !watch->has_changed)
        return KITH_OK;
    if (!checkpoint->rows)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "the checkpoint has all bodies, but the simulation has lost some; restore it into a "
            "new simulation");
    KITH_TRY(check_rows(watch, checkpoint));
    memcpy(watch->row, checkpoint->rows, (size_t)checkpoint->bodies * sizeof *watch->row);
    memcpy(watch->mass, checkpoint->columns, (size_t)rows * sizeof(double));
    memcpy(watch->charge, checkpoint->columns + rows, (size_t)rows * sizeof(double));
    memcpy(watch->radius, checkpoint->columns + 2 * rows, (size_t)rows * sizeof(double));
    watch->has_changed = true;
    memset(watch->position[0], 0, (size_t)(rows * watch->dimensions) * sizeof(double));
    return watch_fill(simulation, checkpoint->bodies, watch->position[0], watch->position[0]);
}

const kith_event *kith_simulation_events(const kith_simulation *simulation, int64_t *count)
{
    const struct watch *watch = simulation ? simulation->watch : NULL;
    if (count)
        *count = watch ? watch->events.count : 0;
    return watch ? watch->events.event : NULL;
}

int64_t kith_simulation_collisions(const kith_simulation *simulation)
{
    return simulation && simulation->watch ? simulation->watch->collisions : 0;
}

const int64_t *kith_simulation_rows(const kith_simulation *simulation, int64_t *count)
{
    const bool some = simulation && simulation->watch && simulation->watch->has_changed;
    if (count)
        *count = simulation ? simulation->systems * simulation->count : 0;
    return some ? simulation->watch->row : NULL;
}

bool kith_simulation_has_stopped(const kith_simulation *simulation)
{
    return simulation && simulation->watch && simulation->watch->has_stopped;
}
