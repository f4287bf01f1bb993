#ifndef MATRIX_PACK_H
#define MATRIX_PACK_H

#include "matrix/arguments.h"
#include "matrix/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The particles of host arrays as columns, in the host's memory and in the backend's own, which may
 * be one and the same. */
struct matrix_packed {
    struct matrix_problem host, own;
    char *memory, *own_memory;
    int64_t bytes;
};

/* The rules of the columns, without their memory: for pack.c and the GPU's packing. */
void matrix_begin_problem(const struct matrix_arguments *arguments, struct matrix_problem *problem);

/* Sets the columns' addresses in memory of *bytes bytes; memory may be NULL. */
void matrix_lay_out(const struct matrix_arguments *arguments, kith_dtype dtype, char *memory,
                    struct matrix_problem *problem, int64_t *bytes);

/* The array of a side's weights, or none. */
kith_array matrix_weights_of(const struct matrix_arguments *arguments,
                             const kith_particles *particles);

/* Packs in the precision dtype, into the context's workspace; columns are the backend's to read
 * after matrix_send. Errors: KITH_INVALID_ARGUMENT (a number that is not finite),
 * KITH_OUT_OF_MEMORY.
 */
kith_status matrix_pack(const struct matrix_arguments *arguments, kith_dtype dtype,
                        struct matrix_packed *packed);

/* Sets the coefficients of sums to column k of b, or to ones where b is none, times the weights. */
kith_status matrix_pack_coefficient(const struct matrix_arguments *arguments, kith_dtype dtype,
                                    kith_array b, int64_t k, const struct matrix_packed *packed);

/* Copies all columns to the backend's memory. */
kith_status matrix_send(const struct matrix_arguments *arguments,
                        const struct matrix_packed *packed);

#ifdef __cplusplus
}
#endif

#endif
