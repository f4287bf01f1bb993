/* Rows of a list that are too long for a warp's registers: sorted by CUB, a block for each. */

#include <cub/device/device_segmented_radix_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "pairs/list_cuda.cuh"

enum { threads = 256 };

/* CUB's offsets are of 32 bits: rows are sorted in passes, each of the rows that begin within this
 * many keys. */
static constexpr int64_t keys_of_turn = (int64_t)1 << 30;

/* Where a row begins, or ends, after the first key of its turn; rows of other turns are empty. */
struct row_of_turn {
    const int64_t *begin, *wanted;
    int64_t first;

    __device__ int64_t operator()(int64_t number) const
    {
        const int64_t after = begin[number] - first;
        return after >= 0 && after < keys_of_turn ? wanted[number] - first : 0;
    }
};

using row_places = thrust::transform_iterator<row_of_turn, thrust::counting_iterator<int64_t>>;

static row_places places_in_turn(const struct pairs_long_rows &rows, const int64_t *wanted,
                                 int64_t first)
{
    return row_places(thrust::counting_iterator<int64_t>(0), {rows.begin, wanted, first});
}

/* Sorts the rows of a turn, back and forth between keys and sorted_keys; *sorted is where they end,
 * the same in each turn. With these two buffers CUB needs no third, whose size it would take from
 * the number of keys: the last row of a turn goes beyond that. */
static cudaError_t sort_rows(void *scratch, size_t &bytes, const struct pairs_long_rows &rows,
                             int64_t first, cudaStream_t stream, const uint64_t **sorted)
{
    const int64_t keys = rows.room - first < keys_of_turn ? rows.room - first : keys_of_turn;
    cub::DoubleBuffer<uint64_t> buffers(rows.keys + first, rows.sorted_keys + first);
    const cudaError_t error = cub::DeviceSegmentedRadixSort::SortKeys(
        scratch, bytes, buffers, keys, rows.rows, places_in_turn(rows, rows.begin, first),
        places_in_turn(rows, rows.end, first), rows.wide ? 0 : 32, 64, stream);
    *sorted = buffers.Current() - first;
    return error;
}

int64_t pairs_long_rows_bytes(const struct pairs_long_rows &rows)
{
    size_t bytes = 0;
    const uint64_t *sorted = nullptr;
    sort_rows(nullptr, bytes, rows, 0, nullptr, &sorted);
    return (int64_t)bytes;
}

/* A block a row. */
template <typename real>
static __global__ void __launch_bounds__(threads)
    store_rows(const struct pairs_cuda_search<real> search,
               const struct pairs_cuda_columns<real> columns, const struct pairs_long_rows rows,
               const uint64_t *sorted)
{
    for (int64_t number = blockIdx.x; number < rows.rows; number += gridDim.x) {
        const uint32_t target = rows.row[number];
        const struct pairs_folded_grid &grid =
            search.grids[system_of(search, target, search.two_sets)];
        const int64_t first = search.offsets[target], begin = rows.begin[number];
        const int64_t count = rows.end[number] - begin;
        for (int64_t k = threadIdx.x; k < count; k += threads)
            store_pair(search, columns, grid, first + k, target, sorted[begin + k]);
    }
}

template <typename real>
kith_status
pairs_fill_long_rows(kith_context *context, const struct pairs_cuda_search<real> &search,
                     const struct pairs_cuda_columns<real> &columns,
                     const struct pairs_long_rows &rows, void *scratch, int64_t scratch_bytes)
{
    size_t bytes = (size_t)scratch_bytes;
    const uint64_t *sorted = nullptr;
    for (int64_t first = 0; first < rows.room; first += keys_of_turn)
        KITH_TRY(cuda_check(sort_rows(scratch, bytes, rows, first, cuda_stream(context), &sorted),
                            "sorting long rows of pairs"));
    const int64_t most = (int64_t)cuda_multiprocessors(context) * 8;
    store_rows<real>
        <<<(int)(rows.rows < most ? rows.rows : most), threads, 0, cuda_stream(context)>>>(
            search, columns, rows, sorted);
    return cuda_check_launch("writing long rows of pairs");
}

template kith_status pairs_fill_long_rows(kith_context *, const struct pairs_cuda_search<float> &,
                                          const struct pairs_cuda_columns<float> &,
                                          const struct pairs_long_rows &, void *, int64_t);
template kith_status pairs_fill_long_rows(kith_context *, const struct pairs_cuda_search<double> &,
                                          const struct pairs_cuda_columns<double> &,
                                          const struct pairs_long_rows &, void *, int64_t);
