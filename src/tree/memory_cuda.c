#include "tree/memory_cuda.h"

#include "device/cuda_state.h"

kith_status tree_reserve_cuda(kith_context *context, int64_t bytes, const char *what,
                              struct tree_memory *memory)
{
    if (bytes <= memory->bytes)
        return KITH_OK;
    cuda_release(context, memory->memory);
    *memory = (struct tree_memory){0};
    KITH_TRY(cuda_allocate(context, bytes, 1, what, &memory->memory));
    memory->bytes = bytes;
    return KITH_OK;
}

kith_status tree_grow_cuda(kith_context *context, int64_t kept, int64_t bytes, const char *what,
                           struct tree_memory *memory)
{
    struct tree_memory grown = {NULL, bytes + bytes / 4};
    if (bytes <= memory->bytes)
        return KITH_OK;
    KITH_TRY(cuda_allocate(context, grown.bytes, 1, what, &grown.memory));
    const kith_status status =
        cuda_check(cudaMemcpyAsync(grown.memory, memory->memory, (size_t)kept,
                                   cudaMemcpyDeviceToDevice, cuda_stream(context)),
                   "copying memory");
    cuda_release(context, memory->memory);
    *memory = grown;
    return status;
}

kith_status tree_exceeds_cache_cuda(int64_t bytes, bool *exceeds)
{
    int device = 0, cached = 0;
    KITH_TRY(cuda_check(cudaGetDevice(&device), "describing the device"));
    KITH_TRY(cuda_check(cudaDeviceGetAttribute(&cached, cudaDevAttrL2CacheSize, device),
                        "describing the device"));
    *exceeds = bytes > cached;
    return KITH_OK;
}
