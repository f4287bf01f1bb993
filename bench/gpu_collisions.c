#include "gpu_collisions.h"

#include "device/context.h"
#include "device/cuda.h"

static kith_status copy(kith_array host, int64_t bytes, kith_array *array)
{
    const size_t room = bytes > 0 ? (size_t)bytes : 1;
    KITH_TRY(cuda_check(cudaMalloc(&array->data, room), "memory for the beads"));
    return cuda_check(cudaMemcpy(array->data, host.data, (size_t)bytes, cudaMemcpyHostToDevice),
                      "copying the beads");
}

kith_status gpu_array_copy(kith_context *context, kith_array host, kith_array *array)
{
    int64_t bytes = kith_dtype_bytes(host.dtype);
    for (int32_t k = 0; k < host.ndim; k++)
        bytes *= host.shape[k];
    KITH_TRY(cuda_check(cudaSetDevice(kith_context_device(context).index), "choosing the device"));
    *array = host;
    array->device = kith_context_device(context);
    array->data = NULL;
    const kith_status status = copy(host, bytes, array);
    if (status != KITH_OK)
        gpu_array_free(array);
    return status;
}

void gpu_array_free(kith_array *array)
{
    cudaFree(array->data);
    array->data = NULL;
}
