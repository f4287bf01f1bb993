#include "simulation/frame.h"

#include "device/threads.h"
#include "simulation/diagnostics.h"
#include "simulation/watch.h"

kith_status frame_allocate(struct kith_simulation *simulation, struct frame *frame)
{
    const int64_t systems = simulation->systems;
    *frame = (struct frame){.simulation = simulation};
    frame->at_once = diagnosed_at_once(simulation, systems) < systems;
    return frame->at_once ? KITH_OK : sample_allocate(simulation, systems, true, &frame->sample);
}

void frame_free(struct frame *frame)
{
    if (frame->simulation && !frame->at_once)
        sample_free(frame->simulation, &frame->sample);
    *frame = (struct frame){0};
}

kith_status frame_begin(struct frame *frame, kith_bodies *bodies, kith_diagnostics *diagnostics)
{
    struct kith_simulation *simulation = frame->simulation;
    frame->time = kith_simulation_time(simulation);
    if (!frame->at_once)
        return sample_begin(simulation, simulation_all(simulation), &frame->sample);
    KITH_TRY(kith_simulation_get_bodies(simulation, bodies));
    return kith_simulation_diagnose_systems(simulation, 0, simulation->systems, diagnostics);
}

enum { rows_of_task = 1 << 14 };

static const double rows_a_second = 1e8; /* of one thread */

struct putting {
    const struct sample *sample;
    struct forces_units units;
    kith_bodies *bodies;
};

/* Positions and velocities of rows in the order of the bodies, system after system. */
static void put_rows(void *argument, int64_t task)
{
    const struct putting *putting = argument;
    const struct sample *sample = putting->sample;
    const int32_t dimensions = sample->dimensions;
    const double unit = putting->units.length;
    const int64_t rows = sample->range.count * sample->count, begin = task * rows_of_task;
    const int64_t end = rows - begin < rows_of_task ? rows : begin + rows_of_task;
    double *restrict position = putting->bodies->position + begin * dimensions;
    double *restrict velocity = putting->bodies->velocity + begin * dimensions;
    for (int64_t row = begin, s = begin / sample->count; row < end; s++) {
        const int64_t first = s * sample->count;
        const int64_t past = first + sample->count < end ? first + sample->count : end;
        for (; row < past; row++) {
            const int64_t at = (row - first) * sample->layout.step + s;
            for (int32_t k = 0; k < dimensions; k++) {
                *position++ = sample->position[k][at] * unit;
                *velocity++ = sample->velocity[k][at] * unit;
            }
        }
    }
}

static void put_bodies(kith_context *context, const struct sample *sample,
                       struct forces_units units, kith_bodies *bodies)
{
    struct putting putting = {sample, units, bodies};
    const int64_t rows = sample->range.count * sample->count;
    kith_for_each_whole(context, kith_threads_for(context, (double)rows / rows_a_second),
                        (rows + rows_of_task - 1) / rows_of_task, put_rows, &putting);
}

kith_status frame_finish(struct frame *frame, kith_bodies *bodies, kith_diagnostics *diagnostics)
{
    const struct sample *sample = &frame->sample;
    const struct forces_units units = frame->simulation->units;
    bodies->time = frame->time;
    if (frame->at_once)
        return KITH_OK;
    KITH_TRY(sample_finish(frame->simulation));
    put_bodies(frame->simulation->context, sample, units, bodies);
    const struct watch *watch = frame->simulation->watch;
    if (watch) {
        watch_spread(watch, sample->count, bodies->position);
        watch_spread(watch, sample->count, bodies->velocity);
    }
    diagnose_sample(frame->simulation, sample, diagnostics);
    return KITH_OK;
}
