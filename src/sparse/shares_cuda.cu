/* How work is shared out where rows differ: pieces of long rows, and equal tiles of the merge
 * path. */

#include "device/cuda_state.h"
#include "sparse/convert_cuda.h"
#include "sparse/merge_path.h"
#include "sparse/product_cuda.cuh"

enum { block_threads = 256 };

static __device__ int64_t thread_of_all()
{
    return (int64_t)blockIdx.x * block_threads + threadIdx.x;
}

static __device__ int64_t pieces_of(int64_t length, int64_t piece_entries)
{
    return length > sparse_longest_in_slices ? (length + piece_entries - 1) / piece_entries : 0;
}

/* Of each row: is it long, and how many pieces has it. */
static __global__ void count_pieces_kernel(int64_t rows, const int64_t *start,
                                           int64_t piece_entries, int64_t *is_long, int64_t *pieces)
{
    const int64_t row = thread_of_all();
    if (row > rows)
        return;
    pieces[row] = row < rows ? pieces_of(start[row + 1] - start[row], piece_entries) : 0;
    is_long[row] = pieces[row] > 0;
}

/* A warp a row. */
static __global__ void pieces_kernel(int64_t rows, const int64_t *start, const int64_t *long_before,
                                     const int64_t *pieces_before, int64_t piece_entries,
                                     const sparse_long_rows to)
{
    const int64_t row = thread_of_all() / warp;
    if (row >= rows)
        return;
    const int64_t first = pieces_before[row], pieces = pieces_before[row + 1] - first;
    const int64_t long_row = long_before[row];
    for (int64_t p = threadIdx.x % warp; p < pieces; p += warp) {
        const int64_t begin = start[row] + p * piece_entries;
        const int64_t end = min(begin + piece_entries, start[row + 1]);
        to.piece[first + p] = {begin, end, (int32_t)long_row, (int32_t)p};
    }
    if (pieces > 0 && threadIdx.x % warp == 0) {
        to.row[long_row] = (int32_t)row;
        to.pieces_before[long_row] = (int32_t)first;
        to.pieces_before[long_row + 1] = (int32_t)(first + pieces);
    }
}

static kith_status allocate_long_rows(kith_context *context, struct sparse_matrix *matrix,
                                      struct sparse_long_rows *a)
{
    const char *what = "pieces of long rows";
    KITH_TRY(sparse_matrix_allocate(context, matrix, a->rows, sizeof *a->row, what, &a->row));
    KITH_TRY(sparse_matrix_allocate(context, matrix, a->rows + 1, sizeof *a->pieces_before, what,
                                    &a->pieces_before));
    KITH_TRY(sparse_matrix_allocate(context, matrix, a->pieces, sizeof *a->piece, what, &a->piece));
    KITH_TRY(sparse_matrix_allocate(context, matrix, a->pieces * sparse_vectors_together,
                                    kith_dtype_bytes(matrix->csr.dtype), what, &a->part));
    return sparse_matrix_allocate(context, matrix, a->rows, sizeof *a->ticket, what, &a->ticket);
}

static kith_status cut_long_rows(kith_context *context, struct sparse_matrix *matrix,
                                 int64_t piece_entries, int64_t *long_before,
                                 int64_t *pieces_before)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_long_rows *a = &((struct sparse_own *)matrix->own)->long_rows;
    const cudaStream_t stream = cuda_stream(context);
    count_pieces_kernel<<<blocks_for(csr->rows + 1, block_threads), block_threads, 0, stream>>>(
        csr->rows, csr->row_start, piece_entries, long_before, pieces_before);
    KITH_TRY(cuda_check_launch("counting long rows"));
    KITH_TRY(sparse_starts_cuda(context, long_before, csr->rows, long_before, &a->rows));
    KITH_TRY(sparse_starts_cuda(context, pieces_before, csr->rows, pieces_before, &a->pieces));
    KITH_TRY(allocate_long_rows(context, matrix, a));
    pieces_kernel<<<blocks_for(csr->rows * warp, block_threads), block_threads, 0, stream>>>(
        csr->rows, csr->row_start, long_before, pieces_before, piece_entries, *a);
    return cuda_check_launch("cutting long rows");
}

/* Long pieces of many entries; of few, so short ones that all multiprocessors have some. */
static int64_t piece_entries_for(int64_t long_entries)
{
    const int64_t share = long_entries / sparse_pieces_wanted;
    return share < sparse_least_piece  ? (int64_t)sparse_least_piece
           : share > sparse_most_piece ? (int64_t)sparse_most_piece
                                       : share / warp * warp;
}

kith_status sparse_find_long_rows_cuda(kith_context *context, int64_t long_entries,
                                       struct sparse_matrix *matrix)
{
    int64_t *before = NULL;
    const int64_t count = matrix->csr.rows + 1;
    KITH_TRY(cuda_allocate(context, 2 * count, sizeof *before, "finding long rows", &before));
    const kith_status status =
        cut_long_rows(context, matrix, piece_entries_for(long_entries), before, before + count);
    cuda_release(context, before);
    return status;
}

/* Where the merge path crosses a tile's edge: how many row ends are before it. */
static __global__ void path_kernel(int64_t rows, const int64_t *start, int64_t tiles, int64_t *row)
{
    const int64_t tile = thread_of_all(), nonzeros = start[rows];
    if (tile > tiles)
        return;
    const int64_t place = min(tile * sparse_merge_tile, rows + nonzeros);
    row[tile] = sparse_merge_row(start + 1, rows, nonzeros, place);
}

kith_status sparse_cut_merge_path_cuda(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_merge_tiles *path = &((struct sparse_own *)matrix->own)->merge;
    const char *what = "the merge path";
    path->tiles = (csr->rows + csr->nonzeros + sparse_merge_tile - 1) / sparse_merge_tile;
    KITH_TRY(sparse_matrix_allocate(context, matrix, path->tiles + 1, sizeof *path->row, what,
                                    &path->row));
    KITH_TRY(sparse_matrix_allocate(context, matrix, 2 * path->tiles, kith_dtype_bytes(csr->dtype),
                                    what, &path->part));
    KITH_TRY(sparse_matrix_allocate(context, matrix, path->tiles, sizeof *path->ticket, what,
                                    &path->ticket));
    path_kernel<<<blocks_for(path->tiles + 1, block_threads), block_threads, 0,
                  cuda_stream(context)>>>(csr->rows, csr->row_start, path->tiles, path->row);
    return cuda_check_launch("cutting the merge path");
}
