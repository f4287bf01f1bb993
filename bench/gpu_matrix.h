#ifndef BENCH_GPU_MATRIX_H
#define BENCH_GPU_MATRIX_H

#include "kith/matrix.h"

/* What kith bench matrix measures on a GPU, of arrays in its memory. A build without CUDA has these
 * functions too (no_gpu_matrix.c), but no context to call them with. */
struct gpu_matrix;

/* positions is n × 3 on the host, and copied; with room for the matrix if it is to be stored. The
 * context must outlive what is made.
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status gpu_matrix_create(kith_context *context, kith_array positions, bool stored,
                              struct gpu_matrix **matrix);
void gpu_matrix_free(struct gpu_matrix *matrix);

/* Seconds of so many fills, products with a vector, or memsets of as many bytes as the matrix has,
 * between two events on the stream. */
kith_status gpu_matrix_time_fill(struct gpu_matrix *matrix, const kith_law *law,
                                 const kith_matrix_options *options, int64_t calls,
                                 double *seconds);
kith_status gpu_matrix_time_product(struct gpu_matrix *matrix, const kith_law *law, int64_t calls,
                                    double *seconds);
kith_status gpu_matrix_time_memset(struct gpu_matrix *matrix, int64_t calls, double *seconds);

/* Instructions a second that all multiprocessors issue for all threads, at the highest clock. */
double gpu_matrix_issue_rate(kith_context *context);

#endif
