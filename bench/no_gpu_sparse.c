/* In place of gpu_sparse.c in a build without CUDA, which cannot make a context for them. */

#include "gpu_sparse.h"

#include <stddef.h>

#include "core/status.h"

static kith_status fail(void)
{
    return kith_fail(KITH_UNSUPPORTED,
                     "this build has no CUDA backend; build with the CUDA toolkit");
}

const char *gpu_sparse_peer_name(enum gpu_sparse_peer peer)
{
    (void)peer;
    return "cuSPARSE";
}

kith_status gpu_sparse_create(kith_context *context, kith_dtype dtype, int64_t rows,
                              int64_t columns, const int64_t *row_start, const int32_t *column,
                              const double *value, struct gpu_sparse **sparse)
{
    (void)context, (void)dtype, (void)rows, (void)columns;
    (void)row_start, (void)column, (void)value;
    *sparse = NULL;
    return fail();
}

void gpu_sparse_free(struct gpu_sparse *sparse)
{
    (void)sparse;
}

kith_status gpu_sparse_make(struct gpu_sparse *sparse, const kith_sparse_options *options,
                            kith_sparse **made)
{
    (void)sparse, (void)options;
    *made = NULL;
    return fail();
}

kith_status gpu_sparse_time(struct gpu_sparse *sparse, kith_sparse *matrix,
                            enum gpu_sparse_vectors vectors, int64_t calls, double *seconds)
{
    (void)sparse, (void)matrix, (void)vectors, (void)calls, (void)seconds;
    return fail();
}

kith_status gpu_sparse_time_peer(struct gpu_sparse *sparse, enum gpu_sparse_peer peer,
                                 enum gpu_sparse_vectors vectors, int64_t calls, double *seconds)
{
    (void)sparse, (void)peer, (void)vectors, (void)calls, (void)seconds;
    return fail();
}

kith_status gpu_sparse_difference(struct gpu_sparse *sparse, double *difference)
{
    (void)sparse, (void)difference;
    return fail();
}

kith_status gpu_sparse_copy_rate(kith_context *context, double *bytes_per_second)
{
    (void)context, (void)bytes_per_second;
    return fail();
}
