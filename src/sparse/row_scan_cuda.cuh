#ifndef SPARSE_ROW_SCAN_CUDA_CUH
#define SPARSE_ROW_SCAN_CUDA_CUH

/* A segmented scan over a block whose threads have pieces of rows one after the other. */

#include "sparse/product_cuda.cuh"

/* In shared memory. */
template <typename real, int warps> struct row_scan {
    real sum[warps];
    int row[warps];
};

/* A thread has a row that is open at the end of its piece, and the sum of that row in the piece.
 * Returns what the threads before this one have of the row that the one before it has open, which
 * comes back in *row; *sum becomes what this one and those before have of its own open row. */
template <typename real, int warps>
static __device__ real sum_before(struct row_scan<real, warps> &memory, real *sum, int *row)
{
    const int lane = threadIdx.x % warp, w = threadIdx.x / warp;
#pragma unroll
    for (int distance = 1; distance < warp; distance *= 2) {
        const real other = __shfl_up_sync(whole_warp, *sum, distance);
        const int other_row = __shfl_up_sync(whole_warp, *row, distance);
        *sum += lane >= distance && other_row == *row ? other : (real)0;
    }
    if (lane == warp - 1) {
        memory.sum[w] = *sum;
        memory.row[w] = *row;
    }
    __syncthreads();
    real before = 0;
    int before_row = -2; /* no row: one past the last may be −1 */
    for (int v = 0; v < w; v++) {
        before = memory.sum[v] + (memory.row[v] == before_row ? before : (real)0);
        before_row = memory.row[v];
    }
    *sum += before_row == *row ? before : (real)0;
    const real previous = __shfl_up_sync(whole_warp, *sum, 1);
    const int previous_row = __shfl_up_sync(whole_warp, *row, 1);
    *row = lane == 0 ? before_row : previous_row;
    return lane == 0 ? before : previous;
}

#endif
