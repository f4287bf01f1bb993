#ifndef CLI_BENCH_SPARSE_GPU_H
#define CLI_BENCH_SPARSE_GPU_H

#include "bench_sparse.h"
#include "bench_sparse_matrices.h"

/* kith bench sparse of the GPU that the context is on: in both precisions, beside cuSPARSE if there
 * is one. */
int bench_sparse_on_gpu(const struct sparse_bench_options *options, kith_context *context);

#endif
