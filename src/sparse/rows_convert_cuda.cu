/* What is made of rows row by row: packed csr, coo, ell and hybrid, long rows and the merge path's
 * tiles. */

#include "core/memory.h"
#include "sort/search.h"
#include "sort/sort.h"
#include "sparse/convert_cuda.h"
#include "sparse/product_cuda.cuh"

enum { block_threads = 256 };

static __device__ int64_t thread_of_all()
{
    return (int64_t)blockIdx.x * block_threads + threadIdx.x;
}

template <typename kernel, typename... arguments>
static kith_status launch(kith_context *context, int64_t threads, kernel *function,
                          arguments... values)
{
    if (threads == 0)
        return KITH_OK;
    function<<<blocks_for(threads, block_threads), block_threads, 0, cuda_stream(context)>>>(
        values...);
    return cuda_check_launch("starting a kernel that converts a sparse matrix");
}

kith_status sparse_starts_cuda(kith_context *context, const int64_t *count, int64_t n,
                               int64_t *start, int64_t *total)
{
    const cudaStream_t stream = cuda_stream(context);
    const int64_t bytes = sort_scan_bytes_cuda(n + 1);
    void *scratch = NULL;
    *total = 0;
    KITH_TRY(cuda_scratch(context, bytes, &scratch));
    KITH_TRY(sort_scan_cuda(context, n + 1, count, start, scratch, bytes));
    KITH_TRY(
        cuda_check(cudaMemcpyAsync(total, start + n, sizeof *total, cudaMemcpyDeviceToHost, stream),
                   "reading a number of entries"));
    return cuda_check(cudaStreamSynchronize(stream), "reading a number of entries");
}

/* packed csr */

static __global__ void narrow_starts_kernel(int64_t count, const int64_t *start, int32_t *narrow)
{
    const int64_t i = thread_of_all();
    if (i < count)
        narrow[i] = (int32_t)start[i];
}

kith_status sparse_to_packed_cuda(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_packed_csr *packed = &matrix->packed;
    *packed = {8, csr->row_start, {4, csr->column, NULL}, csr->value};
    if (csr->nonzeros <= INT32_MAX) {
        packed->start_bytes = 4;
        KITH_TRY(sparse_matrix_allocate(context, matrix, csr->rows + 1, sizeof(int32_t),
                                        "32-bit starts of rows", &packed->row_start));
        KITH_TRY(launch(context, csr->rows + 1, narrow_starts_kernel, csr->rows + 1, csr->row_start,
                        (int32_t *)packed->row_start));
    }
    return KITH_OK;
}

/* coo */

/* Threads of a block are entries in order: their rows are near each other, and found among the few
 * that the block has. */
static __global__ void rows_of_entries_kernel(int64_t rows, int64_t nonzeros, const int64_t *start,
                                              int32_t *row)
{
    __shared__ int64_t edge[2];
    const int64_t first = (int64_t)blockIdx.x * block_threads, k = first + threadIdx.x;
    if (threadIdx.x < 2) {
        const int64_t entry = threadIdx.x == 0 ? first : min(first + block_threads, nonzeros) - 1;
        edge[threadIdx.x] = search_64(start, 1, rows, entry + 1) - 1;
    }
    __syncthreads();
    if (k < nonzeros)
        row[k] = (int32_t)(search_64(start, edge[0] + 1, edge[1] + 1, k + 1) - 1);
}

kith_status sparse_rows_of_entries_cuda(kith_context *context, const struct sparse_csr *csr,
                                        int32_t *row)
{
    return launch(context, csr->nonzeros, rows_of_entries_kernel, csr->rows, csr->nonzeros,
                  csr->row_start, row);
}

kith_status sparse_to_coo_cuda(kith_context *context, struct sparse_matrix *matrix)
{
    struct sparse_coo *coo = &matrix->coo;
    *coo = {matrix->csr.nonzeros, NULL, matrix->csr.column, matrix->csr.value};
    KITH_TRY(sparse_matrix_allocate(context, matrix, coo->count, sizeof *coo->row,
                                    "the entries' rows", &coo->row));
    return sparse_rows_of_entries_cuda(context, &matrix->csr, coo->row);
}

