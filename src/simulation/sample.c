/* The state of some systems, and their accelerations and potentials evaluated in double precision:
 * put together in the backend's memory, and from a GPU copied to the host as one. */

#include "simulation/sample.h"
#include "forces/solver.h"
#include "simulation/domain.h"
#include "simulation/massive.h"
#include "simulation/slice.h"

#include <math.h>
#include <stdlib.h>

/* Of both memories, in one order; those from SOFTENINGS on are the backend's alone. */
enum column {
    POSITIONS,
    VELOCITIES = 3,
    ACCELERATIONS = 6,
    MASSES = 9,
    POTENTIALS,
    SOFTENINGS,
    CHARGES,
    WEIGHTS
};
enum { host_columns = SOFTENINGS, backend_columns = WEIGHTS + 1, SPARE = SOFTENINGS };

/* An array's numbers with room for the kernels' whole vectors. */
static int64_t room_for(const struct system_layout *layout)
{
    return kith_padded(layout->numbers > 0 ? layout->numbers : 1);
}

kith_status sample_allocate(struct kith_simulation *simulation, int64_t systems, bool aside,
                            struct sample *sample)
{
    const struct device_services *services = simulation->context->services;
    const struct system_layout layout = simulation_layout(simulation, systems);
    const int64_t room = room_for(&layout), real = sizeof(double);
    *sample = (struct sample){.count = simulation->count,
                              .potential_is_energy = simulation->problem.law != NULL,
                              .dimensions = simulation->dimensions,
                              .in_backends_host_memory = aside};
    KITH_TRY(services->allocate(simulation->context, room, backend_columns * real, "diagnostics",
                                &sample->backend_memory));
    if (simulation->context->device.kind == KITH_CPU) {
        sample->memory = sample->backend_memory;
        return KITH_OK;
    }
    return aside ? services->allocate_host(simulation->context, room, host_columns * real,
                                           "diagnostics", &sample->memory)
                 : kith_allocate_unset(room, host_columns * real, "diagnostics", &sample->memory);
}

void sample_free(struct kith_simulation *simulation, struct sample *sample)
{
    const struct device_services *services = simulation->context->services;
    services->finish_copies(simulation->context);
    if (sample->memory != sample->backend_memory && sample->in_backends_host_memory)
        services->release_host(simulation->context, sample->memory);
    else if (sample->memory != sample->backend_memory)
        free(sample->memory);
    services->release(simulation->context, sample->backend_memory);
    *sample = (struct sample){0};
}

static void lay_out(const struct kith_simulation *simulation, struct system_range range,
                    struct sample *sample)
{
    sample->range = range;
    sample->bodies = simulation_bodies(simulation);
    sample->of_slice = simulation->slice ? simulation->context : NULL;
    sample->count = simulation->count; /* bodies may have been removed */
    sample->layout = simulation_layout(simulation, range.count);
    const int64_t room = room_for(&sample->layout);
    for (int32_t k = 0; k < 3; k++) {
        sample->position[k] = sample->memory + (POSITIONS + k) * room;
        sample->velocity[k] = sample->memory + (VELOCITIES + k) * room;
        sample->acceleration[k] = sample->memory + (ACCELERATIONS + k) * room;
    }
    sample->mass = sample->memory + MASSES * room;
    sample->potential = sample->memory + POTENTIALS * room;
}

static double *backend_column(const struct sample *sample, int32_t column)
{
    return sample->backend_memory + column * room_for(&sample->layout);
}

/* Puts the sample's systems of a component into a column: body by body, unless it is all of them.
 */
static kith_status gather(struct kith_simulation *simulation, const struct sample *sample,
                          const void *from, int32_t column)
{
    const struct device_services *services = simulation->context->services;
    const int64_t real = kith_dtype_bytes(simulation->dtype);
    const struct system_layout all = simulation_layout(simulation, simulation->systems);
    double *const to = backend_column(sample, column);
    if (sample->range.count == simulation->systems)
        return services->convert_to_double(simulation->context, simulation->dtype, all.numbers,
                                           from, to);
    for (int64_t i = 0; i < sample->count; i++)
        KITH_TRY(services->convert_to_double(
            simulation->context, simulation->dtype, sample->range.count,
            (const char *)from + (i * all.step + sample->range.first) * real,
            to + i * sample->layout.step));
    return KITH_OK;
}

static kith_status gather_state(struct kith_simulation *simulation, const struct sample *sample)
{
    for (int32_t k = 0; k < sample->dimensions; k++) {
        KITH_TRY(gather(simulation, sample, simulation->vector[POSITION][k], POSITIONS + k));
        KITH_TRY(gather(simulation, sample, simulation->vector[VELOCITY][k], VELOCITIES + k));
    }
    if (simulation->half_softening2)
        KITH_TRY(gather(simulation, sample, simulation->half_softening2, SOFTENINGS));
    if (simulation->charge)
        KITH_TRY(gather(simulation, sample, simulation->charge, CHARGES));
    if (simulation->weight)
        KITH_TRY(gather(simulation, sample, simulation->weight, WEIGHTS));
    return gather(simulation, sample, simulation->mass, MASSES);
}

/* What is prepared has a list of pairs on the CPU, and of periodic images the setting. */
static kith_status solve_all(struct kith_simulation *simulation,
                             const struct forces_problem *problem)
{
    const kith_solver *solver = simulation->solver;
    const bool is_kept = problem->space.totals && simulation->context->device.kind == KITH_CPU;
    return is_kept || solver->is_periodic
               ? forces_evaluate(simulation->context, solver, problem, &simulation->prepared)
               : forces_solve(simulation->context, solver, problem);
}

