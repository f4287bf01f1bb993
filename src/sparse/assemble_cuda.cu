/* From a caller's entries on the device to compressed rows, and the transpose of these. */

#include <limits.h>

#include "device/cuda_state.h"
#include "sparse/convert_cuda.h"
#include "sparse/product_cuda.cuh"
#include "sparse/sort_cuda.h"

enum { block_threads = 256 };

/* A vector of indices of the caller's. */
struct indices {
    const void *data;
    int64_t stride;
    bool wide;
};

static struct indices indices_of(kith_array array)
{
    return {array.data, array.strides[0], array.dtype == KITH_I64};
}

static __device__ int64_t index_at(const struct indices &a, int64_t k)
{
    return a.wide ? ((const int64_t *)a.data)[k * a.stride]
                  : ((const int32_t *)a.data)[k * a.stride];
}

/* The first index that is wrong; LLONG_MAX if none is. */
struct wrong_indices {
    long long row, column, start;
};

struct entry_input {
    int64_t rows, columns, count;
    int32_t base;
    bool by_rows; /* row is row_start */
    struct indices row, column;
};

/* Starts of rows, from 0, as far as they are right. */
static __global__ void starts_kernel(const entry_input a, int64_t *start, wrong_indices *wrong)
{
    const int64_t i = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (i > a.rows)
        return;
    const int64_t value = index_at(a.row, i) - a.base;
    const int64_t before = i > 0 ? index_at(a.row, i - 1) - a.base : 0;
    if (value < before || (i == 0 && value != 0) || (i == a.rows && value != a.count))
        atomicMin(&wrong->start, (long long)i);
    start[i] = min(max(value, (int64_t)0), a.count);
}

/* rows of the entries, or NULL: the caller's. */
static __global__ void places_kernel(const entry_input a, const int32_t *row,
                                     const sparse_places places, wrong_indices *wrong)
{
    const int64_t k = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (k >= a.count)
        return;
    const int64_t i = row ? row[k] : index_at(a.row, k) - a.base;
    const int64_t j = index_at(a.column, k) - a.base;
    if (i < 0 || i >= a.rows)
        atomicMin(&wrong->row, (long long)k);
    if (j < 0 || j >= a.columns)
        atomicMin(&wrong->column, (long long)k);
    places.key[k] = (uint64_t)i << 32 | (uint32_t)j;
    places.entry[k] = k;
}

static kith_status read_index(kith_context *context, const struct indices *a, int64_t k,
                              int64_t *index)
{
    int32_t narrow = 0;
    if (a->wide)
        return cuda_copy_out(context, index, (const int64_t *)a->data + k * a->stride,
                             sizeof *index);
    KITH_TRY(
        cuda_copy_out(context, &narrow, (const int32_t *)a->data + k * a->stride, sizeof narrow));
    *index = narrow;
    return KITH_OK;
}

static kith_status fail_index(kith_context *context, const struct entry_input *a, const char *name,
                              const struct indices *indices, int64_t k, int64_t count)
{
    int64_t index = 0;
    KITH_TRY(read_index(context, indices, k, &index));
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s[%lld] is %lld, outside a matrix of %lld; give %d to %lld, or set "
                     "index_base to %d",
                     name, (long long)k, (long long)index, (long long)count, (int)a->base,
                     (long long)(count - 1 + a->base), 1 - (int)a->base);
}

static kith_status fail_start(kith_context *context, const struct entry_input *a, int64_t i)
{
    int64_t start = 0;
    KITH_TRY(read_index(context, &a->row, i, &start));
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "row_start[%lld] is %lld; give starts that do not descend, from %d to %lld",
                     (long long)i, (long long)start, (int)a->base, (long long)(a->count + a->base));
}

static kith_status check(kith_context *context, const struct entry_input *a,
                         const struct wrong_indices *on_device)
{
    struct wrong_indices wrong;
    KITH_TRY(cuda_copy_out(context, &wrong, on_device, sizeof wrong));
    if (wrong.start < LLONG_MAX)
        return fail_start(context, a, wrong.start);
    if (wrong.row < LLONG_MAX && wrong.row <= wrong.column)
        return fail_index(context, a, "row", &a->row, wrong.row, a->rows);
    if (wrong.column < LLONG_MAX)
        return fail_index(context, a, "column", &a->column, wrong.column, a->columns);
    return KITH_OK;
}

/* Rows of the entries of compressed rows. */
static kith_status find_rows(kith_context *context, const struct entry_input *a, int64_t *start,
                             int32_t *row, struct wrong_indices *wrong)
{
    starts_kernel<<<blocks_for(a->rows + 1, block_threads), block_threads, 0,
                    cuda_stream(context)>>>(*a, start, wrong);
    KITH_TRY(cuda_check_launch("reading starts of rows"));
    KITH_TRY(check(context, a, wrong));
    const struct sparse_csr csr = {a->rows, a->columns, a->count, KITH_F64, start, NULL, NULL};
    return sparse_rows_of_entries_cuda(context, &csr, row);
}

