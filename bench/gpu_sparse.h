#ifndef BENCH_GPU_SPARSE_H
#define BENCH_GPU_SPARSE_H

#include "kith/sparse.h"

/* What bench_cusparse measures on a GPU: products of kith and of cuSPARSE with one matrix, of
 * vectors on the device.
 *
 * Times are those between two events on the stream, of many products one after the other. */

/* cuSPARSE's algorithms; after the comma those with multiple right-hand sides. */
enum gpu_sparse_peer {
    gpu_sparse_csr1, /* CSR_ALG1 after preprocess, CSR_ALG1 */
    gpu_sparse_csr2, /* CSR_ALG2, which needs none, CSR_ALG2 */
    gpu_sparse_coo1, /* COO_ALG1, COO_ALG4 */
    gpu_sparse_sell, /* SELL_ALG1, slices of 32 rows, CSR_ALG3 in its place */
    gpu_sparse_peers
};

/* "cuSPARSE csr 1", … */
const char *gpu_sparse_peer_name(enum gpu_sparse_peer peer);

/* A matrix in the device's memory as cuSPARSE needs it, and vectors for both. */
struct gpu_sparse;

/* Compressed rows on the host, which are copied; the context must outlive the result.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_UNSUPPORTED (2^31 entries or more). */
kith_status gpu_sparse_create(kith_context *context, kith_dtype dtype, int64_t rows,
                              int64_t columns, const int64_t *row_start, const int32_t *column,
                              const double *value, struct gpu_sparse **sparse);
void gpu_sparse_free(struct gpu_sparse *sparse);

/* The same matrix for kith, from the arrays on the device. */
kith_status gpu_sparse_make(struct gpu_sparse *sparse, const kith_sparse_options *options,
                            kith_sparse **made);

/* What a product is of: one vector, or eight, row-major or column-major. */
enum gpu_sparse_vectors { gpu_sparse_one, gpu_sparse_rows, gpu_sparse_columns, gpu_sparse_ways };

/* Seconds of calls products of kith. */
kith_status gpu_sparse_time(struct gpu_sparse *sparse, kith_sparse *matrix,
                            enum gpu_sparse_vectors vectors, int64_t calls, double *seconds);

/* Seconds of calls products of cuSPARSE; the conversion and preprocessing are not counted.
 *
 * Errors: KITH_UNSUPPORTED (there is no cuSPARSE, or the format would be mostly padding). */
kith_status gpu_sparse_time_peer(struct gpu_sparse *sparse, enum gpu_sparse_peer peer,
                                 enum gpu_sparse_vectors vectors, int64_t calls, double *seconds);

/* How far the last product of kith's with one vector is from the last one of cuSPARSE's: the norm
 * of the difference over the norm. */
kith_status gpu_sparse_difference(struct gpu_sparse *sparse, double *difference);

/* Bytes a second of a large copy on the device, reading and writing counted. */
kith_status gpu_sparse_copy_rate(kith_context *context, double *bytes_per_second);

#endif
