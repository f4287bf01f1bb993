/* Thermostats: velocities that are changed at random between two halves of a drift. */

#include "simulation/thermostat.h"

#include <math.h>
#include <string.h>

#include "core/philox.h"
#include "core/reals.h"
#include "device/threads.h"
#include "initial/random.h"
#include "ranks/ranks.h"
#include "simulation/backend.h"
#include "simulation/exact_sum.h"
#include "simulation/slice.h"

/* Parts that threads take, and of sums, one for each thread. */
enum { small_parts = 64, most_sums = 32 };

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

/* Bodies in parts, and what these add up, in the simulation's units. */
struct job {
    struct kith_simulation *simulation;
    struct thermostat_bodies bodies;
    bool is_of_rank; /* others have the others */
    int32_t threads;
    int64_t parts;
    struct cutoff_noise noise; /* langevin */
    double center[3]; /* bussi: velocity of the center of mass, and the factor of the others */
    double factor;
    struct exact_sum (*sums)[4];
};

static struct job begin(struct kith_simulation *simulation, const struct thermostat_bodies *bodies)
{
    const double seconds = (double)bodies->count / bodies_a_second;
    return (struct job){.simulation = simulation,
                        .bodies = *bodies,
                        .threads = kith_threads_for(simulation->context, seconds),
                        .parts = small_parts};
}

static int64_t part_begin(const struct job *job, int64_t part)
{
    const int64_t count = job->bodies.count, parts = job->parts;
    return count / parts * part + count % parts * part / parts;
}

static kith_status for_each_part(struct job *job, kith_task *task)
{
    return kith_for_each(job->simulation->context, job->threads, job->parts, task, job);
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

static kith_status stir(struct kith_simulation *simulation, const struct thermostat_bodies *bodies,
                        double h)
{
    struct job job = begin(simulation, bodies);
    job.noise = thermostat_noise(simulation, h);
    return backend_of(simulation)
               ? backend_of(simulation)->stir(simulation->context, bodies, &job.noise)
               : for_each_part(&job, stir_part);
}

static void sum_momentum(void *argument, int64_t part)
{
    struct job *job = argument;
    const struct thermostat_bodies *bodies = &job->bodies;
    struct exact_sum *sums = job->sums[part];
    for (int64_t i = part_begin(job, part); i < part_begin(job, part + 1); i++) {
        const double mass = real_get(bodies->dtype, bodies->mass, i);
        exact_sum_add(&sums[3], mass);
        for (int32_t k = 0; k < bodies->dimensions; k++)
            exact_sum_add(&sums[k], mass * real_get(bodies->dtype, bodies->velocity[k], i));
    }
}

static void sum_kinetic(void *argument, int64_t part)
{
    struct job *job = argument;
    const struct thermostat_bodies *bodies = &job->bodies;
    for (int64_t i = part_begin(job, part); i < part_begin(job, part + 1); i++) {
        const double mass = real_get(bodies->dtype, bodies->mass, i);
        double v2 = 0;
        for (int32_t k = 0; k < bodies->dimensions; k++) {
            const double v = real_get(bodies->dtype, bodies->velocity[k], i) - job->center[k];
            v2 += v * v;
        }
        exact_sum_add(&job->sums[part][0], mass * v2);
    }
}

/* Sums over all bodies, of all ranks if these have some each. */
static void sum(struct job *job, kith_task *task, int sums, double *values)
{
    kith_context *context = job->simulation->context;
    job->parts = job->threads < most_sums ? job->threads : most_sums;
    memset(job->sums, 0, (size_t)job->parts * sizeof *job->sums);
    kith_for_each_whole(context, job->threads, job->parts, task, job);
    for (int64_t part = 1; part < job->parts; part++)
        for (int k = 0; k < sums; k++)
            exact_sum_unite(&job->sums[0][k], &job->sums[part][k]);
    if (job->is_of_rank)
        ranks_add(context, job->sums[0][0].digit, (int64_t)sums * exact_words);
    for (int k = 0; k < sums; k++)
        values[k] = exact_sum_value(&job->sums[0][k]);
    job->parts = small_parts;
}

/* The velocity of the center of mass, and twice the kinetic energy of the motion about it. */
static kith_status measure(struct job *job, double *twice_kinetic)
{
    double values[4];
    if (backend_of(job->simulation))
        return backend_of(job->simulation)
            ->measure(job->simulation->context, &job->bodies, job->center, twice_kinetic);
    sum(job, sum_momentum, 4, values);
    for (int k = 0; k < 3; k++)
        job->center[k] = values[k] / values[3];
    sum(job, sum_kinetic, 1, twice_kinetic);
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
        draw_squares(&stream, simulation->dimensions * (simulation_bodies(simulation) - 1) - 1);
    const double along = sqrt(c) + x[0] * sqrt(rest * wanted);
    const double square = along * along + rest * wanted * others;
    return along < 0 ? -sqrt(square) : sqrt(square);
}

static void rescale_part(void *argument, int64_t part)
{
    const struct job *job = argument;
    const struct thermostat_bodies *bodies = &job->bodies;
    for (int32_t k = 0; k < bodies->dimensions; k++) {
        void *velocity = bodies->velocity[k];
        for (int64_t i = part_begin(job, part); i < part_begin(job, part + 1); i++) {
            const double about = real_get(bodies->dtype, velocity, i) - job->center[k];
            real_set(bodies->dtype, velocity, i, job->center[k] + job->factor * about);
        }
    }
}

kith_status thermostat_rescale(struct kith_simulation *simulation,
                               const struct thermostat_bodies *bodies, bool is_of_rank, double h)
{
    const struct forces_units units = simulation->units;
    struct job job = begin(simulation, bodies);
    struct exact_sum sums[most_sums][4]; /* of which those of the parts are cleared */
    double twice_kinetic = 0;
    job.is_of_rank = is_of_rank;
    job.sums = sums;
    if (simulation_bodies(simulation) < 2)
        return KITH_OK;
    KITH_TRY(measure(&job, &twice_kinetic));
    const double temperature =
        simulation->thermostat.temperature / units.mass / units.length / units.length;
    const double wanted = temperature / twice_kinetic;
    if (!isfinite(wanted))
        return KITH_OK;
    job.factor = draw_factor(simulation, h, wanted);
    return backend_of(simulation)
               ? backend_of(simulation)
                     ->rescale(simulation->context, bodies, job.center, job.factor)
               : for_each_part(&job, rescale_part);
}

kith_status thermostat_apply(struct kith_simulation *simulation, double h)
{
    const struct thermostat_bodies bodies = bodies_of(simulation);
    return simulation->thermostat.kind == KITH_THERMOSTAT_BUSSI
               ? thermostat_rescale(simulation, &bodies, simulation->slice != NULL, h)
               : stir(simulation, &bodies, h);
}
