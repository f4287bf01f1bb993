/* What a matrix on the GPU is like. Counts over rows are exact, those of blocks and of lines of x
 * come from samples. Every number is a whole one, so that their order of adding does not matter. */

#include <algorithm>

#include "device/cuda_state.h"
#include "sort/search.h"
#include "sparse/convert_cuda.h"
#include "sparse/product_cuda.cuh"
#include "sparse/window_cuda.cuh"

enum {
    block_threads = 256,
    group_rows = 12, /* whole blocks of 2, 3 and 4 */
    sampled_groups = 512,
    longest_sampled_row = 512,
    stretch_entries = 32768,
    stretches = 8,
    height_of_warp = 2 /* sparse_sell_height[2] is 32 */
};

struct measured {
    unsigned long long rows_of_length[sparse_most_lengths + 1]; /* the last: and longer */
    unsigned long long longest, lower, upper;
    unsigned long long slots, slots_unsorted;
    unsigned long long sampled_entries, blocks[5];
    unsigned long long stretch_entries, stretch_lines;
    unsigned wide_groups, wide_slices, differs;
};

struct stored_rows {
    int64_t rows, columns, nonzeros;
    const int64_t *start;
    const int32_t *column;
};

static __device__ void keep_largest(unsigned long long value, unsigned long long *largest)
{
    value = warp_largest(value);
    if (threadIdx.x % warp == 0 && value > 0)
        atomicMax(largest, value);
}

/* First and last columns of 64 rows, by the two warps that have them. */
static __device__ void measure_spans(int32_t low, int32_t high, struct measured *to)
{
    __shared__ int32_t first[block_threads / warp], last[block_threads / warp];
    const int w = threadIdx.x / warp;
    static_assert(1 << sparse_base_shift == 2 * warp, "two warps have the rows of one base");
    first[w] = warp_largest(-low);
    last[w] = warp_largest(high);
    __syncthreads();
    const int64_t span = (int64_t)max(last[w], last[w ^ 1]) + max(first[w], first[w ^ 1]);
    if (threadIdx.x % (2 * warp) == 0 && span > UINT16_MAX)
        to->wide_groups = 1;
}

static __global__ void __launch_bounds__(block_threads)
    lengths_kernel(const stored_rows a, struct measured *to)
{
    __shared__ unsigned count[sparse_most_lengths + 1];
    for (int k = threadIdx.x; k <= sparse_most_lengths; k += block_threads)
        count[k] = 0;
    __syncthreads();
    const int64_t row = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const int64_t first = row < a.rows ? a.start[row] : 0;
    const int64_t length = row < a.rows ? a.start[row + 1] - first : 0;
    const int32_t low = length > 0 ? a.column[first] : INT32_MAX;
    const int32_t high = length > 0 ? a.column[first + length - 1] : -INT32_MAX;
    if (row < a.rows)
        atomicAdd(count + min(length, (int64_t)sparse_most_lengths), 1u);
    keep_largest((unsigned long long)length, &to->longest);
    keep_largest((unsigned long long)(length > 0 ? max(row - low, (int64_t)0) : 0), &to->lower);
    keep_largest((unsigned long long)(length > 0 ? max(high - row, (int64_t)0) : 0), &to->upper);
    measure_spans(low, high, to);
    for (int k = threadIdx.x; k <= sparse_most_lengths; k += block_threads)
        if (count[k] > 0)
            atomicAdd(to->rows_of_length + k, (unsigned long long)count[k]);
}

/* Slices of 32 rows, in order and with the rows of a window sorted; long rows count for empty. */
static __global__ void __launch_bounds__(window_threads)
    slices_kernel(const stored_rows a, struct measured *to)
{
    __shared__ window_sort::TempStorage memory;
    unsigned length[window_items];
    unsigned short place[window_items];
    unsigned long long slots = 0, unsorted = 0;
    for (int u = 0; u < window_items; u++) {
        const int64_t row =
            (int64_t)blockIdx.x * sparse_sell_window + u * window_threads + threadIdx.x;
        const int64_t entries = row < a.rows ? a.start[row + 1] - a.start[row] : 0;
        unsorted +=
            warp_largest(entries > sparse_longest_in_slices ? 0u : (unsigned)entries) * warp;
    }
    load_window(a.rows, a.start, length, place);
    window_sort(memory).SortDescendingBlockedToStriped(length, place, 0, window_bits);
    for (int u = 0; u < window_items; u++) {
        const int64_t row = (int64_t)blockIdx.x * sparse_sell_window + place[u];
        const int64_t first = length[u] > 0 ? a.start[row] : 0;
        const int32_t low = warp_largest(length[u] > 0 ? -a.column[first] : -INT32_MAX);
        const int32_t high = warp_largest(length[u] > 0 ? a.column[first + length[u] - 1] : 0);
        if (low != -INT32_MAX && (int64_t)high + low > UINT16_MAX)
            to->wide_slices = 1;
        slots += warp_largest(length[u]) * warp;
    }
    if (threadIdx.x % warp == 0) {
        atomicAdd(&to->slots, slots);
        atomicAdd(&to->slots_unsorted, unsorted);
    }
}

