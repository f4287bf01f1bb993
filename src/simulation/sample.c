/* The state of some systems, and their accelerations and potentials evaluated in double precision.
 */

#include "simulation/sample.h"

#include <stdlib.h>

enum { host_columns = 11, backend_columns = 9 };

/* An array's numbers with room for the kernels' whole vectors. */
static int64_t room_for(const struct system_layout *layout)
{
    return kith_padded(layout->numbers > 0 ? layout->numbers : 1);
}

kith_status sample_allocate(struct kith_simulation *simulation, int64_t systems,
                            struct sample *sample)
{
    const struct system_layout layout = simulation_layout(simulation, systems);
    const int64_t room = room_for(&layout), real = sizeof(double);
    *sample = (struct sample){.count = simulation->count, .dimensions = simulation->dimensions};
    KITH_TRY(kith_allocate(room, host_columns * real, "diagnostics", &sample->memory));
    return simulation->context->backend->allocate(simulation->context, room, backend_columns * real,
                                                  "diagnostics", &sample->backend_memory);
}

void sample_free(struct kith_simulation *simulation, struct sample *sample)
{
    simulation->context->backend->release(simulation->context, sample->backend_memory);
    free(sample->memory);
}

static void lay_out(const struct kith_simulation *simulation, struct system_range range,
                    struct sample *sample)
{
    sample->range = range;
    sample->layout = simulation_layout(simulation, range.count);
    const int64_t room = room_for(&sample->layout);
    for (int32_t k = 0; k < 3; k++) {
        sample->position[k] = sample->memory + k * room;
        sample->velocity[k] = sample->memory + (3 + k) * room;
        sample->acceleration[k] = sample->memory + (6 + k) * room;
    }
    sample->mass = sample->memory + 9 * room;
    sample->potential = sample->memory + 10 * room;
}

static kith_status read_state(struct kith_simulation *simulation, const struct sample *sample)
{
    const struct system_range range = sample->range;
    for (int32_t k = 0; k < sample->dimensions; k++) {
        KITH_TRY(simulation_read(simulation, range, simulation->vector[POSITION][k],
                                 sample->position[k]));
        KITH_TRY(simulation_read(simulation, range, simulation->vector[VELOCITY][k],
                                 sample->velocity[k]));
    }
    return simulation_read(simulation, range, simulation->mass, sample->mass);
}

/* The backend's columns: positions, accelerations, masses, potentials, softening. */
static kith_status evaluate(struct kith_simulation *simulation, const struct sample *sample)
{
    const struct kith_backend *backend = simulation->context->backend;
    double *const memory = sample->backend_memory;
    const int64_t room = room_for(&sample->layout);
    const int64_t bytes = sample->layout.numbers * (int64_t)sizeof(double);
    double *const mass = memory + 6 * room, *const potential = memory + 7 * room;
    struct forces_problem problem = simulation->problem;

    problem.dtype = KITH_F64;
    problem.source_mass = mass;
    problem.potential = potential;
    if (simulation->is_ensemble) {
        problem.system_count = sample->range.count;
        problem.system_stride = sample->layout.step;
    }
    KITH_TRY(backend->copy_in(simulation->context, mass, sample->mass, bytes));
    for (int32_t k = 0; k < sample->dimensions; k++) {
        double *const position = memory + k * room;
        KITH_TRY(backend->copy_in(simulation->context, position, sample->position[k], bytes));
        problem.target_position[k] = problem.source_position[k] = position;
        problem.acceleration[k] = memory + (3 + k) * room;
    }
    if (simulation->half_softening2) {
        /* The sample's potentials are not there yet: their place serves for the copy. */
        double *const softening = memory + 8 * room;
        KITH_TRY(simulation_read(simulation, sample->range, simulation->half_softening2,
                                 sample->potential));
        KITH_TRY(backend->copy_in(simulation->context, softening, sample->potential, bytes));
        problem.target_half_softening2 = problem.source_half_softening2 = softening;
    }

    KITH_TRY(backend->forces(simulation->context, &problem));
    for (int32_t k = 0; k < sample->dimensions; k++)
        KITH_TRY(backend->copy_out(simulation->context, sample->acceleration[k],
                                   problem.acceleration[k], bytes));
    return backend->copy_out(simulation->context, sample->potential, potential, bytes);
}

kith_status sample_take(struct kith_simulation *simulation, struct system_range range,
                        struct sample *sample)
{
    lay_out(simulation, range, sample);
    KITH_TRY(read_state(simulation, sample));
    return evaluate(simulation, sample);
}
