#ifndef BENCH_CUSPARSE_PEER_H
#define BENCH_CUSPARSE_PEER_H

#include <cuda_runtime_api.h>

#include "gpu_sparse.h"

/* An algorithm of cuSPARSE for the product of a matrix in the device's memory. cuSPARSE is loaded
 * on demand: neither the library nor the program needs it. */
struct cusparse_peer;

/* A matrix in the device's memory, 32-bit indices. row has the row of each entry. */
struct cusparse_matrix {
    kith_dtype dtype;
    int64_t rows, columns, nonzeros;
    int32_t *row_start, *row, *column;
    void *value;
    int64_t slots; /* slices of 32 rows, columns −1 in the padding; 0: not made */
    int32_t *slice_start, *slice_column;
    void *slice_value;
};

/* In the device's memory; several are row-major or column-major. */
struct cusparse_vectors {
    void *x, *y;
    int64_t count;
    bool by_columns;
};

/* Prepares y = A x.
 *
 * Errors: KITH_UNSUPPORTED, KITH_OUT_OF_MEMORY, KITH_INTERNAL_ERROR. */
kith_status cusparse_peer_create(const struct cusparse_matrix *matrix, enum gpu_sparse_peer way,
                                 cudaStream_t stream, const struct cusparse_vectors *vectors,
                                 struct cusparse_peer **peer);
void cusparse_peer_free(struct cusparse_peer *peer);

/* Starts one product on the stream. */
kith_status cusparse_peer_multiply(struct cusparse_peer *peer);

#endif
