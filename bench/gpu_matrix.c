/* The interaction matrix of arrays on the device, and memset, timed by events. */

#include "gpu_matrix.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda.h"

struct gpu_matrix {
    kith_context *context;
    kith_particles particles;
    kith_array matrix, vector, product;
};

static kith_status allocate(kith_context *context, int64_t rows, int64_t columns, kith_dtype dtype,
                            kith_array *array)
{
    *array = kith_array_matrix(NULL, dtype, rows, columns);
    array->device = kith_context_device(context);
    return context->services->allocate(context, rows * columns, kith_dtype_bytes(dtype),
                                       "arrays to measure with", &array->data);
}

static kith_status fill(struct gpu_matrix *made, kith_array positions, bool stored)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(made->context, &scope));
    kith_context *context = made->context;
    const int64_t n = positions.shape[0];
    const kith_dtype dtype = positions.dtype;
    KITH_TRY(allocate(context, n, 3, dtype, &made->particles.positions));
    KITH_TRY(context->services->copy_in(context, made->particles.positions.data, positions.data,
                                        3 * n * kith_dtype_bytes(dtype)));
    KITH_TRY(allocate(context, n, 1, dtype, &made->vector));
    KITH_TRY(allocate(context, n, 1, dtype, &made->product));
    made->vector.ndim = made->product.ndim = 1;
    KITH_TRY(context->services->copy_in(context, made->vector.data, positions.data,
                                        n * kith_dtype_bytes(dtype)));
    return stored ? allocate(context, n, n, dtype, &made->matrix) : KITH_OK;
}

kith_status gpu_matrix_create(kith_context *context, kith_array positions, bool stored,
                              struct gpu_matrix **matrix)
{
    struct gpu_matrix *made = NULL;
    *matrix = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "what is measured", &made));
    made->context = context;
    const kith_status status = fill(made, positions, stored);
    if (status == KITH_OK)
        *matrix = made;
    else
        gpu_matrix_free(made);
    return status;
}

void gpu_matrix_free(struct gpu_matrix *matrix)
{
    if (!matrix)
        return;
    DEVICE_SCOPE(scope);
    (void)device_enter(matrix->context, &scope);
    const struct device_services *services = matrix->context->services;
    services->release(matrix->context, matrix->particles.positions.data);
    services->release(matrix->context, matrix->vector.data);
    services->release(matrix->context, matrix->product.data);
    services->release(matrix->context, matrix->matrix.data);
    free(matrix);
}

static kith_status begin(const struct gpu_matrix *matrix)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(matrix->context, &scope));
    return matrix->context->services->mark_time(matrix->context, 0);
}

static kith_status end(const struct gpu_matrix *matrix, double *seconds)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(matrix->context, &scope));
    const struct device_services *services = matrix->context->services;
    KITH_TRY(services->mark_time(matrix->context, 1));
    KITH_TRY(kith_context_synchronize(matrix->context));
    return services->elapsed_seconds(matrix->context, seconds);
}

kith_status gpu_matrix_time_fill(struct gpu_matrix *matrix, const kith_law *law,
                                 const kith_matrix_options *options, int64_t calls, double *seconds)
{
    KITH_TRY(begin(matrix));
    for (int64_t k = 0; k < calls; k++)
        KITH_TRY(kith_matrix_compute(matrix->context, law, options, &matrix->particles, NULL,
                                     matrix->matrix));
    return end(matrix, seconds);
}

kith_status gpu_matrix_time_product(struct gpu_matrix *matrix, const kith_law *law, int64_t calls,
                                    double *seconds)
{
    KITH_TRY(begin(matrix));
    for (int64_t k = 0; k < calls; k++)
        KITH_TRY(kith_matrix_multiply(matrix->context, law, NULL, &matrix->particles, NULL,
                                      matrix->vector, matrix->product));
    return end(matrix, seconds);
}

kith_status gpu_matrix_time_memset(struct gpu_matrix *matrix, int64_t calls, double *seconds)
{
    const int64_t n = matrix->matrix.shape[0];
    const size_t bytes = (size_t)(n * n * kith_dtype_bytes(matrix->matrix.dtype));
    KITH_TRY(begin(matrix));
    for (int64_t k = 0; k < calls; k++)
        KITH_TRY(
            cuda_check(cudaMemsetAsync(matrix->matrix.data, 1, bytes, cuda_stream(matrix->context)),
                       "setting memory"));
    return end(matrix, seconds);
}

double gpu_matrix_issue_rate(kith_context *context)
{
    int kilohertz = 0;
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate,
                               kith_context_device(context).index) != cudaSuccess)
        return 0;
    return (double)cuda_multiprocessors(context) * 128 * 1e3 * kilohertz;
}
