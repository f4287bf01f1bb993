/* Sort on a GPU, of many keys by CUB. */

#include <cub/device/device_radix_sort.cuh>

#include "device/overlap.cuh"
#include "sort/cub_cuda.h"
#include "sort/merge_cuda.cuh"
#include "sort/sort.h"

enum { threads = 256 };

int64_t sort_scratch_bytes_cuda(int64_t count)
{
    return count * (int64_t)(sizeof(uint64_t) + sizeof(uint32_t));
}

int64_t sort_working_bytes_cuda(int64_t count)
{
    const int64_t of_extremes = 64 << 10;
    cub::DoubleBuffer<uint64_t> key(NULL, NULL);
    cub::DoubleBuffer<uint32_t> place(NULL, NULL);
    size_t of_sort = 0;
    cub::DeviceRadixSort::SortPairs(NULL, of_sort, key, place, count, 0, 64);
    return (int64_t)of_sort > of_extremes ? (int64_t)of_sort : of_extremes;
}

static __global__ void number(int64_t count, uint32_t *order)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    wait_for_kernel_before();
    if (k < count)
        order[k] = (uint32_t)k;
}

/* Each pass takes the runs of one array to the other, the last to keys and order. Passes do not
 * begin early: on an H200 the kernel that ran took three times as long beside those that waited. */
static kith_status sort_few(kith_context *context, int32_t count, uint64_t *keys, uint32_t *order,
                            void *scratch)
{
    static const char what[] = "sorting keys";
    const dim3 tiles((unsigned)((count + tile_length - 1) / tile_length));
    uint64_t *const key_arrays[] = {keys, (uint64_t *)scratch};
    uint32_t *const order_arrays[] = {order, (uint32_t *)((uint64_t *)scratch + count)};
    int passes = 0;
    for (int32_t length = tile_length; length < count; length *= merged_runs)
        passes++;
    int at = passes % 2;
    KITH_TRY(launch_overlapped(context, what, tiles, tile_threads, sort_tiles, count, keys,
                               key_arrays[at], order_arrays[at]));
    for (int32_t length = tile_length; length < count; length *= merged_runs) {
        const int to = 1 - at;
        merge_runs<<<tiles, tile_length, 0, cuda_stream(context)>>>(
            count, length, key_arrays[at], order_arrays[at], key_arrays[to], order_arrays[to]);
        at = to;
    }
    return cuda_check_launch(what);
}

kith_status sort_keys_cuda(kith_context *context, int64_t count, int32_t bits, uint64_t *keys,
                           uint32_t *order, void *scratch)
{
    const cudaStream_t stream = cuda_stream(context);
    if (count == 0)
        return KITH_OK;
    if (count <= most_merged)
        return sort_few(context, (int32_t)count, keys, order, scratch);
    KITH_TRY(launch_overlapped(context, "sorting keys",
                               dim3((unsigned)((count + threads - 1) / threads)), threads, number,
                               count, order));
    cub::DoubleBuffer<uint64_t> key(keys, (uint64_t *)scratch);
    cub::DoubleBuffer<uint32_t> place(order, (uint32_t *)((uint64_t *)scratch + count));
    size_t bytes = 0;
    void *working = NULL;
    KITH_TRY(
        cuda_check(cub::DeviceRadixSort::SortPairs(NULL, bytes, key, place, count, 0, bits, stream),
                   "sorting keys"));
    KITH_TRY(cuda_scratch(context, (int64_t)bytes, &working));
    KITH_TRY(cuda_check(
        cub::DeviceRadixSort::SortPairs(working, bytes, key, place, count, 0, bits, stream),
        "sorting keys"));
    if (key.Current() != keys)
        KITH_TRY(cuda_check(cudaMemcpyAsync(keys, key.Current(), (size_t)count * sizeof *keys,
                                            cudaMemcpyDeviceToDevice, stream),
                            "sorting keys"));
    if (place.Current() != order)
        KITH_TRY(cuda_check(cudaMemcpyAsync(order, place.Current(), (size_t)count * sizeof *order,
                                            cudaMemcpyDeviceToDevice, stream),
                            "sorting keys"));
    return KITH_OK;
}

cudaError_t sort_long_keys_cuda(void *scratch, size_t &bytes, const uint64_t *keys,
                                uint64_t *sorted, int64_t count, int bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, sorted, count, 0, bits, stream);
}

cudaError_t sort_pairs_cuda(void *scratch, size_t &bytes, const uint32_t *keys,
                            uint32_t *sorted_keys, const uint32_t *values, uint32_t *sorted_values,
                            uint32_t count, int bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                           count, 0, bits, stream);
}

cudaError_t sort_pairs_by_turns_cuda(void *scratch, size_t &bytes, uint32_t *(&keys)[2],
                                     uint32_t *(&values)[2], uint32_t count, int bits,
                                     cudaStream_t stream)
{
    cub::DoubleBuffer<uint32_t> key(keys[0], keys[1]), value(values[0], values[1]);
    const cudaError_t error =
        cub::DeviceRadixSort::SortPairs(scratch, bytes, key, value, count, 0, bits, stream);
    keys[0] = key.Current();
    keys[1] = key.Alternate();
    values[0] = value.Current();
    values[1] = value.Alternate();
    return error;
}
