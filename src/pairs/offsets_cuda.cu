/* Offsets of rows from their counts, and the memory that CUB needs for that and for sorting. */

#include <cub/device/device_scan.cuh>

#include "pairs/search_cuda.cuh"

static cudaError_t scan(void *scratch, size_t &bytes, int64_t *offsets, int64_t count,
                        cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, offsets, offsets, count, stream);
}

static int64_t scan_bytes(int64_t count)
{
    size_t bytes = 0;
    scan(nullptr, bytes, nullptr, count, nullptr);
    return (int64_t)bytes;
}

int64_t pairs_scratch_bytes(uint32_t points, uint32_t targets, uint32_t places)
{
    const int64_t bytes[] = {scan_bytes((int64_t)targets + 1), pairs_sort_bytes(points, places),
                             pairs_sort_bytes(targets, places),
                             pairs_counting_bytes(points, places)};
    int64_t most = 0;
    for (int64_t each : bytes)
        most = each > most ? each : most;
    return most;
}

kith_status pairs_add_up_offsets(kith_context *context, int64_t *offsets, int64_t rows,
                                 void *scratch, int64_t scratch_bytes)
{
    size_t bytes = (size_t)scratch_bytes;
    return cuda_check(scan(scratch, bytes, offsets, rows + 1, cuda_stream(context)),
                      "adding up the numbers of pairs");
}
