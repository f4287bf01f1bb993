/* The state of a simulation: what the integrators do to it, out to the host and in again. */

#include "simulation/state.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "forces/advice.h"
#include "forces/solver.h"
#include "simulation/domain.h"
#include "simulation/integrator.h"
#include "simulation/massive.h"
#include "simulation/slice.h"

kith_status simulation_combine(struct kith_simulation *simulation, int32_t terms,
                               const double *factor, const int32_t *in, int32_t out)
{
    const int64_t numbers = simulation_layout(simulation, simulation->systems).numbers;
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        const void *component[4] = {0};
        for (int32_t term = 0; term < terms; term++)
            component[term] = simulation->vector[in[term]][k];
        KITH_TRY(simulation->context->services->combine(simulation->context, simulation->dtype,
                                                        numbers, terms, factor, component,
                                                        simulation->vector[out][k]));
    }
    return KITH_OK;
}

void simulation_clear(struct kith_simulation *simulation, int32_t array)
{
    const double zero = 0;
    const int64_t numbers = simulation->stride * simulation->dimensions;
    const void *position = simulation->memory[POSITION];
    if (simulation->context->device.kind == KITH_CPU)
        memset(simulation->memory[array], 0, (size_t)numbers * sizeof(double));
    else
        (void)simulation->context->services->combine(simulation->context, KITH_F64, numbers, 1,
                                                     &zero, &position, simulation->memory[array]);
}

kith_status simulation_accumulate(struct kith_simulation *simulation, int32_t terms,
                                  const double *factor, const int32_t *in, int32_t array)
{
    simulation->has_potentials = simulation->has_potentials && array != POSITION;
    const int64_t numbers = simulation_layout(simulation, simulation->systems).numbers;
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        const void *component[4] = {0};
        for (int32_t term = 0; term < terms; term++)
            component[term] = simulation->vector[in[term]][k];
        KITH_TRY(simulation->context->services->accumulate(
            simulation->context, simulation->dtype, numbers, terms, factor, component,
            simulation->vector[array][k], simulation->vector[array + LOST_POSITION][k]));
    }
    return KITH_OK;
}

static struct forces_problem problem_at(const struct kith_simulation *simulation, int32_t position,
                                        int32_t acceleration)
{
    struct forces_problem problem = simulation->problem;
    for (int32_t k = 0; k < problem.dimensions; k++) {
        problem.target_position[k] = problem.source_position[k] = simulation->vector[position][k];
        problem.acceleration[k] = simulation->vector[acceleration][k];
    }
    return problem;
}

static struct forces_problem problem_with_jerk(const struct kith_simulation *simulation)
{
    struct forces_problem problem = problem_at(simulation, POSITION, ACCELERATION);
    for (int32_t k = 0; k < problem.dimensions; k++) {
        problem.target_velocity[k] = problem.source_velocity[k] = simulation->vector[VELOCITY][k];
        problem.jerk[k] = simulation->vector[JERK][k];
    }
    return problem;
}

kith_status simulation_check_solver(const struct kith_simulation *simulation,
                                    const kith_forces_options *forces)
{
    const kith_solver *solver = simulation->solver;
    if (solver->on_host && simulation->context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "solver is %s, which computes on the host; simulate on the CPU",
                         solver->name);
    if (solver->on_host && simulation->dtype != KITH_F64)
        return kith_fail(
            KITH_UNSUPPORTED,
            "solver is %s, which computes in double precision, but precision is single; use double",
            solver->name);
    struct forces_problem of_steps = simulation->method->has_jerk
                                         ? problem_with_jerk(simulation)
                                         : problem_at(simulation, POSITION, ACCELERATION);
    struct forces_problem of_diagnostics = problem_at(simulation, POSITION, ACCELERATION);
    of_diagnostics.dtype = KITH_F64;
    of_diagnostics.potential = of_diagnostics.acceleration[0];
    KITH_TRY(forces_check_suits(simulation->context, solver, &of_steps));
    KITH_TRY(forces_check_suits(simulation->context, solver, &of_diagnostics));
    if (simulation->massive)
        of_steps.source_count = simulation->massive->count;
    if (!simulation->method->take) /* else another solver is refused */
        forces_advise(simulation->context, forces, &of_steps);
    return KITH_OK;
}

static kith_status evaluate(struct kith_simulation *simulation,
                            const struct forces_problem *problem)
{
    struct forces_problem own = *problem;
    KITH_TRY(massive_take(simulation, &own));
    const bool is_widened =
        simulation->slice && !forces_takes_slices(simulation->context, simulation->solver, &own);
    struct forces_problem of_sources = own;
    of_sources.is_slice = simulation->slice && !is_widened;
    if (is_widened)
        KITH_TRY(forces_widen(simulation->context, &own, &simulation->slice->wide, &of_sources));
    KITH_TRY(forces_evaluate(simulation->context, simulation->solver, &of_sources,
                             &simulation->prepared));
    if (is_widened)
        KITH_TRY(forces_keep_own(simulation->context, &of_sources, problem));
    return KITH_OK;
}

kith_status simulation_evaluate(struct kith_simulation *simulation, int32_t position,
                                int32_t acceleration)
{
    const struct forces_problem problem = problem_at(simulation, position, acceleration);
    simulation->has_potentials = false;
    simulation->evaluations++;
    return evaluate(simulation, &problem);
}

kith_status simulation_evaluate_last(struct kith_simulation *simulation, bool is_sampled)
{
    struct forces_problem problem = problem_at(simulation, POSITION, ACCELERATION);
    const bool is_wanted = is_sampled || simulation->potentials_are_free;
    simulation->has_potentials = false;
    problem.potential = is_wanted && !simulation->massive ? simulation->potential : NULL;
    simulation->evaluations++;
    KITH_TRY(evaluate(simulation, &problem));
    simulation->has_potentials = problem.potential != NULL;
    return KITH_OK;
}

