/* The memory of a simulation: in from bodies, out to the host, and what the integrators do to it.
 */

#include "simulation/state.h"

#include <float.h>
#include <stdlib.h>

#include "core/memory.h"
#include "simulation/integrator.h"

static const struct kith_backend *backend_of(const struct kith_simulation *simulation)
{
    return simulation->context->backend;
}

kith_status simulation_combine(struct kith_simulation *simulation, int32_t terms,
                               const double *factor, const int32_t *in, int32_t out)
{
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        const void *component[4] = {0};
        for (int32_t term = 0; term < terms; term++)
            component[term] = simulation->vector[in[term]][k];
        KITH_TRY(backend_of(simulation)
                     ->combine(simulation->context, simulation->dtype, simulation->count, terms,
                               factor, component, simulation->vector[out][k]));
    }
    return KITH_OK;
}

static void aim_at(struct forces_problem *problem, void *const position[3],
                   void *const acceleration[3])
{
    for (int32_t k = 0; k < problem->dimensions; k++) {
        problem->target_position[k] = problem->source_position[k] = position[k];
        problem->acceleration[k] = acceleration[k];
    }
}

kith_status simulation_evaluate(struct kith_simulation *simulation, int32_t position,
                                int32_t acceleration)
{
    struct forces_problem problem = simulation->problem;
    aim_at(&problem, simulation->vector[position], simulation->vector[acceleration]);
    simulation->evaluations++;
    return backend_of(simulation)->forces(simulation->context, &problem);
}

kith_status simulation_evaluate_with_jerk(struct kith_simulation *simulation)
{
    struct forces_problem problem = simulation->problem;
    aim_at(&problem, simulation->vector[POSITION], simulation->vector[ACCELERATION]);
    for (int32_t k = 0; k < problem.dimensions; k++) {
        problem.target_velocity[k] = problem.source_velocity[k] = simulation->vector[VELOCITY][k];
        problem.jerk[k] = simulation->vector[JERK][k];
    }
    simulation->evaluations++;
    return backend_of(simulation)->forces(simulation->context, &problem);
}

kith_status simulation_read(struct kith_simulation *simulation, const void *from, double *to)
{
    const int64_t count = simulation->count;
    if (simulation->dtype == KITH_F64)
        return backend_of(simulation)
            ->copy_out(simulation->context, to, from, count * (int64_t)sizeof *to);

    float *narrow = NULL;
    KITH_TRY(kith_allocate(count, sizeof *narrow, "copy of the state", &narrow));
    const kith_status status =
        backend_of(simulation)
            ->copy_out(simulation->context, narrow, from, count * (int64_t)sizeof *narrow);
    for (int64_t i = 0; i < count; i++)
        to[i] = narrow[i];
    free(narrow);
    return status;
}

/* N doubles to the backend's memory, in the simulation's precision. */
static kith_status write_numbers(struct kith_simulation *simulation, const double *from, void *to)
{
    const int64_t count = simulation->count;
    if (simulation->dtype == KITH_F64)
        return backend_of(simulation)
            ->copy_in(simulation->context, to, from, count * (int64_t)sizeof *from);

    float *narrow = NULL;
    KITH_TRY(kith_allocate(count, sizeof *narrow, "copy of the state", &narrow));
    for (int64_t i = 0; i < count; i++)
        narrow[i] = (float)from[i];
    const kith_status status =
        backend_of(simulation)
            ->copy_in(simulation->context, to, narrow, count * (int64_t)sizeof *narrow);
    free(narrow);
    return status;
}

kith_status simulation_read_vectors(struct kith_simulation *simulation, int32_t array, double *rows)
{
    const int32_t dimensions = simulation->dimensions;
    double *component = NULL;
    KITH_TRY(kith_allocate(simulation->count, sizeof *component, "copy of the state", &component));
    kith_status status = KITH_OK;
    for (int32_t k = 0; k < dimensions && status == KITH_OK; k++) {
        status = simulation_read(simulation, simulation->vector[array][k], component);
        for (int64_t i = 0; i < simulation->count; i++)
            rows[i * dimensions + k] = component[i] * simulation->units.length;
    }
    free(component);
    return status;
}

kith_status simulation_write_vectors(struct kith_simulation *simulation, int32_t array,
                                     const double *rows)
{
    const int32_t dimensions = simulation->dimensions;
    double *component = NULL;
    KITH_TRY(kith_allocate(simulation->count, sizeof *component, "copy of the state", &component));
    kith_status status = KITH_OK;
    for (int32_t k = 0; k < dimensions && status == KITH_OK; k++) {
        for (int64_t i = 0; i < simulation->count; i++)
            component[i] = rows[i * dimensions + k] / simulation->units.length;
        status = write_numbers(simulation, component, simulation->vector[array][k]);
    }
    free(component);
    return status;
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
    double length = largest(bodies->position, numbers);
    length = fmax(length, options->softening_of_bodies ? largest(bodies->softening, bodies->count)
                                                       : options->softening);
    length = fmax(length, largest(bodies->velocity, numbers) * simulation->dt);
    simulation->units.length = forces_unit_for(length);
    simulation->units.mass =
        forces_unit_for(bodies->mass ? largest(bodies->mass, bodies->count) : 1);

    const double g = options->gravitational_constant == 0 ? 1 : options->gravitational_constant;
    const double scaled = forces_scaled_g(g, simulation->units);
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
    double *column = NULL;
    KITH_TRY(kith_allocate(simulation->count, sizeof *column, "masses", &column));
    for (int64_t i = 0; i < simulation->count; i++) {
        const double scaled = (numbers ? numbers[i] : 1) / unit;
        column[i] = half_square ? scaled * scaled / 2 : scaled;
    }
    const kith_status status = write_numbers(simulation, column, *memory);
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

    KITH_TRY(
        load_column(simulation, bodies->mass, simulation->units.mass, false, &simulation->mass));
    problem->source_mass = simulation->mass;
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
}
