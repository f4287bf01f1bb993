/* kith forces: from bodies to accelerations and potentials. */

#include "forces_command.h"

#include "device_choice.h"
#include "forces/slice.h"
#include "ranks/ranks.h"

#include <stdlib.h>

/* Without rows there are no columns: those of the other side stand for them. */
static void *take_column(const double *values, int64_t n, const double *of_other, kith_dtype dtype,
                         bool *failed)
{
    return values || (n == 0 && of_other) ? cli_in_precision(values, n, dtype, failed) : NULL;
}

static bool take_side(const kith_bodies *bodies, const kith_bodies *other, kith_dtype dtype,
                      bool softening, struct forces_side *side)
{
    const int64_t n = bodies->count, d = bodies->dimensions;
    bool failed = false;
    side->position = cli_in_precision(bodies->position, n * d, dtype, &failed);
    side->mass = take_column(bodies->mass, n, other->mass, dtype, &failed);
    side->charge = take_column(bodies->charge, n, other->charge, dtype, &failed);
    if (softening)
        side->softening = take_column(bodies->softening, n, other->softening, dtype, &failed);
    side->epsilon = take_column(bodies->epsilon, n, other->epsilon, dtype, &failed);
    side->sigma = take_column(bodies->sigma, n, other->sigma, dtype, &failed);
    side->particles = (kith_particles){.positions = kith_array_matrix(side->position, dtype, n, d)};
    int32_t count = 0;
    const struct {
        const char *name;
        void *values;
    } columns[] = {{"m", side->mass},
                   {"q", side->charge},
                   {"softening", side->softening},
                   {"epsilon", side->epsilon},
                   {"sigma", side->sigma}};
    for (int k = 0; k < 5; k++)
        if (columns[k].values)
            side->particles.columns[count++] = (kith_particle_column){
                columns[k].name, kith_array_vector(columns[k].values, dtype, n)};
    return !failed;
}

kith_status forces_take_memory(const struct forces_options *options, struct forces_job *job)
{
    const kith_dtype dtype = options->common.precision;
    const bool softening = options->input.softening_of_file;
    const kith_bodies *targets = forces_targets(job);
    /* Of slices all have the same columns, of no rows too. */
    const kith_bodies none = {0};
    const kith_bodies *of_sources = job->is_sliced ? &none : job->sources;
    const kith_bodies *of_targets = job->is_sliced ? &none : targets;
    bool failed = !take_side(job->sources, of_targets, dtype, softening, &job->source_side);
    if (job->targets)
        failed |= !take_side(targets, of_sources, dtype, softening, &job->target_side);
    job->result = calloc((size_t)(targets->count * (targets->dimensions + 1)) + 1,
                         (size_t)kith_dtype_bytes(dtype));
    if (failed || !job->result)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for %lld bodies",
                         (long long)targets->count);
    return KITH_OK;
}

kith_array forces_result(const struct forces_options *options, const struct forces_job *job,
                         int64_t k)
{
    const kith_dtype dtype = options->common.precision;
    const kith_bodies *targets = forces_targets(job);
    kith_array array =
        kith_array_vector((char *)job->result + k * kith_dtype_bytes(dtype), dtype, targets->count);
    array.strides[0] = targets->dimensions + 1;
    return array;
}

static kith_status compute_on(kith_context *context, const char *command,
                              const struct forces_options *options, struct forces_job *job)
{
    const kith_bodies *targets = forces_targets(job);
    const bool images = cli_has_images(options->solver);
    struct cli_advice advice = {options->common.quiet, command, ""};
    const bool wants_totals = options->cutoff.cutoff > 0 && !job->targets && options->common.json;
    kith_cell cell;
    cutoff_cell_of(job->sources, &cell);
    const kith_forces_options chosen = {
        .gravitational_constant =
            law_options_g(&options->law, options->input.gravitational_constant, job->sources),
        .softening = options->input.softening,
        .solver = options->solver,
        .accuracy = options->accuracy,
        .report = &job->report,
        .exclusions = options->ewald.exclusions,
        .ewald = options->ewald.chosen,
        .method = options->method,
        .law = options->law.law,
        .cutoff = options->cutoff.cutoff,
        .cell = images ? &job->cell : &cell,
        .shift = options->cutoff.shift,
        .tail = options->cutoff.tail,
        .totals = images || wants_totals ? &job->totals : NULL,
        .sum = options->sum,
        .block = options->block,
        .unroll = options->unroll,
        .advise = cli_advise,
        .advise_user = &advice};
    const int64_t n = targets->count, d = targets->dimensions;
    kith_array acceleration = kith_array_matrix(job->result, options->common.precision, n, d);
    acceleration.strides[0] = d + 1;
    if (options->sum == KITH_FORCES_SUM_VALUE)
        acceleration = kith_array_none();

    const double start = cli_clock();
    const kith_particles *sources = &job->source_side.particles;
    const kith_particles *targets_of = job->targets ? &job->target_side.particles : NULL;
    const kith_array potential = forces_result(options, job, d);
    const kith_status status =
        job->is_sliced
            ? forces_compute_slice(context, &chosen, targets_of, job->all_targets, sources,
                                   job->all, acceleration, potential)
            : kith_forces_compute(context, &chosen, targets_of, sources, acceleration, potential);
    job->seconds = cli_clock() - start;
    return status;
}

int forces_compute_job(const char *command, const struct forces_options *options,
                       kith_context **context, struct forces_job *job)
{
    if (forces_take_memory(options, job) != KITH_OK)
        return cli_fail(command);
    kith_status status = compute_on(*context, command, options, job);
    if (cli_fall_back(command, &options->common, status, context))
        status = compute_on(*context, command, options, job);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

static void add_motion(void *argument, void *state)
{
    const kith_bodies *bodies = argument;
    const int32_t d = bodies->dimensions;
    double *trace = state;
    for (int64_t k = 0; k < bodies->count * d; k++)
        *trace +=
            (bodies->mass ? bodies->mass[k / d] : 1) * bodies->velocity[k] * bodies->velocity[k];
}

void forces_add_motion(const kith_context *context, const struct forces_job *job, double *trace)
{
    if (job->is_sliced)
        ranks_in_turn(context, add_motion, job->sources, trace, sizeof *trace);
    else
        add_motion(job->sources, trace);
}

static void free_side(struct forces_side *side)
{
    free(side->position);
    free(side->mass);
    free(side->charge);
    free(side->softening);
    free(side->epsilon);
    free(side->sigma);
}

void forces_free_job(struct forces_job *job)
{
    free_side(&job->source_side);
    free_side(&job->target_side);
    free(job->result);
    kith_bodies_free(job->sources);
    kith_bodies_free(job->targets);
}