kith_status simulation_evaluate_potentials(struct kith_simulation *simulation,
                                           void *const acceleration[3])
{
    struct forces_problem problem = problem_at(simulation, POSITION, ACCELERATION);
    for (int32_t k = 0; k < problem.dimensions; k++)
        problem.acceleration[k] = acceleration[k];
    problem.potential = simulation->potential;
    return evaluate(simulation, &problem);
}

kith_status simulation_allocate_potentials(struct kith_simulation *simulation)
{
    const struct integrator_method *method = simulation->method;
    const struct forces_problem problem = problem_at(simulation, POSITION, ACCELERATION);
    const kith_solver *solver = simulation->solver;
    const enum solver_potentials potentials =
        solver->potentials ? solver->potentials(simulation->context, &problem) : other_potentials;
    if (method->composition.stage_count == 0 || method->kept <= ACCELERATION || simulation->watch ||
        simulation->is_ensemble || potentials == other_potentials)
        return KITH_OK;
    simulation->potentials_are_free = potentials == free_potentials;
    return slice_agree(simulation, simulation->context->services->allocate(
                                       simulation->context, simulation->stride,
                                       kith_dtype_bytes(simulation->dtype),
                                       "state of the simulation", &simulation->potential));
}

kith_status simulation_evaluate_with_jerk(struct kith_simulation *simulation)
{
    const struct forces_problem problem = problem_with_jerk(simulation);
    simulation->evaluations++;
    return evaluate(simulation, &problem);
}

/* Copies the numbers of a component that belong to some systems to the host: body by body, unless
 * it is all of them. */
static kith_status copy_out(struct kith_simulation *simulation, const void *from,
                            struct system_range range, void *to)
{
    const struct device_services *services = simulation->context->services;
    const int64_t real = kith_dtype_bytes(simulation->dtype);
    const struct system_layout all = simulation_layout(simulation, simulation->systems);
    const struct system_layout some = simulation_layout(simulation, range.count);
    if (range.count == simulation->systems)
        return services->copy_out(simulation->context, to, from, all.numbers * real);
    for (int64_t i = 0; i < simulation->count; i++)
        KITH_TRY(services->copy_out(simulation->context, (char *)to + i * some.step * real,
                                    (const char *)from + (i * all.step + range.first) * real,
                                    range.count * real));
    return KITH_OK;
}

/* Numbers of the simulation's precision in the backend's memory (a component, the masses), as they
 * are, to doubles on the host: those of some systems, in the layout of this many. */
static kith_status read_numbers(struct kith_simulation *simulation, struct system_range range,
                                const void *from, double *to)
{
    if (simulation->dtype == KITH_F64)
        return copy_out(simulation, from, range, to);

    const int64_t numbers = simulation_layout(simulation, range.count).numbers;
    float *narrow = NULL;
    KITH_TRY(kith_allocate(numbers, sizeof *narrow, "copy of the state", &narrow));
    const kith_status status = copy_out(simulation, from, range, narrow);
    for (int64_t i = 0; i < numbers; i++)
        to[i] = narrow[i];
    free(narrow);
    return status;
}

kith_status simulation_write(struct kith_simulation *simulation, const double *from, void *to)
{
    const int64_t numbers = simulation_layout(simulation, simulation->systems).numbers;
    if (simulation->dtype == KITH_F64)
        return simulation->context->services->copy_in(simulation->context, to, from,
                                                      numbers * (int64_t)sizeof *from);

    float *narrow = NULL;
    KITH_TRY(kith_allocate(numbers, sizeof *narrow, "copy of the state", &narrow));
    for (int64_t i = 0; i < numbers; i++)
        narrow[i] = (float)from[i];
    const kith_status status = simulation->context->services->copy_in(
        simulation->context, to, narrow, numbers * (int64_t)sizeof *narrow);
    free(narrow);
    return status;
}

kith_status simulation_read_vectors(struct kith_simulation *simulation, struct system_range range,
                                    int32_t array, double *rows)
{
    const int32_t dimensions = simulation->dimensions;
    const struct system_layout layout = simulation_layout(simulation, range.count);
    double *component = NULL;
    KITH_TRY(simulation_gather(simulation, array));
    KITH_TRY(kith_allocate(layout.numbers, sizeof *component, "copy of the state", &component));
    kith_status status = KITH_OK;
    for (int32_t k = 0; k < dimensions && status == KITH_OK; k++) {
        double *row = rows + k;
        status = read_numbers(simulation, range, simulation->vector[array][k], component);
        for (int64_t s = 0; s < range.count; s++)
            for (int64_t i = 0; i < simulation->count; i++, row += dimensions)
                *row = component[i * layout.step + s] * simulation->units.length;
    }
    free(component);
    return status;
}

kith_status simulation_write_vectors(struct kith_simulation *simulation, int32_t array,
                                     const double *rows)
{
    const int32_t dimensions = simulation->dimensions;
    const struct system_layout layout = simulation_layout(simulation, simulation->systems);
    double *component = NULL;
    simulation->has_potentials = false;
    KITH_TRY(simulation_reunite(simulation));
    KITH_TRY(kith_allocate(layout.numbers, sizeof *component, "copy of the state", &component));
    kith_status status = KITH_OK;
    for (int32_t k = 0; k < dimensions && status == KITH_OK; k++) {
        const double *row = rows + k;
        for (int64_t s = 0; s < simulation->systems; s++)
            for (int64_t i = 0; i < simulation->count; i++, row += dimensions)
                component[i * layout.step + s] = *row / simulation->units.length;
        status = simulation_write(simulation, component, simulation->vector[array][k]);
    }
    free(component);
    return status;
}
