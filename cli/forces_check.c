/* kith forces --check: samples of the accelerations compared with the direct sum. */

#include "forces_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "particles/bodies.h"
#include "ranks/bodies.h"
#include "ranks/partition.h"

/* Samples as bodies of their own, in double precision, what was computed and what the direct sum
 * gives them. All are on all ranks; of slices a rank has the targets of samples own … end − 1. */
struct samples {
    int64_t count, own, end;
    int64_t *row;   /* of all targets */
    int64_t *first; /* the first sample of each rank, and their number */
    kith_bodies *bodies;
    double *computed, *acceleration, *magnitude, *error; /* magnitude: Σ_j |a_ij| */
};

static double at(kith_array array, int64_t k)
{
    return array.dtype == KITH_F64 ? ((const double *)array.data)[k * array.strides[0]]
                                   : (double)((const float *)array.data)[k * array.strides[0]];
}

static void free_samples(struct samples *samples)
{
    free(samples->row);
    free(samples->first);
    free(samples->computed);
    free(samples->acceleration);
    free(samples->magnitude);
    free(samples->error);
    kith_bodies_free(samples->bodies);
}

static kith_status allocate(const kith_context *context, const kith_bodies *targets,
                            struct samples *samples)
{
    static const char what[] = "samples";
    const int64_t n = samples->count, d = targets->dimensions;
    const int64_t ranks = context->ranks ? context->ranks->size : 1;
    KITH_TRY(kith_allocate(n, sizeof *samples->row, what, &samples->row));
    KITH_TRY(kith_allocate(ranks + 1, sizeof *samples->first, what, &samples->first));
    KITH_TRY(kith_allocate(n, d * (int64_t)sizeof(double), what, &samples->computed));
    KITH_TRY(kith_allocate(n, d * (int64_t)sizeof(double), what, &samples->acceleration));
    KITH_TRY(kith_allocate(n, sizeof(double), what, &samples->magnitude));
    KITH_TRY(kith_allocate(n, sizeof(double), what, &samples->error));
    return kith_bodies_create(n, targets->dimensions,
                              KITH_MASS | (targets->charge ? KITH_CHARGE : 0) |
                                  (targets->softening ? KITH_SOFTENING : 0) |
                                  (targets->epsilon ? KITH_EPSILON : 0) |
                                  (targets->sigma ? KITH_SIGMA : 0),
                              &samples->bodies);
}

/* The rows of samples, and which of them are here. Returns the first row of the targets here. */
static int64_t choose_rows(const kith_context *context, const struct forces_job *job,
                           struct samples *samples)
{
    const int64_t all = forces_target_count(job), n = samples->count;
    const struct ranks *ranks = job->is_sliced ? context->ranks : NULL;
    int64_t first_row = 0;
    for (int64_t k = 0; k < n; k++)
        samples->row[k] = (int64_t)((double)all * (double)k / (double)n);
    samples->end = n;
    int64_t k = 0;
    for (int32_t rank = 0; ranks && rank < ranks->size; rank++) {
        const int64_t begin = ranks_first(all, ranks->size, rank);
        while (k < n && samples->row[k] < begin)
            k++;
        samples->first[rank] = k;
        first_row = rank == ranks->rank ? begin : first_row;
    }
    if (ranks) {
        samples->first[ranks->size] = n;
        samples->own = samples->first[ranks->rank];
        samples->end = samples->first[ranks->rank + 1];
    }
    return first_row;
}

/* Samples of a column, of `values` numbers a body, come to all ranks. */
static void take_column(const kith_context *context, const struct forces_job *job,
                        const struct samples *samples, int64_t first_row, int64_t values,
                        const double *from, double *to)
{
    const int64_t bytes = values * (int64_t)sizeof *to;
    if (!to)
        return;
    for (int64_t k = samples->own; k < samples->end; k++)
        for (int64_t v = 0; v < values; v++)
            to[k * values + v] = from ? from[(samples->row[k] - first_row) * values + v] : 1;
    if (job->is_sliced)
        ranks_gather_parts(context, to, bytes, samples->first);
}

/* Collective of slices. */
static kith_status take_samples(kith_context *context, const struct forces_options *options,
                                const struct forces_job *job, struct samples *samples)
{
    const kith_bodies *targets = forces_targets(job);
    const int64_t all = forces_target_count(job), d = targets->dimensions;
    samples->count = all < options->check ? all : options->check;
    kith_status status = allocate(context, targets, samples);
    if (job->is_sliced)
        status = ranks_agree(context, status);
    KITH_TRY(status);
    if (samples->count == 0)
        return KITH_OK;
    const int64_t first = choose_rows(context, job, samples);
    kith_bodies *to = samples->bodies;
    take_column(context, job, samples, first, d, targets->position, to->position);
    take_column(context, job, samples, first, 1, targets->mass, to->mass);
    take_column(context, job, samples, first, 1, targets->charge, to->charge);
    take_column(context, job, samples, first, 1, targets->softening, to->softening);
    take_column(context, job, samples, first, 1, targets->epsilon, to->epsilon);
    take_column(context, job, samples, first, 1, targets->sigma, to->sigma);
    for (int64_t k = samples->own; k < samples->end; k++)
        for (int64_t c = 0; c < d; c++)
            samples->computed[k * d + c] =
                at(forces_result(options, job, c), samples->row[k] - first);
    if (job->is_sliced)
        ranks_gather_parts(context, samples->computed, d * (int64_t)sizeof(double), samples->first);
    return KITH_OK;
}

