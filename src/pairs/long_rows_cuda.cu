/* Rows of a list that are too long for a warp's registers: sorted by CUB, a block for each. */

#include <cub/device/device_segmented_radix_sort.cuh>

#include "pairs/list_cuda.cuh"

enum { threads = 256 };

static cudaError_t sort_rows(void *scratch, size_t &bytes, const struct pairs_long_rows &rows,
                             cudaStream_t stream)
{
    return cub::DeviceSegmentedRadixSort::SortKeys(
        scratch, bytes, (const uint64_t *)rows.keys, rows.sorted_keys, rows.room, rows.rows,
        (const int64_t *)rows.begin, (const int64_t *)rows.end, rows.wide ? 0 : 32, 64, stream);
}

int64_t pairs_long_rows_bytes(const struct pairs_long_rows &rows)
{
    size_t bytes = 0;
    sort_rows(nullptr, bytes, rows, nullptr);
    return (int64_t)bytes;
}

/* A block a row. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    store_rows(const struct pairs_search<real> search, const struct pairs_columns<real> columns,
               const struct pairs_long_rows rows)
{
    for (int64_t number = blockIdx.x; number < rows.rows; number += gridDim.x) {
        const uint32_t target = rows.row[number];
        const struct pairs_folded_grid &grid =
            search.grids[system_of(search, target, search.two_sets)];
        const int64_t first = search.offsets[target], begin = rows.begin[number];
        const int64_t count = rows.end[number] - begin;
        for (int64_t k = threadIdx.x; k < count; k += threads)
            store_pair(search, columns, grid, first + k, target, rows.sorted_keys[begin + k]);
    }
}

template <typename real>
kith_status pairs_fill_long_rows(kith_context *context, const struct pairs_search<real> &search,
                                 const struct pairs_columns<real> &columns,
                                 const struct pairs_long_rows &rows, void *scratch,
                                 int64_t scratch_bytes)
{
    size_t bytes = (size_t)scratch_bytes;
    KITH_TRY(cuda_check(sort_rows(scratch, bytes, rows, cuda_stream(context)),
                        "sorting long rows of pairs"));
    const int64_t most = (int64_t)cuda_multiprocessors(context) * 8;
    store_rows<real>
        <<<(int)(rows.rows < most ? rows.rows : most), threads, 0, cuda_stream(context)>>>(
            search, columns, rows);
    return cuda_check_launch("writing long rows of pairs");
}

template kith_status pairs_fill_long_rows(kith_context *, const struct pairs_search<float> &,
                                          const struct pairs_columns<float> &,
                                          const struct pairs_long_rows &, void *, int64_t);
template kith_status pairs_fill_long_rows(kith_context *, const struct pairs_search<double> &,
                                          const struct pairs_columns<double> &,
                                          const struct pairs_long_rows &, void *, int64_t);
