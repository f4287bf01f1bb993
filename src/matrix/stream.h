#ifndef MATRIX_STREAM_H
#define MATRIX_STREAM_H

#include "matrix/arguments.h"
#include "matrix/backend.h"

static inline struct matrix_task matrix_task_of(const struct matrix_arguments *arguments,
                                                const struct matrix_problem *problem)
{
    return (struct matrix_task){.law = arguments->law,
                                .kind = arguments->view.form.kind,
                                .dtype = arguments->dtype,
                                .problem = *problem};
}

static inline bool matrix_by_reference(const struct matrix_arguments *arguments)
{
    return arguments->options.method == KITH_MATRIX_REFERENCE;
}

/* Receives rows first … first + count of the matrix, contiguous, in the host's memory. */
typedef kith_status matrix_take_rows(void *taker, int64_t first, int64_t count, const void *values);

/* Computes the matrix in blocks of rows and passes them to the callback in order: meanwhile a GPU
 * copies the next block to the host and computes the one after it.
 *
 *   bytes    that the blocks in the host's memory take together; at least two rows' worth
 *   seconds  [out] or NULL: the time without the callback
 *
 * Reports the rows done to the progress callback. */
kith_status matrix_stream(kith_context *context, const struct matrix_task *task,
                          const kith_matrix_options *options, int64_t bytes, matrix_take_rows *take,
                          void *taker, double *seconds);

#endif
