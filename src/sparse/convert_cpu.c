#include "sparse/sparse_cpu.h"

kith_status sparse_convert_cpu(kith_context *context, const struct sparse_statistics *statistics,
                               struct sparse_matrix *matrix)
{
    (void)context, (void)statistics, (void)matrix;
    return KITH_OK;
}