/* Blocks of `size` in the block row that begins with row `first`, by merging its rows. */
static __device__ int blocks_of_rows(const stored_rows &a, int64_t first, int size)
{
    int64_t at[4];
    int blocks = 0;
    for (int r = 0; r < size; r++)
        at[r] = a.start[first + r];
    for (;; blocks++) {
        int32_t next = INT32_MAX;
        for (int r = 0; r < size; r++)
            if (at[r] < a.start[first + r + 1])
                next = min(next, a.column[at[r]] / size);
        if (next == INT32_MAX)
            return blocks;
        for (int r = 0; r < size; r++)
            while (at[r] < a.start[first + r + 1] && a.column[at[r]] / size == next)
                at[r]++;
    }
}

/* A warp a group of rows; 6 lanes take blocks of 2, 4 of 3 and 3 of 4. */
static __global__ void __launch_bounds__(block_threads)
    blocks_kernel(const stored_rows a, int64_t samples, struct measured *to)
{
    const int64_t groups = a.rows / group_rows;
    const int64_t sample = ((int64_t)blockIdx.x * block_threads + threadIdx.x) / warp;
    if (sample >= samples)
        return;
    const int64_t first = groups * sample / samples * group_rows;
    const int64_t entries = a.start[first + group_rows] - a.start[first];
    const int lane = threadIdx.x % warp;
    if (entries > group_rows * longest_sampled_row || lane >= 13)
        return;
    const int size = lane < 6 ? 2 : lane < 10 ? 3 : 4;
    const int block_row = lane < 6 ? lane : lane < 10 ? lane - 6 : lane - 10;
    atomicAdd(&to->blocks[size],
              (unsigned long long)blocks_of_rows(a, first + block_row * size, size));
    if (lane == 0)
        atomicAdd(&to->sampled_entries, (unsigned long long)entries);
}

