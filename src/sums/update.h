#ifndef SUMS_UPDATE_H
#define SUMS_UPDATE_H

#include "sums/problem.h"
#include "sums/update_kernel.h"

/* A call of kith_columns_update as a device sees it. The formulas' part of the problem is set. */
struct update_problem {
    struct sums_problem formulas;
    kith_array from[update_most_columns]; /* by their index in the scope; none where not used */
    kith_array to[update_most_outputs];
    int64_t count;
};

/* The columns as the kernels see them. */
struct update_rows update_rows_of(const struct update_problem *problem);

kith_status update_cpu(kith_context *context, struct update_problem *problem);
#ifdef KITH_HAS_CUDA
kith_status update_cuda(kith_context *context, struct update_problem *problem);
#endif

#endif
