#ifndef SPARSE_WINDOW_CUDA_CUH
#define SPARSE_WINDOW_CUDA_CUH

/* Sorting the rows of a window by their lengths: a block a window, at most four rows per thread. */

#include <cub/block/block_radix_sort.cuh>

#include "sparse/own_cuda.h"
#include "sparse/statistics.h"

enum { window_threads = 256, window_items = sparse_sell_window / window_threads, window_bits = 8 };

using window_sort = cub::BlockRadixSort<unsigned, window_threads, window_items, unsigned short>;

/* Lengths in a blocked arrangement, 0 for a long row and past the last. */
static __device__ void load_window(int64_t rows, const int64_t *start,
                                   unsigned (&length)[window_items],
                                   unsigned short (&place)[window_items])
{
    static_assert(sparse_longest_in_slices < 1 << window_bits, "lengths fit in the sorted bits");
    for (int u = 0; u < window_items; u++) {
        place[u] = (unsigned short)(threadIdx.x * window_items + u);
        const int64_t row = (int64_t)blockIdx.x * sparse_sell_window + place[u];
        const int64_t entries = row < rows ? start[row + 1] - start[row] : 0;
        length[u] = entries > sparse_longest_in_slices ? 0 : (unsigned)entries;
    }
}

#endif
