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
    double *acceleration, *error;
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
    free(samples->error);
    kith_bodies_free(samples->bodies);
}

static bool take_samples(const kith_bodies *targets, int64_t wanted, struct samples *samples)
{
    const int64_t n = targets->count < wanted ? targets->count : wanted, d = targets->dimensions;
    samples->count = n;
    samples->row = calloc((size_t)n + 1, sizeof *samples->row);
    samples->acceleration = calloc((size_t)(n * d) + 1, sizeof *samples->acceleration);
    samples->error = calloc((size_t)n + 1, sizeof *samples->error);
    if (!samples->row || !samples->acceleration || !samples->error ||
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

/* Σ_j |w_j| r / (r² + ε²)^{3/2} over the sources. */
static double sum_magnitudes(const kith_bodies *sources, const double *weight, double softening,
                             const double *x)
{
    const int64_t d = sources->dimensions;
    double sum = 0;
    for (int64_t j = 0; j < sources->count; j++) {
        double r2 = 0;
        for (int64_t c = 0; c < d; c++)
            r2 += pow(sources->position[j * d + c] - x[c], 2);
        const double s2 = r2 + softening * softening;
        sum += s2 > 0 ? fabs(weight ? weight[j] : 1) * sqrt(r2) / (s2 * sqrt(s2)) : 0;
    }
    return sum;
}

/* What one unit of weight of a target feels is this times Σ w_j d / s³; 0 for other laws. */
static double strength_of(const struct forces_options *options, double g, const char *law,
                          const kith_bodies *bodies, int64_t k)
{
    const double softened = options->input.softening_of_file ? 0 : 1;
    if (strncmp(law, "gravity", 7) == 0)
        return softened * (g == 0 ? 1 : g);
    const bool is_coulomb = strcmp(law, "coulomb") == 0 && options->law.count == 0;
    return is_coulomb ? softened * fabs(bodies->charge ? bodies->charge[k] : 1) / bodies->mass[k]
                      : 0;
}

static void find_errors(const struct forces_options *options, const struct forces_job *job,
                        double g, struct samples *samples)
{
    const char *law = options->law.text ? options->law.text : "gravity";
    const kith_bodies *sources = job->sources;
    const double *weight = strncmp(law, "gravity", 7) == 0 ? sources->mass : sources->charge;
    const int64_t d = sources->dimensions;
    for (int64_t k = 0; k < samples->count; k++) {
        const double *exact = samples->acceleration + k * d;
        const double strength = strength_of(options, g, law, samples->bodies, k);
        double wrong = 0, all = 0;
        for (int64_t c = 0; c < d; c++) {
            wrong += pow(at(forces_result(options, job, c), samples->row[k]) - exact[c], 2);
            all += pow(exact[c], 2);
        }
        const double sum = strength > 0 ? sum_magnitudes(sources, weight, options->input.softening,
                                                         samples->bodies->position + k * d)
                                        : 0;
        const double scale = fmax(sqrt(all), 0.1 * strength * sum);
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
    const int code = forces_compute_job(command, &exact, context, &direct);
    for (int64_t k = 0; code == exit_ok && k < samples->count; k++)
        for (int64_t c = 0; c < samples->bodies->dimensions; c++)
            samples->acceleration[k * samples->bodies->dimensions + c] =
                at(forces_result(&exact, &direct, c), k);
    direct.sources = direct.targets = NULL;
    forces_free_job(&direct);
    return code;
}

int forces_check_job(const char *command, const struct forces_options *options,
                     kith_context **context, const struct forces_job *job,
                     struct forces_check *check)
{
    struct samples samples = {0};
    const double g =
        law_options_g(&options->law, options->input.gravitational_constant, job->sources);
    int code = exit_failed;
    if (!take_samples(forces_targets(job), options->check, &samples))
        code = cli_fail_with(command, "no memory for %lld samples", (long long)options->check);
    else
        code = sum_directly(command, options, context, job, &samples);
    if (code == exit_ok) {
        find_errors(options, job, g, &samples);
        *check = summarize(&samples);
    }
    free_samples(&samples);
    return code;
}
