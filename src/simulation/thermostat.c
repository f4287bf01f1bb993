/* Thermostats: velocities that are changed at random between two halves of a drift. */

#include "simulation/thermostat.h"

#include <math.h>
#include <string.h>

#include "core/philox.h"
#include "core/reals.h"
#include "device/threads.h"
#include "initial/random.h"
#include "simulation/backend.h"
#include "simulation/slice.h"

/* Bodies are divided into this many parts, whatever the threads: sums have the same bits. */
enum { parts = 64 };

static const double bodies_a_second = 1e7;

kith_status thermostat_check_numbers(const kith_thermostat *thermostat)
{
    if (thermostat->kind != KITH_THERMOSTAT_LANGEVIN && thermostat->kind != KITH_THERMOSTAT_BUSSI)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "thermostat.kind is %d; give KITH_THERMOSTAT_NONE, _LANGEVIN or _BUSSI",
                         (int)thermostat->kind);
    if (!(thermostat->temperature >= 0) || !isfinite(thermostat->temperature))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the thermostat's temperature is %g; give a finite number ≥ 0",
                         thermostat->temperature);
    if (!(thermostat->time > 0) || !isfinite(thermostat->time))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the thermostat's time is %g; give a finite time greater than 0",
                         thermostat->time);
    if (thermostat->seed > INT64_MAX)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the thermostat's seed is %llu; give at most 2^63 - 1",
                         (unsigned long long)thermostat->seed);
    return KITH_OK;
}

kith_status thermostat_check(const kith_simulation_options *options, bool is_ensemble)
{
    const kith_thermostat *thermostat = &options->thermostat;
    if (thermostat->kind == KITH_THERMOSTAT_NONE)
        return KITH_OK;
    KITH_TRY(thermostat_check_numbers(thermostat));
    if (options->integrator && strcmp(options->integrator, "leapfrog") != 0)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "integrator is %.40s, but a thermostat needs leapfrog; use leapfrog, or no thermostat",
            options->integrator);
    if (is_ensemble)
        return kith_fail(
            KITH_UNSUPPORTED,
            "a thermostat does not support ensembles; simulate the systems one by one");
    return KITH_OK;
}

kith_status thermostat_check_masses(const kith_thermostat *thermostat, const kith_bodies *bodies,
                                    int64_t first)
{
    if (thermostat->kind == KITH_THERMOSTAT_NONE || !bodies->mass)
        return KITH_OK;
    for (int64_t i = 0; i < bodies->count; i++)
        if (!(bodies->mass[i] > 0))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "mass of body %lld (from 0) is %g; a thermostat needs masses > 0",
                             (long long)(first + i), bodies->mass[i]);
    return KITH_OK;
}

/* What a part needs, and what it adds up, in the simulation's units. */
struct sums {
    double mass, momentum[3], twice_kinetic;
};

struct job {
    struct kith_simulation *simulation;
    struct cutoff_noise noise; /* langevin */
    double center[3]; /* bussi: velocity of the center of mass, and the factor of the others */
    double factor;
    struct sums sums[parts];
};

static int64_t part_begin(const struct job *job, int64_t part)
{
    const int64_t count = job->simulation->count;
    return count / parts * part + count % parts * part / parts;
}

static kith_status for_each_part(struct job *job, kith_task *task)
{
    kith_context *context = job->simulation->context;
    const double seconds = (double)job->simulation->count / bodies_a_second;
    return kith_for_each(context, kith_threads_for(context, seconds), parts, task, job);
}

void thermostat_stir_body(const struct cutoff_noise *noise, kith_dtype dtype, int32_t dimensions,
                          int64_t number, int64_t i, const void *mass, void *const velocity[3])
{
    double normal[4];
    philox_normals(noise->key, number, noise->first_step, normal);
    const double kick = noise->kick / sqrt(real_get(dtype, mass, i));
    for (int32_t k = 0; k < dimensions; k++)
        real_set(dtype, velocity[k], i,
                 noise->keep * real_get(dtype, velocity[k], i) + kick * normal[k]);
}