kith_status sparse_cut_elements_cuda(kith_context *context, struct sparse_matrix *matrix,
                                     int64_t count)
{
    struct sparse_element_tiles *tiles = &((struct sparse_own *)matrix->own)->element;
    tiles->tiles = (count + sparse_element_tile - 1) / sparse_element_tile;
    return sparse_matrix_allocate(context, matrix, 2 * tiles->tiles,
                                  kith_dtype_bytes(matrix->csr.dtype), "sums of cut rows",
                                  &tiles->part);
}

/* ell and hybrid */

template <typename real>
static __global__ void ell_kernel(int64_t rows, const row_entries<real> a, const sparse_ell ell)
{
    const int64_t row = thread_of_all();
    if (row >= rows)
        return;
    const int64_t first = a.start[row], count = a.start[row + 1] - first;
    for (int64_t k = 0; k < count && k < ell.width; k++) {
        ell.column[k * ell.stride + row] = a.column[first + k];
        ((real *)ell.value)[k * ell.stride + row] = a.value[first + k];
    }
}

kith_status sparse_to_ell_cuda(kith_context *context, struct sparse_matrix *matrix,
                               struct sparse_ell *ell)
{
    const struct sparse_csr *csr = &matrix->csr;
    ell->stride = kith_padded(csr->rows);
    const int64_t slots = ell->width * ell->stride;
    KITH_TRY(sparse_matrix_allocate(context, matrix, slots, sizeof *ell->column, "ell's columns",
                                    &ell->column));
    KITH_TRY(sparse_matrix_allocate(context, matrix, slots, kith_dtype_bytes(csr->dtype),
                                    "ell's values", &ell->value));
    return csr->dtype == KITH_F64 ? launch(context, csr->rows, ell_kernel<double>, csr->rows,
                                           row_entries_of<double>(matrix), *ell)
                                  : launch(context, csr->rows, ell_kernel<float>, csr->rows,
                                           row_entries_of<float>(matrix), *ell);
}

static __global__ void count_beyond_kernel(int64_t rows, const int64_t *start, int64_t width,
                                           int64_t *count)
{
    const int64_t row = thread_of_all();
    if (row <= rows)
        count[row] = row < rows ? max(start[row + 1] - start[row] - width, (int64_t)0) : 0;
}

/* coo has the rows already; start: where each begins there. */
template <typename real>
static __global__ void beyond_kernel(const row_entries<real> a, int64_t width, const int64_t *start,
                                     const sparse_coo coo)
{
    const int64_t k = thread_of_all();
    if (k >= coo.count)
        return;
    const int64_t row = coo.row[k], from = a.start[row] + width + k - start[row];
    coo.column[k] = a.column[from];
    ((real *)coo.value)[k] = a.value[from];
}

static kith_status move_beyond(kith_context *context, struct sparse_matrix *matrix,
                               const int64_t *start)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_coo *coo = &matrix->hybrid.coo;
    const int64_t width = matrix->hybrid.ell.width;
    KITH_TRY(sparse_matrix_allocate(context, matrix, coo->count, sizeof *coo->row,
                                    "the entries' rows", &coo->row));
    KITH_TRY(sparse_matrix_allocate(context, matrix, coo->count, sizeof *coo->column,
                                    "the entries' columns", &coo->column));
    KITH_TRY(sparse_matrix_allocate(context, matrix, coo->count, kith_dtype_bytes(csr->dtype),
                                    "the entries' values", &coo->value));
    KITH_TRY(launch(context, coo->count, rows_of_entries_kernel, csr->rows, coo->count, start,
                    coo->row));
    return csr->dtype == KITH_F64 ? launch(context, coo->count, beyond_kernel<double>,
                                           row_entries_of<double>(matrix), width, start, *coo)
                                  : launch(context, coo->count, beyond_kernel<float>,
                                           row_entries_of<float>(matrix), width, start, *coo);
}

kith_status sparse_to_hybrid_cuda(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    int64_t *start = NULL;
    matrix->hybrid.ell.width = matrix->plan.width;
    KITH_TRY(sparse_to_ell_cuda(context, matrix, &matrix->hybrid.ell));
    KITH_TRY(sparse_matrix_allocate(context, matrix, csr->rows + 1, sizeof *start,
                                    "starts of what is beyond ell", &start));
    KITH_TRY(launch(context, csr->rows + 1, count_beyond_kernel, csr->rows, csr->row_start,
                    matrix->plan.width, start));
    KITH_TRY(sparse_starts_cuda(context, start, csr->rows, start, &matrix->hybrid.coo.count));
    return move_beyond(context, matrix, start);
}
