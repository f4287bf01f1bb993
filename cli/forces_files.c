/* kith forces: the bodies that it reads and the table that it writes. */

#include "forces_command.h"

#include <string.h>

#include "device/context.h"
#include "forces/slice.h"
#include "io/table.h"
#include "job.h"
#include "ranks/bodies.h"
#include "streams.h"

/* On GPUs trees of gravity have slices. */
static bool suits_gpus(const struct forces_options *options)
{
    return options->solver && forces_solver_is_tree(options->solver) && !options->law.law &&
           !options->targets && options->check == 0 && options->sum != KITH_FORCES_SUM_VALUE &&
           !options->input.softening_of_file;
}

/* What is computed with all bodies has them on all ranks: images. */
static bool wants_all(const struct forces_options *options, const kith_context *context)
{
    return !job_is_divided() || cli_has_images(options->solver) ||
           (context->device.kind != KITH_CPU && !suits_gpus(options));
}

static kith_status unite(kith_context *context, int64_t count, kith_bodies **bodies)
{
    kith_bodies *all = NULL;
    if (!*bodies)
        return KITH_OK;
    const kith_status status = ranks_unite_bodies(context, count, *bodies, &all);
    kith_bodies_free(*bodies);
    *bodies = all;
    return status;
}

/* Few bodies come to all ranks, with all targets. */
static int take_slices(const char *command, kith_context *context, kith_dtype dtype,
                       struct forces_job *job)
{
    job->is_sliced =
        forces_can_be_sliced(context, dtype, job->all) && (!job->targets || job->all_targets > 0);
    if (job->is_sliced)
        return exit_ok;
    kith_status status = unite(context, job->all, &job->sources);
    if (status == KITH_OK)
        status = unite(context, job->all_targets, &job->targets);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

/* This rank's rows of both sides. */
static int load_rows(const char *command, const struct forces_options *options,
                     kith_context *context, bool quiet, struct forces_job *job)
{
    struct input_options input = options->input;
    int code =
        job_load_rows(command, context, &input, options->output, quiet, &job->sources, &job->all);
    input.path = options->targets;
    if (code == exit_ok && options->targets)
        code = job_load_rows(command, context, &input, options->output, true, &job->targets,
                             &job->all_targets);
    return code == exit_ok ? take_slices(command, context, options->common.precision, job) : code;
}

int forces_load(const char *command, const struct forces_options *options, kith_context *context,
                struct forces_job *job)
{
    const bool quiet = options->common.quiet || options->common.json;
    const struct input_options *input = &options->input;
    if (!wants_all(options, context))
        return load_rows(command, options, context, quiet, job);
    const int code =
        job_load_bodies(command, context, input, options->output, quiet, &job->sources);
    job->all = code == exit_ok ? job->sources->count : 0;
    return code;
}

/* The table of some rows of results. Returns its number of columns. */
static int64_t table_of(const struct forces_options *options, const struct forces_job *job,
                        const void *rows, int64_t count, kith_table_column table[4])
{
    static const char *const names[2][4] = {{"ax", "ay", "potential", NULL},
                                            {"ax", "ay", "az", "potential"}};
    const int32_t dimensions = forces_targets(job)->dimensions;
    int64_t columns = dimensions + 1;
    for (int64_t k = 0; k < columns; k++) {
        kith_array values = forces_result(options, job, k);
        memcpy(&values.data, &rows, sizeof rows); /* they are only read */
        values.data = (char *)values.data + k * kith_dtype_bytes(values.dtype);
        values.shape[0] = count;
        table[k] = (kith_table_column){names[dimensions - 2][k], values};
    }
    if (options->sum == KITH_FORCES_SUM_VALUE) {
        table[0] = (kith_table_column){"value", table[dimensions].values};
        columns = 1;
    }
    return columns;
}

struct writing {
    const struct forces_options *options;
    const struct forces_job *job;
    struct table_writer table;
};

static kith_status put_rows(void *argument, int64_t first, int64_t count, const void *rows)
{
    struct writing *writing = argument;
    kith_table_column table[4];
    (void)first;
    table_of(writing->options, writing->job, rows, count, table);
    return table_put(&writing->table, count, table);
}

static kith_status begin_table(struct writing *writing)
{
    const struct forces_options *options = writing->options;
    const struct forces_job *job = writing->job;
    const char *path = cli_output_path(options->output ? options->output : "-");
    kith_table_column table[4];
    const int64_t columns = table_of(options, job, job->result, 0, table);
    return table_begin(path, cli_output_format(path, options->to), columns, table,
                       forces_target_count(job), &writing->table);
}

/* Row by row of the results: the accelerations and the potential. */
static kith_status collect(kith_context *context, struct writing *writing)
{
    const struct forces_job *job = writing->job;
    const int64_t row = (forces_targets(job)->dimensions + 1) *
                        kith_dtype_bytes(writing->options->common.precision);
    KITH_TRY(ranks_agree(context, job_writes() ? begin_table(writing) : KITH_OK));
    return ranks_collect(context, forces_target_count(job), job->result, row, put_rows, writing);
}

int forces_write(const char *command, const struct forces_options *options, kith_context *context,
                 const struct forces_job *job)
{
    struct writing writing = {.options = options, .job = job};
    kith_status status = KITH_OK;
    if (job->is_sliced) {
        status = collect(context, &writing);
    } else if (job_writes()) {
        status = begin_table(&writing);
        if (status == KITH_OK)
            status = put_rows(&writing, 0, forces_target_count(job), job->result);
    }
    status = table_end(&writing.table, status);
    if (job->is_sliced)
        status = ranks_agree(context, status);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}