static void stir_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct kith_simulation *simulation = job->simulation;
    const int64_t first = simulation->slice ? simulation->slice->first : 0;
    for (int64_t i = part_begin(job, part); i < part_begin(job, part + 1); i++)
        thermostat_stir_body(&job->noise, simulation->dtype, simulation->dimensions, first + i, i,
                             simulation->mass, simulation->vector[VELOCITY]);
}

struct cutoff_noise thermostat_noise(const struct kith_simulation *simulation, double h)
{
    const kith_thermostat *thermostat = &simulation->thermostat;
    const struct forces_units units = simulation->units;
    return (struct cutoff_noise){
        .keep = exp(-h / thermostat->time),
        .kick = sqrt(-expm1(-2 * h / thermostat->time) * thermostat->temperature / units.mass) /
                units.length,
        .key = {thermostat->seed, RANDOM_LANGEVIN},
        .first_step = simulation->steps};
}

/* The bodies as a device with memory of its own sees them. */
static struct thermostat_bodies bodies_of(const struct kith_simulation *simulation)
{
    struct thermostat_bodies bodies = {.dtype = simulation->dtype,
                                       .dimensions = simulation->dimensions,
                                       .count = simulation->count,
                                       .first = simulation->slice ? simulation->slice->first : 0,
                                       .mass = simulation->mass};
    for (int32_t k = 0; k < simulation->dimensions; k++)
        bodies.velocity[k] = simulation->vector[VELOCITY][k];
    return bodies;
}

static const struct thermostat_backend *backend_of(const struct kith_simulation *simulation)
{
    return simulation_backend_of(simulation->context)->thermostat;
}

static kith_status stir(struct kith_simulation *simulation, double h)
{
    struct job job = {.simulation = simulation, .noise = thermostat_noise(simulation, h)};
    const struct thermostat_bodies bodies = bodies_of(simulation);
    return backend_of(simulation)
               ? backend_of(simulation)->stir(simulation->context, &bodies, &job.noise)
               : for_each_part(&job, stir_part);
}

static void sum_momentum(void *argument, int64_t part)
{
    struct job *job = argument;
    const struct kith_simulation *simulation = job->simulation;
    struct sums sums = {0};
    for (int64_t i = part_begin(job, part); i < part_begin(job, part + 1); i++) {
        const double mass = real_get(simulation->dtype, simulation->mass, i);
        sums.mass += mass;
        for (int32_t k = 0; k < simulation->dimensions; k++)
            sums.momentum[k] +=
                mass * real_get(simulation->dtype, simulation->vector[VELOCITY][k], i);
    }
    job->sums[part] = sums;
}

static void sum_kinetic(void *argument, int64_t part)
{
    struct job *job = argument;
    const struct kith_simulation *simulation = job->simulation;
    double sum = 0;
    for (int64_t i = part_begin(job, part); i < part_begin(job, part + 1); i++) {
        const double mass = real_get(simulation->dtype, simulation->mass, i);
        for (int32_t k = 0; k < simulation->dimensions; k++) {
            const double v =
                real_get(simulation->dtype, simulation->vector[VELOCITY][k], i) - job->center[k];
            sum += mass * v * v;
        }
    }
    job->sums[part].twice_kinetic = sum;
}

