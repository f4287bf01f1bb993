/* Energies, momenta and the like, from the state as doubles, whatever the simulation's precision.
 */

#include <stdlib.h>

#include "core/memory.h"
#include "simulation/state.h"

/* A sum with its rounding errors carried along (Neumaier 1974, ZAMM 54, 39). */
struct sum {
    double sum, lost;
};

static void add(struct sum *sum, double term)
{
    const double total = sum->sum + term;
    if (fabs(sum->sum) >= fabs(term))
        sum->lost += (sum->sum - total) + term;
    else
        sum->lost += (term - total) + sum->sum;
    sum->sum = total;
}

static double value(struct sum sum)
{
    return sum.sum + sum.lost;
}

/* The bodies at one time, in the simulation's units, on the host. */
struct sample {
    int64_t count;
    int32_t dimensions;
    double *memory;
    double *position[3], *velocity[3], *acceleration[3], *mass, *potential;
};

enum { host_columns = 11, backend_columns = 9 };

static kith_status allocate_sample(const struct kith_simulation *simulation, struct sample *sample)
{
    const int64_t stride = simulation->stride;
    *sample = (struct sample){.count = simulation->count, .dimensions = simulation->dimensions};
    KITH_TRY(kith_allocate(stride, host_columns * (int64_t)sizeof(double), "diagnostics",
                           &sample->memory));
    for (int32_t k = 0; k < 3; k++) {
        sample->position[k] = sample->memory + k * stride;
        sample->velocity[k] = sample->memory + (3 + k) * stride;
        sample->acceleration[k] = sample->memory + (6 + k) * stride;
    }
    sample->mass = sample->memory + 9 * stride;
    sample->potential = sample->memory + 10 * stride;
    return KITH_OK;
}

static kith_status read_state(struct kith_simulation *simulation, const struct sample *sample)
{
    for (int32_t k = 0; k < sample->dimensions; k++) {
        KITH_TRY(simulation_read(simulation, simulation->vector[POSITION][k], sample->position[k]));
        KITH_TRY(simulation_read(simulation, simulation->vector[VELOCITY][k], sample->velocity[k]));
    }
    return simulation_read(simulation, simulation->mass, sample->mass);
}

/* Accelerations and potentials of the sample, evaluated in double precision in the backend's
 * memory, stride × backend_columns doubles: positions, accelerations, masses, potentials,
 * softening. */
static kith_status evaluate(struct kith_simulation *simulation, const struct sample *sample,
                            double *memory)
{
    const struct kith_backend *backend = simulation->context->backend;
    const int64_t stride = simulation->stride, bytes = simulation->count * (int64_t)sizeof(double);
    double *const mass = memory + 6 * stride, *const potential = memory + 7 * stride;
    struct forces_problem problem = simulation->problem;

    problem.dtype = KITH_F64;
    problem.source_mass = mass;
    problem.potential = potential;
    KITH_TRY(backend->copy_in(simulation->context, mass, sample->mass, bytes));
    for (int32_t k = 0; k < sample->dimensions; k++) {
        double *const position = memory + k * stride;
        KITH_TRY(backend->copy_in(simulation->context, position, sample->position[k], bytes));
        problem.target_position[k] = problem.source_position[k] = position;
        problem.acceleration[k] = memory + (3 + k) * stride;
    }
    if (simulation->half_softening2) {
        /* The sample's potentials are not there yet: their place serves for the copy. */
        double *const softening = memory + 8 * stride;
        KITH_TRY(simulation_read(simulation, simulation->half_softening2, sample->potential));
        KITH_TRY(backend->copy_in(simulation->context, softening, sample->potential, bytes));
        problem.target_half_softening2 = problem.source_half_softening2 = softening;
    }

    KITH_TRY(backend->forces(simulation->context, &problem));
    for (int32_t k = 0; k < sample->dimensions; k++)
        KITH_TRY(backend->copy_out(simulation->context, sample->acceleration[k],
                                   problem.acceleration[k], bytes));
    return backend->copy_out(simulation->context, sample->potential, potential, bytes);
}

static kith_status take_sample(struct kith_simulation *simulation, const struct sample *sample)
{
    const struct kith_backend *backend = simulation->context->backend;
    double *memory = NULL;
    KITH_TRY(read_state(simulation, sample));
    KITH_TRY(backend->allocate(simulation->context, simulation->stride,
                               backend_columns * (int64_t)sizeof(double), "diagnostics", &memory));
    const kith_status status = evaluate(simulation, sample, memory);
    backend->release(simulation->context, memory);
    return status;
}

