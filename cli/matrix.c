/* kith matrix: the interaction matrix of a file's particles. */

#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "device_choice.h"
#include "json.h"
#include "streams.h"

static double constant_of(const struct matrix_options *options, const kith_bodies *bodies)
{
    const double g = law_options_g(&options->law, options->input.gravitational_constant, bodies);
    return g == 0 ? 1 : g;
}

/* G, by --g or of the bodies, is a parameter of the law. */
static int set_constant(const char *command, const struct matrix_job *job)
{
    const struct matrix_options *options = job->options;
    const double g = constant_of(options, job->rows);
    if (job->columns && constant_of(options, job->columns) != g)
        return cli_fail_with(command,
                             "the gravitational constant of %s is %.17g, but that of %s is %.17g; "
                             "give --g",
                             options->input.path, g, options->columns,
                             constant_of(options, job->columns));
    if ((g != 1 || options->input.gravitational_constant != 0) &&
        kith_law_set(options->law.law, "G", g) != KITH_OK)
        return cli_fail_with(command,
                             "--g is given, but the law is %s; G is the constant of gravity",
                             options->law.text);
    return exit_ok;
}

/* --columns: another file, read as the first is. */
static int read_columns(const char *command, const struct matrix_options *options,
                        kith_bodies **columns)
{
    struct input_options input = options->input;
    if (!options->columns)
        return exit_ok;
    input.path = options->columns;
    return load_bodies(command, &input, options->output, true, columns);
}

/* --times. */
static int read_vector(const char *command, const struct matrix_options *options,
                       kith_array *vector)
{
    const char *path = options->vector;
    int code = cli_take_plain_input(command, &path, options->output);
    if (code == exit_ok && kith_npy_read(path, vector) != KITH_OK)
        code = cli_fail(command);
    return code;
}

static int read_input(const char *command, struct matrix_job *job)
{
    const struct matrix_options *options = job->options;
    int code = load_bodies(command, &options->input, options->output,
                           options->common.quiet || options->common.json, &job->rows);
    if (code == exit_ok)
        code = read_columns(command, options, &job->columns);
    if (code == exit_ok)
        code = set_constant(command, job);
    if (code == exit_ok && options->vector)
        code = read_vector(command, options, &job->vector);
    if (code == exit_ok && job->columns && job->columns->dimensions != job->rows->dimensions)
        code =
            cli_fail_with(command, "%s has %d dimensions and %s has %d; give two files of one kind",
                          options->input.path, (int)job->rows->dimensions, options->columns,
                          (int)job->columns->dimensions);
    return code;
}

/* Bytes of the values of the matrix, stored or not. */
static double matrix_bytes(const struct matrix_job *job)
{
    const kith_bodies *columns = job->columns ? job->columns : job->rows;
    return (double)job->rows->count * (double)columns->count *
           (double)kith_dtype_bytes(job->options->common.precision);
}

static int print_json(const char *command, const struct matrix_job *job)
{
    const kith_bodies *columns = job->columns ? job->columns : job->rows;
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "rows", job->rows->count);
    json_add_count(object, "columns", columns->count);
    cJSON_AddStringToObject(object, "law", job->options->law.text);
    json_add_real(object, "bytes_per_second", matrix_bytes(job) / job->seconds);
    json_add_real(object, "seconds", job->seconds);
    cJSON_AddStringToObject(object, "device", cli_device_name(kith_context_device(job->context)));
    cJSON_AddStringToObject(object, "precision",
                            cli_precision_name(job->options->common.precision));
    return json_print(command, object);
}

static void free_particles(kith_particles *particles)
{
    free(particles->positions.data);
    for (int32_t k = 0; k < KITH_MAX_COLUMNS; k++)
        free(particles->columns[k].values.data);
}

static void free_job(struct matrix_job *job)
{
    free_particles(&job->row_particles);
    free_particles(&job->column_particles);
    free(job->vector.data);
    free(job->result.data);
    kith_bodies_free(job->rows);
    kith_bodies_free(job->columns);
    kith_context_free(job->context);
}

/* The device for the particles that have been read. */
static int choose_device(const char *command, struct matrix_job *job)
{
    const struct matrix_options *options = job->options;
    const double rows = (double)job->rows->count;
    const double columns = job->columns ? (double)job->columns->count : rows;
    const kith_work work = {.kind = options->what == matrix_elements ? KITH_WORK_MATRIX
                                                                     : KITH_WORK_PRODUCT,
                            .units = rows * columns,
                            .rows = job->columns ? rows + columns : rows};
    return cli_choose_device(command, &options->common, work, &job->context);
}

int command_matrix(int argc, char **argv)
{
    struct matrix_options options = {.input.without_velocities = true};
    struct matrix_job job = {.options = &options};
    matrix_parse(argc, argv, &options);
    options.input.is_electric = law_options_are_electric(&options.law);
    int code = exit_failed;
    const bool needs_gpu =
        options.matrix.method == KITH_MATRIX_TILE_P || options.matrix.method == KITH_MATRIX_TILE_P2;
    if (needs_gpu && options.common.context.device.kind == KITH_DEVICE_AUTO)
        options.common.context.device = cli_first_device();
    const kith_context_options begin = cli_context_to_begin(&options.common);
    if (kith_context_create(&begin, &job.context) != KITH_OK)
        code = cli_fail(argv[0]);
    else
        code = read_input(argv[0], &job);
    if (code == exit_ok)
        code = choose_device(argv[0], &job);
    if (code == exit_ok)
        code = matrix_compute(argv[0], &job);
    if (code == exit_ok && options.what != matrix_elements &&
        (options.output || !options.common.json))
        code = matrix_write_result(argv[0], &job);
    if (code == exit_ok && options.common.json)
        code = print_json(argv[0], &job);
    free_job(&job);
    law_options_free(&options.law);
    return code;
}
