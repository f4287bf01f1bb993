/* kith forces --check: samples of the accelerations compared with the direct sum. */

#include "forces_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples as bodies of their own, in double precision, and what the direct sum gives them. */
struct samples {
    int64_t count;
    int64_t *row; /* of the targets */
    kith_bodies *bodies;
    double *acceleration, *magnitude, *error; /* magnitude: Σ_j |a_ij| */
};

static double at(kith_array array, int64_t k)
{
    return array.dtype == KITH_F64 ? ((const double *)array.data)[k * array.strides[0]]
                                   : (double)((const float *)array.data)[k * array.strides[0]];
}

static void free_samples(struct samples *samples)
{
    free(samples->row);
    free(samples->acceleration);
    free(samples->magnitude);
    free(samples->error);
    kith_bodies_free(samples->bodies);
}

static bool take_samples(const kith_bodies *targets, int64_t wanted, struct samples *samples)
{
    const int64_t n = targets->count < wanted ? targets->count : wanted, d = targets->dimensions;
    samples->count = n;
    samples->row = calloc((size_t)n + 1, sizeof *samples->row);
    samples->acceleration = calloc((size_t)(n * d) + 1, sizeof *samples->acceleration);
    samples->magnitude = calloc((size_t)n + 1, sizeof *samples->magnitude);
    samples->error = calloc((size_t)n + 1, sizeof *samples->error);
    if (!samples->row || !samples->acceleration || !samples->magnitude || !samples->error ||
        kith_bodies_create(n, targets->dimensions,
                           KITH_MASS | (targets->charge ? KITH_CHARGE : 0) |
                               (targets->softening ? KITH_SOFTENING : 0) |
                               (targets->epsilon ? KITH_EPSILON : 0) |
                               (targets->sigma ? KITH_SIGMA : 0),
                           &samples->bodies) != KITH_OK ||
        !samples->bodies)
        return false;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = (int64_t)((double)targets->count * (double)k / (double)n);
        samples->row[k] = i;
        memcpy(samples->bodies->position + k * d, targets->position + i * d,
               (size_t)d * sizeof *targets->position);
        samples->bodies->mass[k] = targets->mass ? targets->mass[i] : 1;
        if (targets->charge)
            samples->bodies->charge[k] = targets->charge[i];
        if (targets->softening)
            samples->bodies->softening[k] = targets->softening[i];
        if (targets->epsilon)
            samples->bodies->epsilon[k] = targets->epsilon[i];
        if (targets->sigma)
            samples->bodies->sigma[k] = targets->sigma[i];
    }
    return true;
}

static void find_errors(const struct forces_options *options, const struct forces_job *job,
                        struct samples *samples)
{
    const int64_t d = job->sources->dimensions;
    for (int64_t k = 0; k < samples->count; k++) {
        const double *exact = samples->acceleration + k * d;
        double wrong = 0, all = 0;
        for (int64_t c = 0; c < d; c++) {
            wrong += pow(at(forces_result(options, job, c), samples->row[k]) - exact[c], 2);
            all += pow(exact[c], 2);
        }
        const double scale = fmax(sqrt(all), 0.1 * samples->magnitude[k]);
        samples->error[k] = scale > 0 ? sqrt(wrong) / scale : sqrt(wrong);
    }
}

static struct forces_check summarize(struct samples *samples)
{
    const int64_t n = samples->count;
    struct forces_check check = {.samples = n};
    for (int64_t k = 0; k < n; k++)
        check.rms += samples->error[k] * samples->error[k] / (double)n;
    check.rms = sqrt(check.rms);
    cli_sort(samples->error, n);
    if (n > 0) {
        check.p99 = samples->error[(n - 1) * 99 / 100];
        check.max = samples->error[n - 1];
    }
    return check;
}

/* Row j of particles on the host in double precision. */
static kith_particles row_of(const kith_particles *all, int64_t j)
{
    kith_particles row = *all;
    row.positions.data = (double *)all->positions.data + j * all->positions.strides[0];
    row.positions.shape[0] = 1;
    for (int k = 0; k < KITH_MAX_COLUMNS && row.columns[k].name; k++) {
        kith_array *values = &row.columns[k].values;
        values->data = (double *)values->data + j * values->strides[0];
        values->shape[0] = 1;
    }
    return row;
}

/* Adds the absolute accelerations from each source in turn, which any law has. */
static kith_status add_magnitudes(kith_context *context, const kith_forces_options *chosen,
                                  const struct forces_job *direct, struct samples *samples)
{
    const int64_t n = samples->count, d = samples->bodies->dimensions;
    double *from_one = direct->result;
    const kith_array acceleration = kith_array_matrix(from_one, KITH_F64, n, d);
    kith_status status = KITH_OK;
    for (int64_t j = 0; j < direct->sources->count && n > 0 && status == KITH_OK; j++) {
        const kith_particles source = row_of(&direct->source_side.particles, j);
        status = kith_forces_compute(context, chosen, &direct->target_side.particles, &source,
                                     acceleration, kith_array_none());
        for (int64_t k = 0; k < n; k++) {
            double a2 = 0;
            for (int64_t c = 0; c < d; c++)
                a2 += from_one[k * d + c] * from_one[k * d + c];
            samples->magnitude[k] += sqrt(a2);
        }
    }
    return status;
}

/* On the CPU without other ranks, as the pairs of a source are few. */
static int sum_magnitudes(const char *command, const struct forces_options *options,
                          const struct forces_job *direct, struct samples *samples)
{
    const kith_context_options cpu = {.device = {KITH_CPU, 0}, .threads = 1};
    const kith_forces_options chosen = {
        .gravitational_constant =
            law_options_g(&options->law, options->input.gravitational_constant, direct->sources),
        .softening = options->input.softening,
        .law = options->law.law};
    kith_context *context = NULL;
    kith_status status = kith_context_create(&cpu, &context);
    if (status == KITH_OK)
        status = add_magnitudes(context, &chosen, direct, samples);
    kith_context_free(context);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

/* All in double precision: a job of the samples. */
static int sum_directly(const char *command, const struct forces_options *options,
                        kith_context **context, const struct forces_job *job,
                        struct samples *samples)
{
    struct forces_options exact = *options;
    struct forces_job direct = {.sources = job->sources, .targets = samples->bodies};
    exact.common.precision = KITH_F64;
    exact.common.quiet = true;
    exact.accuracy = (kith_accuracy){0};
    exact.method = KITH_FORCES_AUTO;
    exact.solver = NULL;
    int code = forces_compute_job(command, &exact, context, &direct);
    for (int64_t k = 0; code == exit_ok && k < samples->count; k++)
        for (int64_t c = 0; c < samples->bodies->dimensions; c++)
            samples->acceleration[k * samples->bodies->dimensions + c] =
                at(forces_result(&exact, &direct, c), k);
    if (code == exit_ok)
        code = sum_magnitudes(command, &exact, &direct, samples);
    direct.sources = direct.targets = NULL;
    forces_free_job(&direct);
    return code;
}

int forces_check_job(const char *command, const struct forces_options *options,
                     kith_context **context, const struct forces_job *job,
                     struct forces_check *check)
{
    struct samples samples = {0};
    int code = exit_failed;
    if (!take_samples(forces_targets(job), options->check, &samples))
        code = cli_fail_with(command, "no memory for %lld samples", (long long)options->check);
    else
        code = sum_directly(command, options, context, job, &samples);
    if (code == exit_ok) {
        find_errors(options, job, &samples);
        *check = summarize(&samples);
    }
    free_samples(&samples);
    return code;
}
