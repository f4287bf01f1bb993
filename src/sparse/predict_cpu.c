#include "sparse/sparse_cpu.h"

bool sparse_predict_cpu(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan)
{
    (void)context;
    plan->bytes = 4 * (statistics->rows + 1) +
                  (4 + kith_dtype_bytes(statistics->dtype)) * statistics->nonzeros;
    plan->seconds = (double)plan->bytes / 20e9;
    return plan->format == KITH_SPARSE_CSR && plan->kernel == KITH_SPARSE_ROW_THREAD &&
           plan->index_bytes == 4;
}
