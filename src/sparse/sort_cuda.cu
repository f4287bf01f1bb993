/* Entries in any order to compressed rows, by a stable radix sort. */

#include <cub/device/device_radix_sort.cuh>

#include "device/cuda_state.h"
#include "sparse/convert_cuda.h"
#include "sparse/product_cuda.cuh"
#include "sparse/sort_cuda.h"

enum { block_threads = 256, column_bits = 32 };

kith_status sparse_allocate_places(kith_context *context, int64_t count,
                                   struct sparse_places *places)
{
    *places = {count, NULL, NULL};
    KITH_TRY(
        cuda_allocate(context, 2 * count, sizeof *places->key, "sorting entries", &places->key));
    return cuda_allocate(context, 2 * count, sizeof *places->entry, "sorting entries",
                         &places->entry);
}

void sparse_release_places(kith_context *context, struct sparse_places *places)
{
    cuda_release(context, places->key);
    cuda_release(context, places->entry);
}

/* The sorted halves come first afterwards. */
static kith_status sort(kith_context *context, struct sparse_places *places, bool sorted_columns,
                        int64_t rows)
{
    const cudaStream_t stream = cuda_stream(context);
    const int64_t count = places->count;
    cub::DoubleBuffer<uint64_t> key(places->key, places->key + count);
    cub::DoubleBuffer<int64_t> entry(places->entry, places->entry + count);
    const int first_bit = sorted_columns ? column_bits : 0;
    int end_bit = column_bits;
    while (end_bit < 64 && rows >> (end_bit - column_bits) > 0)
        end_bit++;
    size_t bytes = 0;
    void *scratch = NULL;
    KITH_TRY(cuda_check(
        cub::DeviceRadixSort::SortPairs(NULL, bytes, key, entry, count, first_bit, end_bit, stream),
        "sorting entries"));
    KITH_TRY(cuda_scratch(context, (int64_t)bytes, &scratch));
    KITH_TRY(cuda_check(cub::DeviceRadixSort::SortPairs(scratch, bytes, key, entry, count,
                                                        first_bit, end_bit, stream),
                        "sorting entries"));
    KITH_TRY(cuda_check(cudaMemcpyAsync(places->key, key.Current(),
                                        key.Current() == places->key ? 0 : 8 * (size_t)count,
                                        cudaMemcpyDeviceToDevice, stream),
                        "sorting entries"));
    return cuda_check(cudaMemcpyAsync(places->entry, entry.Current(),
                                      entry.Current() == places->entry ? 0 : 8 * (size_t)count,
                                      cudaMemcpyDeviceToDevice, stream),
                      "sorting entries");
}

/* 1 for the first entry of each place. */
static __global__ void heads_kernel(int64_t count, const uint64_t *key, int64_t *is_head)
{
    const int64_t k = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (k <= count)
        is_head[k] = k < count && (k == 0 || key[k] != key[k - 1]);
}

/* The first entry of each row, through the number of places before it. */
static __global__ void starts_kernel(int64_t rows, const sparse_places places,
                                     const int64_t *places_before, int64_t *row_start)
{
    const int64_t row = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (row > rows)
        return;
    int64_t low = 0, high = places.count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (places.key[middle] >> column_bits < (uint64_t)row)
            low = middle + 1;
        else
            high = middle;
    }
    row_start[row] = places_before[low];
}

template <typename real>
static __global__ void sums_kernel(const sparse_places places, const int64_t *places_before,
                                   const sparse_values values, int32_t *column, real *value)
{
    const int64_t first = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (first >= places.count || (first > 0 && places.key[first] == places.key[first - 1]))
        return;
    real sum = 0;
    for (int64_t k = first; k < places.count && places.key[k] == places.key[first]; k++) {
        const real term =
            values.data ? ((const real *)values.data)[places.entry[k] * values.stride] : (real)1;
        sum = k == first ? term : sum + term;
    }
    column[places_before[first]] = (int32_t)(places.key[first] & 0xffffffffu);
    value[places_before[first]] = sum;
}

static kith_status add_up(kith_context *context, const struct sparse_places *places,
                          struct sparse_values values, int64_t *before, struct sparse_csr *made)
{
    const cudaStream_t stream = cuda_stream(context);
    const unsigned blocks = blocks_for(places->count + 1, block_threads);
    heads_kernel<<<blocks, block_threads, 0, stream>>>(places->count, places->key, before);
    KITH_TRY(cuda_check_launch("adding up entries"));
    KITH_TRY(sparse_starts_cuda(context, before, places->count, before, &made->nonzeros));
    KITH_TRY(cuda_allocate(context, made->nonzeros + sparse_slack, sizeof *made->column,
                           "the entries' columns", &made->column));
    KITH_TRY(cuda_allocate(context, made->nonzeros + sparse_slack, kith_dtype_bytes(made->dtype),
                           "the entries' values", &made->value));
    if (made->dtype == KITH_F64)
        sums_kernel<double><<<blocks, block_threads, 0, stream>>>(
            *places, before, values, made->column, (double *)made->value);
    else
        sums_kernel<float><<<blocks, block_threads, 0, stream>>>(
            *places, before, values, made->column, (float *)made->value);
    starts_kernel<<<blocks_for(made->rows + 1, block_threads), block_threads, 0, stream>>>(
        made->rows, *places, before, made->row_start);
    return cuda_check_launch("adding up entries");
}

kith_status sparse_sort_cuda(kith_context *context, struct sparse_places *places,
                             bool sorted_columns, struct sparse_values values,
                             struct sparse_csr *made)
{
    int64_t *before = NULL;
    KITH_TRY(cuda_allocate(context, made->rows + 1 + sparse_slack, sizeof *made->row_start,
                           "the rows' starts", &made->row_start));
    if (places->count > 0)
        KITH_TRY(sort(context, places, sorted_columns, made->rows));
    KITH_TRY(
        cuda_allocate(context, places->count + 1, sizeof *before, "adding up entries", &before));
    const kith_status status = add_up(context, places, values, before, made);
    cuda_release(context, before);
    return status;
}