/* memory: room for the wrong indices, then for starts and for the entries' rows. */
static kith_status find_places(kith_context *context, const struct entry_input *a, void *memory,
                               const struct sparse_places *places)
{
    const struct wrong_indices none = {LLONG_MAX, LLONG_MAX, LLONG_MAX};
    struct wrong_indices *wrong = (struct wrong_indices *)memory;
    int64_t *start = (int64_t *)(wrong + 1);
    int32_t *row = a->by_rows ? (int32_t *)(start + a->rows + 1) : NULL;
    KITH_TRY(cuda_copy_in(context, wrong, &none, sizeof none));
    if (row)
        KITH_TRY(find_rows(context, a, start, row, wrong));
    if (a->count > 0)
        places_kernel<<<blocks_for(a->count, block_threads), block_threads, 0,
                        cuda_stream(context)>>>(*a, row, *places, wrong);
    KITH_TRY(cuda_check_launch("reading entries"));
    return check(context, a, wrong);
}

static void release_csr(kith_context *context, struct sparse_csr *csr)
{
    cuda_release(context, csr->row_start);
    cuda_release(context, csr->column);
    cuda_release(context, csr->value);
    *csr = {};
}

kith_status sparse_assemble_cuda(kith_context *context, const struct sparse_entries *entries,
                                 struct sparse_csr *made)
{
    const bool by_rows = !kith_array_is_none(entries->row_start);
    const bool ones = kith_array_is_none(entries->value);
    const struct entry_input a = {entries->rows,
                                  entries->columns,
                                  entries->count,
                                  entries->index_base,
                                  by_rows,
                                  indices_of(by_rows ? entries->row_start : entries->row),
                                  indices_of(entries->column)};
    const struct sparse_values values = {ones ? NULL : entries->value.data,
                                         ones ? 0 : entries->value.strides[0]};
    const int64_t bytes =
        (int64_t)sizeof(struct wrong_indices) + (by_rows ? 8 * (a.rows + 1) + 4 * a.count : 0);
    void *memory = NULL;
    struct sparse_places places = {};
    *made = {a.rows, a.columns, 0, entries->dtype, NULL, NULL, NULL};
    kith_status status = cuda_allocate(context, bytes, 1, "reading entries", &memory);
    if (status == KITH_OK)
        status = sparse_allocate_places(context, a.count, &places);
    if (status == KITH_OK)
        status = find_places(context, &a, memory, &places);
    if (status == KITH_OK)
        status = sparse_sort_cuda(context, &places, false, values, made);
    sparse_release_places(context, &places);
    cuda_release(context, memory);
    if (status != KITH_OK)
        release_csr(context, made);
    return status;
}

/* Entries of a matrix, whose rows are already in *row, as places of the transpose. */
static __global__ void swap_kernel(int64_t count, const int32_t *row, const int32_t *column,
                                   const sparse_places places)
{
    const int64_t k = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (k >= count)
        return;
    places.key[k] = (uint64_t)column[k] << 32 | (uint32_t)row[k];
    places.entry[k] = k;
}

static kith_status transpose(kith_context *context, const struct sparse_csr *csr, int32_t *row,
                             struct sparse_places *places, struct sparse_csr *made)
{
    KITH_TRY(sparse_rows_of_entries_cuda(context, csr, row));
    if (csr->nonzeros > 0)
        swap_kernel<<<blocks_for(csr->nonzeros, block_threads), block_threads, 0,
                      cuda_stream(context)>>>(csr->nonzeros, row, csr->column, *places);
    KITH_TRY(cuda_check_launch("transposing"));
    const struct sparse_values values = {csr->value, 1};
    return sparse_sort_cuda(context, places, true, values, made);
}

kith_status sparse_transpose_cuda(kith_context *context, const struct sparse_csr *csr,
                                  struct sparse_csr *made)
{
    int32_t *row = NULL;
    struct sparse_places places = {};
    *made = {csr->columns, csr->rows, 0, csr->dtype, NULL, NULL, NULL};
    kith_status status = cuda_allocate(context, csr->nonzeros, sizeof *row, "transposing", &row);
    if (status == KITH_OK)
        status = sparse_allocate_places(context, csr->nonzeros, &places);
    if (status == KITH_OK)
        status = transpose(context, csr, row, &places, made);
    sparse_release_places(context, &places);
    cuda_release(context, row);
    if (status != KITH_OK)
        release_csr(context, made);
    return status;
}
