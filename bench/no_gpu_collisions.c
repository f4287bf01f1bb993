/* The functions of gpu_collisions.h in a build without CUDA: never called. */

#include "gpu_collisions.h"

kith_status gpu_array_copy(kith_context *context, kith_array host, kith_array *array)
{
    (void)context;
    (void)host;
    (void)array;
    return KITH_NO_DEVICE;
}

void gpu_array_free(kith_array *array)
{
    (void)array;
}