/* The velocity of the center of mass, and twice the kinetic energy of the motion about it. */
static kith_status measure(struct job *job, double *twice_kinetic)
{
    struct sums all = {0};
    if (backend_of(job->simulation)) {
        const struct thermostat_bodies bodies = bodies_of(job->simulation);
        return backend_of(job->simulation)
            ->measure(job->simulation->context, &bodies, job->center, twice_kinetic);
    }
    KITH_TRY(for_each_part(job, sum_momentum));
    for (int part = 0; part < parts; part++) {
        all.mass += job->sums[part].mass;
        for (int k = 0; k < 3; k++)
            all.momentum[k] += job->sums[part].momentum[k];
    }
    for (int k = 0; k < 3; k++)
        job->center[k] = all.momentum[k] / all.mass;
    KITH_TRY(for_each_part(job, sum_kinetic));
    *twice_kinetic = 0;
    for (int part = 0; part < parts; part++)
        *twice_kinetic += job->sums[part].twice_kinetic;
    return KITH_OK;
}

/* A number of the density x^{a−1} e^{−x} / Γ(a), a ≥ 1 (Marsaglia & Tsang 2000). */
static double draw_gamma(struct random_stream *stream, double a)
{
    const double d = a - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x[2];
        random_normal_pair(stream, x);
        const double root = 1 + c * x[0], cube = root * root * root;
        if (root <= 0)
            continue;
        const double u = 1 - random_uniform(stream);
        if (log(u) < 0.5 * x[0] * x[0] + d - d * cube + d * log(cube))
            return d * cube;
    }
}

/* The sum of the squares of this many normal numbers. */
static double draw_squares(struct random_stream *stream, int64_t count)
{
    const int64_t odd = count % 2;
    double x[2], sum = 0;
    if (odd) {
        random_normal_pair(stream, x);
        sum = x[0] * x[0];
    }
    return count >= 2 ? sum + 2 * draw_gamma(stream, (double)(count - odd) / 2) : sum;
}

/* α of Bussi, Donadio & Parrinello 2007, eq. A7 and A8; wanted is T / 2K. */
static double draw_factor(const struct kith_simulation *simulation, double h, double wanted)
{
    const kith_thermostat *thermostat = &simulation->thermostat;
    const double c = exp(-h / thermostat->time), rest = -expm1(-h / thermostat->time);
    struct random_stream stream =
        random_begin_step(thermostat->seed, RANDOM_BUSSI, 0, simulation->steps);
    double x[2];
    random_normal_pair(&stream, x);
    const double others =
        draw_squares(&stream, simulation->dimensions * (simulation->count - 1) - 1);
    const double along = sqrt(c) + x[0] * sqrt(rest * wanted);
    const double square = along * along + rest * wanted * others;
    return along < 0 ? -sqrt(square) : sqrt(square);
}

static void rescale_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct kith_simulation *simulation = job->simulation;
    for (int32_t k = 0; k < simulation->dimensions; k++) {
        void *velocity = simulation->vector[VELOCITY][k];
        for (int64_t i = part_begin(job, part); i < part_begin(job, part + 1); i++) {
            const double about = real_get(simulation->dtype, velocity, i) - job->center[k];
            real_set(simulation->dtype, velocity, i, job->center[k] + job->factor * about);
        }
    }
}

static kith_status rescale(struct kith_simulation *simulation, double h)
{
    const struct forces_units units = simulation->units;
    struct job job = {.simulation = simulation};
    double twice_kinetic = 0;
    if (simulation->count < 2)
        return KITH_OK;
    KITH_TRY(measure(&job, &twice_kinetic));
    const double temperature =
        simulation->thermostat.temperature / units.mass / units.length / units.length;
    const double wanted = temperature / twice_kinetic;
    if (!isfinite(wanted))
        return KITH_OK;
    job.factor = draw_factor(simulation, h, wanted);
    const struct thermostat_bodies bodies = bodies_of(simulation);
    return backend_of(simulation)
               ? backend_of(simulation)
                     ->rescale(simulation->context, &bodies, job.center, job.factor)
               : for_each_part(&job, rescale_part);
}

kith_status thermostat_apply(struct kith_simulation *simulation, double h)
{
    return simulation->thermostat.kind == KITH_THERMOSTAT_BUSSI ? rescale(simulation, h)
                                                                : stir(simulation, h);
}
