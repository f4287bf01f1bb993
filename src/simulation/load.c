/* The memory of a simulation: allocated, and filled from bodies. */

#include <float.h>
#include <stdlib.h>

#include "core/memory.h"
#include "simulation/integrator.h"

static const struct kith_backend *backend_of(const struct kith_simulation *simulation)
{
    return simulation->context->backend;
}

static double largest(const double *numbers, int64_t count)
{
    double found = 0;
    for (int64_t i = 0; numbers && i < count; i++)
        found = fmax(found, fabs(numbers[i]));
    return found;
}

/* What the bodies cover in one step counts as a length too: a lone body may start at the origin. */
static kith_status choose_units(struct kith_simulation *simulation,
                                const kith_simulation_options *options, const kith_bodies *bodies)
{
    const int64_t numbers = bodies->count * bodies->dimensions;
    if (simulation->law.law) {
        simulation->units = (struct forces_units){1, 1};
        simulation->problem.gravitational_constant = 1;
        return KITH_OK;
    }
    double length = largest(bodies->position, numbers);
    length = fmax(length, options->softening_of_bodies ? largest(bodies->softening, bodies->count)
                                                       : options->softening);
    length = fmax(length, largest(bodies->velocity, numbers) * simulation->dt);
    simulation->units.length = forces_unit_for(length);
    simulation->units.mass =
        forces_unit_for(bodies->mass ? largest(bodies->mass, bodies->count) : 1);

    const double scaled = forces_scaled_g(simulation->law.g, simulation->units);
    const double limit = simulation->dtype == KITH_F64 ? DBL_MAX : (double)FLT_MAX;
    if (!(fabs(scaled) <= limit))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "G·mass/length³ is about %g, too large for %s precision; give bodies "
                         "and G in other units of time or length",
                         scaled, simulation->dtype == KITH_F64 ? "double" : "single");
    simulation->problem.gravitational_constant = scaled;
    return KITH_OK;
}

static kith_status allocate_arrays(struct kith_simulation *simulation)
{
    const struct kith_backend *backend = backend_of(simulation);
    const int64_t bytes_each = kith_dtype_bytes(simulation->dtype);
    const struct system_layout layout = simulation_layout(simulation, simulation->systems);
    simulation->stride = kith_padded(layout.numbers > 0 ? layout.numbers : 1);
    for (int32_t array = 0; array < simulation->method->arrays; array++) {
        KITH_TRY(backend->allocate(simulation->context, simulation->stride,
                                   bytes_each * simulation->dimensions, "state of the simulation",
                                   &simulation->memory[array]));
        for (int32_t k = 0; k < simulation->dimensions; k++)
            simulation->vector[array][k] =
                (char *)simulation->memory[array] + k * simulation->stride * bytes_each;
    }
    return KITH_OK;
}

/* A number a body: (numbers[i] / unit), or ½ (numbers[i] / unit)² for softening lengths; 1 / unit
 * where numbers are absent. */
static kith_status load_column(struct kith_simulation *simulation, const double *numbers,
                               double unit, bool half_square, void **memory)
{
    KITH_TRY(backend_of(simulation)
                 ->allocate(simulation->context, simulation->stride,
                            kith_dtype_bytes(simulation->dtype), "masses", memory));
    const struct system_layout layout = simulation_layout(simulation, simulation->systems);
    double *column = NULL;
    KITH_TRY(kith_allocate(layout.numbers, sizeof *column, "masses", &column));
    for (int64_t s = 0, row = 0; s < simulation->systems; s++)
        for (int64_t i = 0; i < simulation->count; i++, row++) {
            const double scaled = (numbers ? numbers[row] : 1) / unit;
            column[i * layout.step + s] = half_square ? scaled * scaled / 2 : scaled;
        }
    const kith_status status = simulation_write(simulation, column, *memory);
    free(column);
    return status;
}

static kith_status load_problem(struct kith_simulation *simulation,
                                const kith_simulation_options *options, const kith_bodies *bodies)
{
    struct forces_problem *problem = &simulation->problem;
    problem->dtype = simulation->dtype;
    problem->dimensions = simulation->dimensions;
    problem->self = true;
    problem->target_count = problem->source_count = simulation->count;
    if (simulation->is_ensemble) {
        problem->system_count = simulation->systems;
        problem->system_stride = kith_padded(simulation->systems);
    }

    KITH_TRY(
        load_column(simulation, bodies->mass, simulation->units.mass, false, &simulation->mass));
    problem->source_mass = simulation->mass;
    if (simulation->law.law) {
        problem->law = simulation->law.law;
        problem->target_mass = simulation->mass;
    }
    if (simulation->law.uses_charges) {
        KITH_TRY(load_column(simulation, bodies->charge, 1, false, &simulation->charge));
        problem->target_charge = problem->source_charge = simulation->charge;
    }
    if (options->softening_of_bodies) {
        KITH_TRY(load_column(simulation, bodies->softening, simulation->units.length, true,
                             &simulation->half_softening2));
        problem->target_half_softening2 = simulation->half_softening2;
        problem->source_half_softening2 = simulation->half_softening2;
    } else {
        const double softening = options->softening / simulation->units.length;
        problem->softening2 = softening * softening;
    }
    return KITH_OK;
}

kith_status simulation_load(struct kith_simulation *simulation,
                            const kith_simulation_options *options, const kith_bodies *bodies)
{
    KITH_TRY(choose_units(simulation, options, bodies));
    KITH_TRY(allocate_arrays(simulation));
    KITH_TRY(load_problem(simulation, options, bodies));
    KITH_TRY(simulation_write_vectors(simulation, POSITION, bodies->position));
    return bodies->velocity ? simulation_write_vectors(simulation, VELOCITY, bodies->velocity)
                            : KITH_OK;
}

void simulation_release(struct kith_simulation *simulation)
{
    const struct kith_backend *backend = backend_of(simulation);
    for (int32_t array = 0; array < MAX_ARRAYS; array++)
        backend->release(simulation->context, simulation->memory[array]);
    backend->release(simulation->context, simulation->mass);
    backend->release(simulation->context, simulation->half_softening2);
    backend->release(simulation->context, simulation->charge);
}