static kith_status solve(struct kith_simulation *simulation, const struct forces_problem *problem,
                         struct forces_wide *wide)
{
    const kith_context *context = simulation->context;
    struct forces_problem all = *problem;
    all.is_slice = simulation->slice && forces_takes_slices(context, simulation->solver, problem);
    if (!simulation->slice || all.is_slice)
        return solve_all(simulation, &all);
    KITH_TRY(forces_widen(simulation->context, problem, wide, &all));
    KITH_TRY(solve_all(simulation, &all));
    return forces_keep_own(simulation->context, &all, problem);
}

/* Bodies without mass have no energy and add none. */
static kith_status solve_massive(struct kith_simulation *simulation,
                                 const struct forces_problem *problem)
{
    struct forces_wide wide = {0};
    struct forces_problem among;
    KITH_TRY(massive_begin_sample(simulation, problem, &among));
    const kith_status status = solve(simulation, &among, &wide);
    forces_wide_free(simulation->context, &wide);
    return status == KITH_OK ? massive_end_sample(simulation, &among, problem) : status;
}

/* By the ranks of a job; done is false if it is to be done otherwise. */
static kith_status evaluate_divided(struct kith_simulation *simulation, struct sample *sample,
                                    bool *done)
{
    KITH_TRY(simulation_diagnose_divided(simulation, &sample->totals, done));
    if (!*done)
        return KITH_OK;
    sample->has_totals = true;
    sample->totals.volume =
        simulation->problem.space.volume * pow(simulation->units.length, simulation->dimensions);
    for (int32_t k = 0; k < sample->dimensions; k++)
        KITH_TRY(
            gather(simulation, sample, simulation->vector[ACCELERATION][k], ACCELERATIONS + k));
    return KITH_OK;
}

/* Those of the last step's forces. In single precision they are found again where a simulation does
 * not have them, so that a resumed one has the same diagnostics; in double precision an evaluation
 * for the diagnostics alone finds the same bits. */
static kith_status gather_last(struct kith_simulation *simulation, const struct sample *sample,
                               bool *done)
{
    void *acceleration[3];
    *done = simulation->has_potentials || (simulation->potential && simulation->dtype == KITH_F32);
    if (!*done)
        return KITH_OK;
    for (int32_t k = 0; k < sample->dimensions; k++)
        acceleration[k] = simulation->has_potentials ? simulation->vector[ACCELERATION][k]
                                                     : backend_column(sample, SPARE + k);
    if (!simulation->has_potentials)
        KITH_TRY(simulation_evaluate_potentials(simulation, acceleration));
    for (int32_t k = 0; k < sample->dimensions; k++)
        KITH_TRY(gather(simulation, sample, acceleration[k], ACCELERATIONS + k));
    return gather(simulation, sample, simulation->potential, POTENTIALS);
}

static kith_status evaluate(struct kith_simulation *simulation, struct sample *sample)
{
    bool done = false;
    KITH_TRY(gather_last(simulation, sample, &done));
    if (!done)
        KITH_TRY(evaluate_divided(simulation, sample, &done));
    if (done)
        return KITH_OK;
    struct forces_problem problem = simulation->problem;
    problem.dtype = KITH_F64;
    problem.source_mass = backend_column(sample, MASSES);
    sample->has_totals = problem.space.cutoff > 0 || simulation->solver->is_periodic;
    if (sample->has_totals)
        problem.space.totals = &sample->totals;
    else
        problem.potential = backend_column(sample, POTENTIALS);
    if (problem.law)
        problem.target_mass = problem.source_mass;
    if (simulation->weight)
        problem.source_mass = problem.target_weight = backend_column(sample, WEIGHTS);
    if (simulation->charge)
        problem.target_charge = problem.source_charge = backend_column(sample, CHARGES);
    if (simulation->half_softening2)
        problem.target_half_softening2 = problem.source_half_softening2 =
            backend_column(sample, SOFTENINGS);
    if (simulation->is_ensemble) {
        problem.system_count = sample->range.count;
        problem.system_stride = sample->layout.step;
    }
    for (int32_t k = 0; k < sample->dimensions; k++) {
        problem.target_position[k] = problem.source_position[k] =
            backend_column(sample, POSITIONS + k);
        problem.acceleration[k] = backend_column(sample, ACCELERATIONS + k);
    }
    KITH_TRY(simulation_diagnose_copies(simulation, &problem, &done));
    if (!done && simulation->massive)
        KITH_TRY(solve_massive(simulation, &problem));
    else if (!done)
        KITH_TRY(solve(simulation, &problem, simulation->slice ? &simulation->slice->wide : NULL));
    if (!simulation->solver->is_periodic)
        sample->totals.volume =
            problem.space.volume * pow(simulation->units.length, simulation->dimensions);
    return KITH_OK;
}

kith_status sample_begin(struct kith_simulation *simulation, struct system_range range,
                         struct sample *sample)
{
    KITH_TRY(simulation_gather(simulation, POSITION));
    KITH_TRY(simulation_gather(simulation, VELOCITY));
    lay_out(simulation, range, sample);
    KITH_TRY(gather_state(simulation, sample));
    KITH_TRY(evaluate(simulation, sample));
    if (sample->memory == sample->backend_memory)
        return KITH_OK;
    return simulation->context->services->begin_copy_out(
        simulation->context, sample->memory, sample->backend_memory,
        host_columns * room_for(&sample->layout) * (int64_t)sizeof(double));
}

kith_status sample_finish(struct kith_simulation *simulation)
{
    return simulation->context->services->finish_copies(simulation->context);
}
