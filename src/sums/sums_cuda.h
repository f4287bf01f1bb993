#ifndef SUMS_SUMS_CUDA_H
#define SUMS_SUMS_CUDA_H

/* The parts of sums on a GPU, a file each. */

#include "cells/cells.h"
#include "sums/problem.h"
#include "sums/sums_kernel.h"
#include "sums/sums_kernel_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A column of records to be made. */
struct sums_packed_column {
    const void *from;
    int64_t stride;
    unsigned long long *bad_row; /* at least ~ of the first row whose magnitude is not at most
                                    `most`; NULL: no check */
    double most;
};

/* Records to be made of columns; x, y and z are the first three of them, from NULL for zeros. With
 * `positions` no records are made, but columns in the order of slots: x, y and z there, and the
 * others in `records`, one after the other. */
struct sums_packing {
    kith_dtype dtype;
    int64_t count;
    const uint32_t *order; /* the row of each record; NULL: its number */
    int32_t columns, fields;
    struct sums_packed_column column[3 + sums_most_columns];
    void *records; /* aligned to 16 bytes */
    void *positions[3];
};

kith_status sums_pack_cuda(kith_context *context, const struct sums_packing *packing);

/* Possible errors in the numbers of a call, in the order in which they are reported. */
struct sums_suspect {
    const unsigned long long *bad; /* ~ of the first row; 0: none */
    const void *data;
    int64_t strides[2], columns;
    double most;   /* the largest magnitude of a valid number */
    int32_t bytes; /* of a number: 8 or 4 */
    bool is_whole;
    const char *name, *remedy, *other_remedy; /* other: of a number that is finite */
};

/* Whether the call is the sum of a Gaussian in float over all pairs, and of as many that the
 * kernels for that are the fastest (matrix/gaussian_cuda.h). */
struct gaussian_sums;
bool sums_is_gaussian_cuda(const struct sums_problem *problem, struct gaussian_sums *sums);

enum { sums_most_suspects = 4 + 2 * sums_most_columns };

/* Reports the first of them with the next synchronize (device/deferred_error.h). */
kith_status sums_tell_cuda(kith_context *context, int32_t count,
                           const struct sums_suspect *suspects);

#ifdef __cplusplus
}
#endif

#endif
