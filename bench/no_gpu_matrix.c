/* gpu_matrix.h of a build without CUDA. */

#include "gpu_matrix.h"

kith_status gpu_matrix_create(kith_context *context, kith_array positions, bool stored,
                              struct gpu_matrix **matrix)
{
    (void)context;
    (void)positions;
    (void)stored;
    *matrix = 0;
    return KITH_UNSUPPORTED;
}

void gpu_matrix_free(struct gpu_matrix *matrix)
{
    (void)matrix;
}

kith_status gpu_matrix_time_fill(struct gpu_matrix *matrix, const kith_law *law,
                                 const kith_matrix_options *options, int64_t calls, double *seconds)
{
    (void)matrix;
    (void)law;
    (void)options;
    (void)calls;
    *seconds = 0;
    return KITH_UNSUPPORTED;
}

kith_status gpu_matrix_time_product(struct gpu_matrix *matrix, const kith_law *law, int64_t calls,
                                    double *seconds)
{
    return gpu_matrix_time_fill(matrix, law, 0, calls, seconds);
}

kith_status gpu_matrix_time_memset(struct gpu_matrix *matrix, int64_t calls, double *seconds)
{
    return gpu_matrix_time_fill(matrix, 0, 0, calls, seconds);
}

double gpu_matrix_issue_rate(kith_context *context)
{
    (void)context;
    return 0;
}
