#ifndef SPARSE_OBJECT_H
#define SPARSE_OBJECT_H

#include "core/status.h"
#include "sparse/formats.h"
#include "sparse/product.h"
#include "sparse/statistics.h"

/* op(A) for one operation: its rows, and the format that products read. */
struct sparse_side {
    bool ready;
    struct sparse_csr csr; /* in the backend's memory */
    struct sparse_matrix matrix;
    double convert_seconds;
    char reason[320];
};

struct kith_sparse {
    kith_context *context;
    kith_sparse_options options;
    struct sparse_side side[2]; /* in the order of kith_sparse_operation */
};

/* Chooses a plan and converts: side->csr is there, the rest is zero. */
kith_status sparse_prepare(kith_sparse *sparse, struct sparse_side *side);

/* Checks options and context before any work. */
kith_status sparse_begin(kith_context *context, const kith_sparse_options *options,
                         kith_sparse **sparse);

/* Takes ownership of what was assembled on the host (its arrays are freed in any case), copies it
 * to the backend and prepares A. On failure frees *sparse and sets it to NULL. */
kith_status sparse_finish_from_host(struct sparse_csr *csr, kith_status assembled,
                                    kith_sparse **sparse);

/* Chooses by the statistics among what the backend has and the options allow. Several plans, the
 * best first, for tuning.
 *
 *   count  [in] room in plans, [out] how many there are, at least 1 on success
 *
 * Errors: KITH_UNSUPPORTED: the backend has no such format and kernel, or the format would be
 *         mostly padding. */
kith_status sparse_choose(kith_context *context, const kith_sparse_options *options,
                          const struct sparse_statistics *statistics, int32_t *count,
                          struct sparse_plan *plans);

/* Why, as a line for kith_sparse_info. */
void sparse_explain(const kith_sparse_options *options, const struct sparse_statistics *statistics,
                    const struct sparse_plan *plan, char *reason, int64_t bytes);

/* Frees what a conversion made; csr stays. */
void sparse_matrix_release(kith_context *context, struct sparse_matrix *matrix);

#endif
