#ifndef SUMS_BACKEND_H
#define SUMS_BACKEND_H

#include "sums/update.h"

/* What sums need of a device beyond device/services.h. */
struct sums_backend {
    /* Computes results and pair_count. Errors: as kith_sums_compute, but for those of arguments. */
    kith_status (*compute)(kith_context *context, struct sums_problem *problem);

    /* Updates columns. Errors: as kith_columns_update, but for those of arguments. */
    kith_status (*update)(kith_context *context, struct update_problem *problem);
};

/* The context's. */
const struct sums_backend *sums_backend_of(const kith_context *context);

kith_status sums_cpu(kith_context *context, struct sums_problem *problem);
#ifdef KITH_HAS_CUDA
kith_status sums_cuda(kith_context *context, struct sums_problem *problem);
#endif

#endif
