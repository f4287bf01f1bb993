#ifndef CLI_MATRIX_H
#define CLI_MATRIX_H

#include "law_options.h"
#include "load.h"
#include "names.h"

/* What kith matrix computes. */
enum matrix_what { matrix_elements, matrix_rows_reduced, matrix_histogram, matrix_product };

struct matrix_options {
    struct common_options common;
    struct input_options input;
    struct law_options law;
    const char *columns, *output, *to, *vector;
    kith_matrix_options matrix;
    enum matrix_what what;
    kith_matrix_reduction reduction;
    int64_t bins, memory;
    double low, high;
};

/* What the command works on. */
struct matrix_job {
    const struct matrix_options *options;
    kith_context *context;
    kith_bodies *rows, *columns; /* columns NULL: the rows */
    kith_particles row_particles, column_particles;
    kith_array vector, result;
    double seconds;
};

/* Of --reduce, in the order of enum kith_matrix_reduction. */
extern const struct choices matrix_reductions;

/* Parses the command line; the result is complete. */
void matrix_parse(int argc, char **argv, struct matrix_options *options);

/* Computes into job->result, or for the elements into the output; then writes the result. */
int matrix_compute(const char *command, struct matrix_job *job);
int matrix_write_result(const char *command, const struct matrix_job *job);

#endif
