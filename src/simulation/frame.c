#include "simulation/frame.h"

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

/* A component of all bodies, system after system. */
static void put_component(const struct sample *sample, const double *column, double unit,
                          double *restrict row)
{
    for (int64_t s = 0; s < sample->range.count; s++)
        for (int64_t i = 0; i < sample->count; i++, row += sample->dimensions)
            *row = column[i * sample->layout.step + s] * unit;
}

kith_status frame_finish(struct frame *frame, kith_bodies *bodies, kith_diagnostics *diagnostics)
{
    const struct sample *sample = &frame->sample;
    const struct forces_units units = frame->simulation->units;
    bodies->time = frame->time;
    if (frame->at_once)
        return KITH_OK;
    KITH_TRY(sample_finish(frame->simulation));
    for (int32_t k = 0; k < sample->dimensions; k++) {
        put_component(sample, sample->position[k], units.length, bodies->position + k);
        put_component(sample, sample->velocity[k], units.length, bodies->velocity + k);
    }
    const struct watch *watch = frame->simulation->watch;
    if (watch) {
        watch_spread(watch, sample->count, bodies->position);
        watch_spread(watch, sample->count, bodies->velocity);
    }
    diagnose_sample(frame->simulation, sample, diagnostics);
    return KITH_OK;
}
