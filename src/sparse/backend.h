#ifndef SPARSE_BACKEND_H
#define SPARSE_BACKEND_H

#include "sparse/product.h"
#include "sparse/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of a device for sparse matrices beyond device/services.h, whose contract applies;
 * see sparse/formats.h and sparse/product.h. */
struct sparse_backend {
    /* assemble brings a caller's entries, in the device's memory, in order; NULL where that is the
     * host's. transpose makes Aᵀ. What both put into *made was allocated here, is freed with
     * release, and is valid on success only. */
    kith_status (*assemble)(kith_context *context, const struct sparse_entries *entries,
                            struct sparse_csr *made);
    kith_status (*transpose)(kith_context *context, const struct sparse_csr *csr,
                             struct sparse_csr *made);
    kith_status (*inspect)(kith_context *context, const struct sparse_csr *csr,
                           struct sparse_statistics *statistics);

    /* Whether the device has the plan's format and kernel for such a matrix, in which case it
     * completes the plan: parameters that are 0, bytes, seconds. */
    bool (*predict)(kith_context *context, const struct sparse_statistics *statistics,
                    struct sparse_plan *plan);

    /* Fills a matrix of zeros whose csr and plan are set. What it allocates it records in
     * matrix->memory, also before a failure; dispose releases `own` and nothing else. */
    kith_status (*convert)(kith_context *context, const struct sparse_statistics *statistics,
                           struct sparse_matrix *matrix);
    void (*dispose)(kith_context *context, struct sparse_matrix *matrix); /* NULL: nothing to do */
    kith_status (*multiply)(kith_context *context, const struct sparse_product *product);
};

/* The context's. */
const struct sparse_backend *sparse_backend_of(const kith_context *context);

#ifdef __cplusplus
}
#endif

#endif