/* Σ m u over the bodies. */
static void sum_moment(const struct sample *sample, double *const vector[3], double moment[3])
{
    for (int32_t k = 0; k < 3; k++) {
        struct sum sum = {0, 0};
        for (int64_t i = 0; i < sample->count; i++)
            add(&sum, sample->mass[i] * vector[k][i]);
        moment[k] = value(sum);
    }
}

static double sum_masses(const struct sample *sample)
{
    struct sum sum = {0, 0};
    for (int64_t i = 0; i < sample->count; i++)
        add(&sum, sample->mass[i]);
    return value(sum);
}

static void sum_energies(const struct sample *sample, struct forces_units units,
                         kith_diagnostics *diagnostics)
{
    const double unit = units.mass * units.length * units.length;
    struct sum kinetic = {0, 0}, potential = {0, 0};
    for (int64_t i = 0; i < sample->count; i++) {
        for (int32_t k = 0; k < 3; k++)
            add(&kinetic, sample->mass[i] * sample->velocity[k][i] * sample->velocity[k][i]);
        add(&potential, sample->mass[i] * sample->potential[i]);
    }
    diagnostics->kinetic_energy = value(kinetic) / 2 * unit;
    diagnostics->potential_energy = value(potential) / 2 * unit;
    diagnostics->total_energy = diagnostics->kinetic_energy + diagnostics->potential_energy;
}

static void sum_angular_momentum(const struct sample *sample, struct forces_units units,
                                 double angular_momentum[3])
{
    double *const *const x = sample->position, *const *const v = sample->velocity;
    for (int32_t k = 0; k < 3; k++) {
        const int32_t p = (k + 1) % 3, q = (k + 2) % 3;
        struct sum sum = {0, 0};
        for (int64_t i = 0; i < sample->count; i++) {
            add(&sum, sample->mass[i] * x[p][i] * v[q][i]);
            add(&sum, -sample->mass[i] * x[q][i] * v[p][i]);
        }
        angular_momentum[k] = value(sum) * (units.mass * units.length * units.length);
    }
}

/* −2T/W in the frame of the centre of mass, where neither a bulk motion nor a far origin counts. */
static double virial_ratio(const struct sample *sample, const double center[3],
                           const double center_velocity[3])
{
    struct sum twice_kinetic = {0, 0}, virial = {0, 0};
    for (int64_t i = 0; i < sample->count; i++)
        for (int32_t k = 0; k < 3; k++) {
            const double x = sample->position[k][i] - center[k];
            const double v = sample->velocity[k][i] - center_velocity[k];
            add(&twice_kinetic, sample->mass[i] * v * v);
            add(&virial, sample->mass[i] * x * sample->acceleration[k][i]);
        }
    const double w = value(virial);
    return w == 0 ? (double)NAN : -value(twice_kinetic) / w;
}

/* Of massless bodies the centre is 0. */
static void summarize(const struct sample *sample, struct forces_units units,
                      kith_diagnostics *diagnostics)
{
    const double mass = sum_masses(sample);
    double moment[3], momentum[3], center[3] = {0}, velocity[3] = {0};
    sum_moment(sample, sample->position, moment);
    sum_moment(sample, sample->velocity, momentum);
    for (int32_t k = 0; k < 3 && mass > 0; k++) {
        center[k] = moment[k] / mass;
        velocity[k] = momentum[k] / mass;
    }

    *diagnostics = (kith_diagnostics){0};
    sum_energies(sample, units, diagnostics);
    sum_angular_momentum(sample, units, diagnostics->angular_momentum);
    diagnostics->virial_ratio = virial_ratio(sample, center, velocity);
    for (int32_t k = 0; k < 3; k++) {
        diagnostics->momentum[k] = momentum[k] * (units.mass * units.length);
        diagnostics->center_of_mass[k] = center[k] * units.length;
    }
}

kith_status kith_simulation_diagnose(kith_simulation *simulation, kith_diagnostics *diagnostics)
{
    struct sample sample;
    KITH_TRY(allocate_sample(simulation, &sample));
    const kith_status status = take_sample(simulation, &sample);
    if (status == KITH_OK)
        summarize(&sample, simulation->units, diagnostics);
    free(sample.memory);
    return status;
}