/* Counts the lines of x that a stretch of entries uses. */
static __global__ void __launch_bounds__(block_threads)
    lines_kernel(const stored_rows a, int64_t count, int per_line, int64_t words, unsigned *used,
                 struct measured *to)
{
    const int64_t stretch = blockIdx.y;
    const int64_t k =
        a.nonzeros / count * stretch + (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const bool is_in = k < a.nonzeros;
    const int32_t line = is_in ? a.column[k] / per_line : 0;
    const unsigned bit = 1u << (line % 32);
    const bool is_new = is_in && !(atomicOr(used + stretch * words + line / 32, bit) & bit);
    const unsigned lines = __popc(__ballot_sync(whole_warp, is_new));
    const unsigned entries = __popc(__ballot_sync(whole_warp, is_in));
    if (threadIdx.x % warp == 0) {
        atomicAdd(&to->stretch_lines, (unsigned long long)lines);
        atomicAdd(&to->stretch_entries, (unsigned long long)entries);
    }
}

/* Bits of values are compared, as words. */
template <typename word>
static __global__ void __launch_bounds__(block_threads)
    symmetry_kernel(const stored_rows a, const word *value, struct measured *to)
{
    const int64_t row = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (row >= a.rows || *(volatile unsigned *)&to->differs)
        return;
    for (int64_t k = a.start[row]; k < a.start[row + 1]; k++) {
        const int64_t mirrored = a.column[k];
        const int64_t end = a.start[mirrored + 1];
        const int64_t at = search_32(a.column, a.start[mirrored], end, row);
        if (at == end || a.column[at] != row || value[at] != value[k]) {
            to->differs = 1;
            return;
        }
    }
}

static kith_status measure_symmetry(kith_context *context, const struct sparse_csr *csr,
                                    const struct stored_rows &a, struct measured *to)
{
    const unsigned blocks = blocks_for(a.rows, block_threads);
    if (csr->dtype == KITH_F64)
        symmetry_kernel<uint64_t><<<blocks, block_threads, 0, cuda_stream(context)>>>(
            a, (const uint64_t *)csr->value, to);
    else
        symmetry_kernel<uint32_t><<<blocks, block_threads, 0, cuda_stream(context)>>>(
            a, (const uint32_t *)csr->value, to);
    return cuda_check_launch("comparing a matrix with its transpose");
}

static kith_status measure(kith_context *context, const struct sparse_csr *csr,
                           const struct sparse_statistics *statistics, struct measured *to,
                           unsigned *used, int64_t words)
{
    const struct stored_rows a = {csr->rows, csr->columns, csr->nonzeros, csr->row_start,
                                  csr->column};
    const cudaStream_t stream = cuda_stream(context);
    const int64_t groups = csr->rows / group_rows;
    const int64_t samples = std::min<int64_t>(groups, sampled_groups);
    const int64_t most = csr->nonzeros / stretch_entries + 1;
    const int64_t count = std::min<int64_t>(most, stretches);
    lengths_kernel<<<blocks_for(a.rows, block_threads), block_threads, 0, stream>>>(a, to);
    slices_kernel<<<blocks_for(a.rows, sparse_sell_window), window_threads, 0, stream>>>(a, to);
    if (samples > 0)
        blocks_kernel<<<blocks_for(samples * warp, block_threads), block_threads, 0, stream>>>(
            a, samples, to);
    lines_kernel<<<dim3(stretch_entries / block_threads, (unsigned)count), block_threads, 0,
                   stream>>>(a, count, 64 / (int)kith_dtype_bytes(csr->dtype), words, used, to);
    KITH_TRY(cuda_check_launch("inspecting a sparse matrix"));
    if (csr->rows == csr->columns && statistics->diagonals <= sparse_most_diagonals)
        return measure_symmetry(context, csr, a, to);
    return KITH_OK;
}

static void take_over(const struct measured *from, struct sparse_statistics *to)
{
    unsigned long long longer = from->rows_of_length[sparse_most_lengths];
    for (int64_t k = sparse_most_lengths - 1; k >= 0; k--)
        to->at_least[k] = (int64_t)(longer += from->rows_of_length[k]);
    to->longest = (int64_t)from->longest;
    to->empty = (int64_t)from->rows_of_length[0];
    to->lower = (int64_t)from->lower;
    to->upper = (int64_t)from->upper;
    to->sell_slots[height_of_warp] = (int64_t)from->slots;
    to->sell_slots_unsorted[height_of_warp] = (int64_t)from->slots_unsorted;
    to->sell_fits_16[height_of_warp] = !from->wide_slices;
    to->index_fits_16 = !from->wide_groups;
    to->symmetric =
        to->rows == to->columns && to->diagonals <= sparse_most_diagonals && !from->differs;
    for (int size = 2; size <= 4; size++)
        to->blocks[size] =
            from->sampled_entries > 0
                ? (double)to->nonzeros * (double)from->blocks[size] / (double)from->sampled_entries
                : (double)to->nonzeros;
    to->lines_per_entry =
        from->stretch_entries > 0 ? (double)from->stretch_lines / (double)from->stretch_entries : 0;
}

kith_status sparse_inspect_cuda(kith_context *context, const struct sparse_csr *csr,
                                struct sparse_statistics *statistics)
{
    const int64_t lines = csr->columns * kith_dtype_bytes(csr->dtype) / 64 + 1;
    const int64_t words = lines / 32 + 1;
    int64_t offset[sparse_most_diagonals];
    void *memory = NULL;
    struct measured measured = {};
    *statistics = {};
    statistics->rows = csr->rows;
    statistics->columns = csr->columns;
    statistics->nonzeros = csr->nonzeros;
    statistics->dtype = csr->dtype;
    statistics->at_least[0] = statistics->empty = csr->rows;
    if (csr->rows == 0 || csr->nonzeros == 0)
        return KITH_OK;
    KITH_TRY(sparse_find_diagonals_cuda(context, csr, sparse_most_diagonals, offset,
                                        &statistics->diagonals));
    KITH_TRY(cuda_allocate(context, (int64_t)sizeof measured + 4 * words * stretches, 1,
                           "inspecting a sparse matrix", &memory));
    kith_status status = measure(context, csr, statistics, (struct measured *)memory,
                                 (unsigned *)((char *)memory + sizeof measured), words);
    if (status == KITH_OK)
        status = cuda_copy_out(context, &measured, memory, sizeof measured);
    cuda_release(context, memory);
    if (status == KITH_OK)
        take_over(&measured, statistics);
    return status;
}