static void find_errors(const struct samples *samples)
{
    const int64_t d = samples->bodies->dimensions;
    for (int64_t k = 0; k < samples->count; k++) {
        const double *exact = samples->acceleration + k * d;
        double wrong = 0, all = 0;
        for (int64_t c = 0; c < d; c++) {
            wrong += pow(samples->computed[k * d + c] - exact[c], 2);
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

struct magnitudes {
    kith_context *context;
    const kith_forces_options *chosen;
    const struct forces_job *job;
    kith_status status;
};

/* Adds the absolute accelerations from each source in turn, which any law has. */
static void add_magnitudes(void *argument, void *state)
{
    struct magnitudes *of = argument;
    const struct forces_job *job = of->job;
    const int64_t n = job->targets->count, d = job->targets->dimensions;
    double *from_one = job->result, *magnitude = state;
    const kith_array acceleration = kith_array_matrix(from_one, KITH_F64, n, d);
    for (int64_t j = 0; j < job->sources->count && n > 0 && of->status == KITH_OK; j++) {
        const kith_particles source = row_of(&job->source_side.particles, j);
        of->status = kith_forces_compute(of->context, of->chosen, &job->target_side.particles,
                                         &source, acceleration, kith_array_none());
        for (int64_t k = 0; k < n; k++) {
            double a2 = 0;
            for (int64_t c = 0; c < d; c++)
                a2 += from_one[k * d + c] * from_one[k * d + c];
            magnitude[k] += sqrt(a2);
        }
    }
}

/* On the CPU without other ranks, as the pairs of a source are few; of slices one rank after the
 * other. */
static kith_status sum_in_turn(kith_context *of_ranks, struct magnitudes *magnitudes,
                               struct samples *samples)
{
    const kith_context_options cpu = {.device = {KITH_CPU, 0}, .threads = 1};
    kith_status status = kith_context_create(&cpu, &magnitudes->context);
    if (magnitudes->job->is_sliced)
        status = ranks_agree(of_ranks, status);
    if (status == KITH_OK && magnitudes->job->is_sliced) {
        ranks_in_turn(of_ranks, add_magnitudes, magnitudes, samples->magnitude,
                      samples->count * (int64_t)sizeof *samples->magnitude);
        status = ranks_agree(of_ranks, magnitudes->status);
    } else if (status == KITH_OK) {
        add_magnitudes(magnitudes, samples->magnitude);
        status = magnitudes->status;
    }
    kith_context_free(magnitudes->context);
    return status;
}

/* Of all samples and the sources here. */
static int sum_magnitudes(const char *command, const struct forces_options *exact,
                          kith_context *context, const struct forces_job *job,
                          struct samples *samples)
{
    const kith_forces_options chosen = {
        .gravitational_constant =
            law_options_g(&exact->law, exact->input.gravitational_constant, job->sources),
        .softening = exact->input.softening,
        .law = exact->law.law};
    struct forces_job of_samples = {
        .sources = job->sources, .targets = samples->bodies, .is_sliced = job->is_sliced};
    struct magnitudes magnitudes = {.chosen = &chosen, .job = &of_samples};
    kith_status status = forces_take_memory(exact, &of_samples);
    if (job->is_sliced)
        status = ranks_agree(context, status);
    if (status == KITH_OK)
        status = sum_in_turn(context, &magnitudes, samples);
    of_samples.sources = of_samples.targets = NULL;
    forces_free_job(&of_samples);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

/* All in double precision: a job of the samples, of slices of this rank's part of them. */
static int sum_directly(const char *command, const struct forces_options *options,
                        kith_context **context, const struct forces_job *job,
                        struct samples *samples)
{
    const int64_t d = samples->bodies->dimensions;
    int64_t first = 0, count = samples->count;
    if (job->is_sliced)
        ranks_rows(*context, samples->count, &first, &count);
    kith_bodies own = bodies_rows(samples->bodies, first, count);
    struct forces_options exact = *options;
    struct forces_job direct = {.sources = job->sources,
                                .targets = &own,
                                .all = job->all,
                                .all_targets = samples->count,
                                .is_sliced = job->is_sliced};
    exact.common.precision = KITH_F64;
    exact.common.quiet = true;
    exact.accuracy = (kith_accuracy){0};
    exact.method = KITH_FORCES_AUTO;
    exact.solver = NULL;
    int code = forces_compute_job(command, &exact, context, &direct);
    for (int64_t k = 0; code == exit_ok && k < count; k++)
        for (int64_t c = 0; c < d; c++)
            samples->acceleration[(first + k) * d + c] = at(forces_result(&exact, &direct, c), k);
    if (code == exit_ok && job->is_sliced)
        ranks_gather(*context, samples->acceleration, d * (int64_t)sizeof(double), samples->count,
                     1);
    direct.sources = direct.targets = NULL;
    forces_free_job(&direct);
    return code == exit_ok ? sum_magnitudes(command, &exact, *context, job, samples) : code;
}

int forces_check_job(const char *command, const struct forces_options *options,
                     kith_context **context, const struct forces_job *job,
                     struct forces_check *check)
{
    struct samples samples = {0};
    const int code = take_samples(*context, options, job, &samples) == KITH_OK
                         ? sum_directly(command, options, context, job, &samples)
                         : cli_fail(command);
    if (code == exit_ok) {
        find_errors(&samples);
        *check = summarize(&samples);
    }
    free_samples(&samples);
    return code;
}
