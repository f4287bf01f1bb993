/* kith matrix: from bodies to the result. */

#include "matrix.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "progress.h"
#include "streams.h"

static kith_array vector_or_none(void *values, kith_dtype dtype, int64_t count)
{
    return values ? kith_array_vector(values, dtype, count) : kith_array_none();
}

static bool take_particles(const kith_bodies *bodies, kith_dtype dtype, kith_particles *particles)
{
    const int64_t n = bodies->count, d = bodies->dimensions;
    bool failed = false;
    particles->positions =
        kith_array_matrix(cli_in_precision(bodies->position, n * d, dtype, &failed), dtype, n, d);
    particles->columns[0] = (kith_particle_column){
        "m", vector_or_none(cli_in_precision(bodies->mass, n, dtype, &failed), dtype, n)};
    particles->columns[1] = (kith_particle_column){
        "q", vector_or_none(cli_in_precision(bodies->charge, n, dtype, &failed), dtype, n)};
    return !failed;
}

static bool take_vector(struct matrix_job *job)
{
    const int64_t count = job->vector.shape[0] * (job->vector.ndim == 2 ? job->vector.shape[1] : 1);
    bool failed = false;
    void *values = job->vector.data;
    if (job->vector.ndim == 0)
        return true;
    job->vector.data = cli_in_precision(values, count, job->options->common.precision, &failed);
    job->vector.dtype = job->options->common.precision;
    free(values);
    return !failed;
}

/* The reference and symmetric matrices are computed whole, then written. */
static bool is_kept(const struct matrix_options *options)
{
    return options->what == matrix_elements &&
           (options->matrix.symmetric || options->matrix.method == KITH_MATRIX_REFERENCE);
}

static bool make_result(const char *command, struct matrix_job *job)
{
    const struct matrix_options *options = job->options;
    const bool is_whole =
        options->what == matrix_histogram ||
        (options->what == matrix_rows_reduced && options->reduction == KITH_REDUCE_ARGMIN);
    const bool is_matrix =
        is_kept(options) || (options->what == matrix_product && job->vector.ndim == 2);
    const int64_t rows = options->what == matrix_histogram ? options->bins : job->rows->count;
    const int64_t columns = is_kept(options) ? (job->columns ? job->columns : job->rows)->count
                            : is_matrix      ? job->vector.shape[1]
                                             : 1;
    const kith_dtype dtype = is_whole ? KITH_I64 : options->common.precision;
    if (options->what == matrix_elements && !is_kept(options))
        return true;
    void *memory = cli_allocate(
        command, options->what == matrix_histogram ? "the bins of --histogram" : "the result",
        rows * columns, kith_dtype_bytes(dtype));
    job->result = is_matrix ? kith_array_matrix(memory, dtype, rows, columns)
                            : kith_array_vector(memory, dtype, rows);
    return memory;
}

static kith_status compute_whole(struct matrix_job *job, const kith_particles *columns)
{
    const struct matrix_options *options = job->options;
    const double start = cli_clock();
    kith_status status = kith_matrix_compute(job->context, job->options->law.law, &options->matrix,
                                             &job->row_particles, columns, job->result);
    job->seconds = cli_clock() - start;
    if (status == KITH_OK && options->output)
        status = kith_npy_write(cli_output_path(options->output), job->result);
    return status;
}

static kith_status compute_reduced(const struct matrix_job *job, const kith_particles *columns)
{
    const struct matrix_options *options = job->options;
    switch (options->what) {
    case matrix_rows_reduced:
        return kith_matrix_reduce(job->context, job->options->law.law, &options->matrix,
                                  &job->row_particles, columns, options->reduction, job->result);
    case matrix_histogram:
        return kith_matrix_histogram(job->context, job->options->law.law, &options->matrix,
                                     &job->row_particles, columns, options->low, options->high,
                                     job->result);
    default:
        return kith_matrix_multiply(job->context, job->options->law.law, &options->matrix,
                                    &job->row_particles, columns, job->vector, job->result);
    }
}

