#ifndef MATRIX_PACK_H
#define MATRIX_PACK_H

#include "matrix/arguments.h"
#include "matrix/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For pack.c and the GPU's packing: sets the columns' addresses in memory of *bytes bytes; memory
 * may be NULL. */
void matrix_lay_out(const struct matrix_arguments *arguments, kith_dtype dtype, char *memory,
                    struct matrix_problem *problem, int64_t *bytes);

/* The array of a side's weights, or none. */
kith_array matrix_weights_of(const struct matrix_arguments *arguments,
                             const struct particles_side *side);

/* The column that is the law's weight. */
enum particles_column matrix_weight_column(const struct matrix_arguments *arguments);

/* The largest magnitude of a coordinate: where the law needs distances, their squares are finite.
 */
double matrix_largest_coordinate(const struct matrix_arguments *arguments, kith_dtype dtype);

/* The problem with columns of the precision dtype in the host's memory, of arrays there, in the
 * context's workspace. Errors: KITH_INVALID_ARGUMENT (a number that is not finite),
 * KITH_OUT_OF_MEMORY. */
kith_status matrix_pack(const struct matrix_arguments *arguments, kith_dtype dtype,
                        struct matrix_problem *problem);

/* matrix_backend_of(context)->pack without b, of arrays on the host too: they are staged. Waits
 * then.
 */
kith_status matrix_columns(const struct matrix_arguments *arguments,
                           struct matrix_problem *problem);

/* The particles are inputs of a call that is staged. */
void matrix_stage(struct staging *staging, struct matrix_arguments *arguments);

/* The arrays are the host's, and the kernels that are requested the device's. */
bool matrix_is_staged(const struct matrix_arguments *arguments);

#ifdef __cplusplus
}
#endif

#endif
