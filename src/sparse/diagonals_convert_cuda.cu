/* Rows to diagonals. */

#include <stdlib.h>

#include "core/memory.h"
#include "device/cuda_state.h"
#include "sort/search.h"
#include "sparse/convert_cuda.h"
#include "sparse/product_cuda.cuh"

enum { block_threads = 256 };

struct found_diagonals {
    int64_t most;
    unsigned long long *count;
    int64_t *offset;
    unsigned *seen; /* a bit a diagonal */
};

/* A warp for 32 rows, a lane each. Stops when there are too many: the count is then most + 1 or
 * more. */
static __global__ void find_kernel(int64_t rows, const int64_t *start, const int32_t *column,
                                   const found_diagonals found)
{
    const int64_t row = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (row >= rows)
        return;
    for (int64_t k = start[row]; k < start[row + 1]; k++) {
        const int64_t diagonal = column[k] - row + rows;
        const unsigned bit = 1u << (diagonal % 32);
        unsigned *word = found.seen + diagonal / 32;
        if (__ldca(word) & bit) /* an old line of the L1 cache only costs the atomic */
            continue;
        if (atomicOr(word, bit) & bit)
            continue;
        const unsigned long long at = atomicAdd(found.count, 1ULL);
        if (at >= (unsigned long long)found.most)
            return;
        found.offset[at] = diagonal - rows;
    }
}

kith_status sparse_find_diagonals_cuda(kith_context *context, const struct sparse_csr *csr,
                                       int64_t most, int64_t *offset, int64_t *count)
{
    const cudaStream_t stream = cuda_stream(context);
    const int64_t words = (csr->rows + csr->columns) / 32 + 1;
    int64_t *memory = NULL;
    struct found_diagonals found = {most, NULL, NULL, NULL};
    *count = 0;
    KITH_TRY(cuda_allocate(context, 1 + most + (words + 1) / 2, sizeof *memory, "finding diagonals",
                           &memory));
    found.count = (unsigned long long *)memory;
    found.offset = memory + 1;
    found.seen = (unsigned *)(memory + 1 + most);
    find_kernel<<<blocks_for(csr->rows, block_threads), block_threads, 0, stream>>>(
        csr->rows, csr->row_start, csr->column, found);
    kith_status status = cuda_check_launch("finding diagonals");
    if (status == KITH_OK)
        status = cuda_copy_out(context, count, memory, sizeof *count);
    *count = *count > most ? most + 1 : *count;
    if (status == KITH_OK && *count > 0 && *count <= most)
        status = cuda_copy_out(context, offset, memory + 1, *count * (int64_t)sizeof *offset);
    cuda_release(context, memory);
    return status;
}

template <typename real>
static __global__ void fill_kernel(int64_t rows, const row_entries<real> a, const sparse_dia dia)
{
    const int64_t row = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (row >= rows)
        return;
    for (int64_t k = a.start[row]; k < a.start[row + 1]; k++) {
        const int64_t offset = a.column[k] - row;
        if (dia.symmetric && offset < 0)
            continue;
        const int64_t diagonal = search_64(dia.offset, 0, dia.diagonals, offset);
        ((real *)dia.value)[diagonal * dia.stride + row] = a.value[k];
    }
}

static int compare_offsets(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static kith_status find_offsets(kith_context *context, struct sparse_matrix *matrix)
{
    int64_t offset[sparse_most_diagonals], count = 0;
    struct sparse_dia *dia = &matrix->dia;
    KITH_TRY(
        sparse_find_diagonals_cuda(context, &matrix->csr, sparse_most_diagonals, offset, &count));
    if (count > sparse_most_diagonals)
        return kith_fail(KITH_UNSUPPORTED,
                         "the matrix has more than %d diagonals; choose another format",
                         (int)sparse_most_diagonals);
    qsort(offset, (size_t)count, sizeof offset[0], compare_offsets);
    int64_t first = 0;
    while (dia->symmetric && first < count && offset[first] < 0)
        first++;
    dia->diagonals = count - first;
    struct sparse_few_offsets *few = &((struct sparse_own *)matrix->own)->few;
    for (int64_t d = 0; d < dia->diagonals && d < sparse_few_diagonals; d++)
        few->offset[d] = (int32_t)offset[first + d];
    KITH_TRY(sparse_matrix_allocate(context, matrix, dia->diagonals, sizeof *dia->offset,
                                    "diagonals' offsets", &dia->offset));
    return cuda_copy_in(context, dia->offset, offset + first,
                        dia->diagonals * (int64_t)sizeof offset[0]);
}

kith_status sparse_to_dia_cuda(kith_context *context, struct sparse_matrix *matrix)
{
    const struct sparse_csr *csr = &matrix->csr;
    struct sparse_dia *dia = &matrix->dia;
    const unsigned blocks = blocks_for(csr->rows, block_threads);
    const cudaStream_t stream = cuda_stream(context);
    dia->symmetric = matrix->plan.symmetric;
    dia->stride = kith_padded(csr->rows);
    KITH_TRY(find_offsets(context, matrix));
    KITH_TRY(sparse_matrix_allocate(context, matrix, dia->diagonals * dia->stride,
                                    kith_dtype_bytes(csr->dtype), "diagonals", &dia->value));
    if (csr->dtype == KITH_F64)
        fill_kernel<double>
            <<<blocks, block_threads, 0, stream>>>(csr->rows, row_entries_of<double>(matrix), *dia);
    else
        fill_kernel<float>
            <<<blocks, block_threads, 0, stream>>>(csr->rows, row_entries_of<float>(matrix), *dia);
    return cuda_check_launch("padding diagonals");
}