/* The time to compile a formula is not counted: one element is computed before. */
static kith_status make_ready(struct matrix_job *job)
{
    double element = 0;
    kith_particles one = {.positions = job->row_particles.positions};
    const kith_dtype dtype = one.positions.dtype;
    const struct law_options *law = &job->options->law;
    const bool is_formula = law->is_potential || strncmp(law->text, "expr:", 5) == 0;
    if (!is_formula || job->rows->count == 0)
        return KITH_OK;
    one.positions.shape[0] = 1;
    return kith_matrix_compute(job->context, job->options->law.law, NULL, &one, NULL,
                               kith_array_matrix(&element, dtype, 1, 1));
}

static kith_status compute(struct matrix_job *job)
{
    const struct matrix_options *options = job->options;
    const kith_particles *columns = job->columns ? &job->column_particles : NULL;
    const kith_status ready = make_ready(job);
    if (ready != KITH_OK)
        return ready;
    if (is_kept(options))
        return compute_whole(job, columns);
    if (options->what == matrix_elements)
        return kith_matrix_write(job->context, job->options->law.law, &options->matrix,
                                 &job->row_particles, columns, options->memory,
                                 options->output ? cli_output_path(options->output) : NULL,
                                 &job->seconds);
    const double start = cli_clock();
    const kith_status status = compute_reduced(job, columns);
    job->seconds = cli_clock() - start;
    return status;
}

int matrix_compute(const char *command, struct matrix_job *job)
{
    const kith_dtype dtype = job->options->common.precision;
    if (!take_particles(job->rows, dtype, &job->row_particles))
        return cli_fail_with(command, "no memory for %lld particles", (long long)job->rows->count);
    if (job->columns && !take_particles(job->columns, dtype, &job->column_particles))
        return cli_fail_with(command, "no memory for the %lld particles of --columns",
                             (long long)job->columns->count);
    if (!take_vector(job))
        return cli_fail_with(command, "no memory for the numbers of %s", job->options->vector);
    if (!make_result(command, job))
        return exit_failed;
    progress_begin(job->context, job->options->common.quiet);
    const kith_status status = compute(job);
    progress_end(job->context);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

/* Columns low, high and count of a histogram; the column of any other result is named after it. */
static int write_table(const char *command, const struct matrix_job *job, const char *path,
                       const char *format)
{
    const struct matrix_options *options = job->options;
    if (options->what != matrix_histogram) {
        const kith_table_column column = {options->what == matrix_product
                                              ? "product"
                                              : matrix_reductions.words[options->reduction],
                                          job->result};
        const kith_status status = kith_table_write_records(path, format, 1, &column);
        return status == KITH_OK ? exit_ok : cli_fail(command);
    }
    double *edges = cli_allocate(command, "the edges of the bins of --histogram", options->bins,
                                 2 * (int64_t)sizeof *edges);
    if (!edges)
        return exit_failed;
    for (int64_t k = 0; k < options->bins; k++) {
        const double width = (options->high - options->low) / (double)options->bins;
        edges[k] = options->low + (double)k * width;
        edges[options->bins + k] =
            k + 1 < options->bins ? options->low + (double)(k + 1) * width : options->high;
    }
    const kith_table_column columns[] = {
        {"low", kith_array_vector(edges, KITH_F64, options->bins)},
        {"high", kith_array_vector(edges + options->bins, KITH_F64, options->bins)},
        {"count", job->result}};
    const kith_status status = kith_table_write_records(path, format, 3, columns);
    free(edges);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}

/* An NPY file has the plain numbers, text the columns' names too. */
int matrix_write_result(const char *command, const struct matrix_job *job)
{
    const char *path = cli_output_path(job->options->output ? job->options->output : "-");
    const char *format = cli_output_format(path, job->options->to), *dot = strrchr(path, '.');
    const bool is_npy = strcasecmp(format ? format : dot ? dot + 1 : "", "npy") == 0;
    kith_status status = KITH_OK;
    if (!is_npy && job->result.ndim == 2)
        return cli_fail_with(command, "the product has %lld columns; give -o FILE.npy or --to npy",
                             (long long)job->result.shape[1]);
    if (!is_npy)
        return write_table(command, job, path, format);
    if (job->result.dtype == KITH_I64)
        status = kith_integers_write(path, job->result);
    else
        status = kith_npy_write(path, job->result);
    return status == KITH_OK ? exit_ok : cli_fail(command);
}
