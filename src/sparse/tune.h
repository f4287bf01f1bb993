#ifndef SPARSE_TUNE_H
#define SPARSE_TUNE_H

#include "core/status.h"
#include "sparse/statistics.h"

enum { sparse_tuned_plans = 4 };

/* Times a product with each plan and moves the fastest to the front, its seconds as measured.
 * Errors: those of a conversion, if none of the plans can be converted to. */
kith_status sparse_tune(kith_context *context, const struct sparse_csr *csr,
                        const struct sparse_statistics *statistics, int32_t *count,
                        struct sparse_plan *plans);

#endif
