/* Sums of the numbers before each on a GPU, by CUB. */

#include <cub/device/device_scan.cuh>

#include "device/cuda.h"
#include "sort/cub_cuda.h"
#include "sort/sort.h"

static cudaError_t scan(void *scratch, size_t &bytes, const int64_t *values, int64_t *sums,
                        int64_t count, cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, values, sums, count, stream);
}

int64_t sort_scan_bytes_cuda(int64_t count)
{
    size_t bytes = 0;
    scan(nullptr, bytes, nullptr, nullptr, count, nullptr);
    return (int64_t)bytes;
}

kith_status sort_scan_cuda(kith_context *context, int64_t count, const int64_t *values,
                           int64_t *sums, void *scratch, int64_t scratch_bytes)
{
    size_t bytes = (size_t)scratch_bytes;
    return cuda_check(scan(scratch, bytes, values, sums, count, cuda_stream(context)),
                      "adding up numbers");
}

cudaError_t sort_scan_table_cuda(void *scratch, size_t &bytes, uint32_t *table, uint32_t count,
                                 cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, table, table, count, stream);
}
