/* Products with a sparse matrix on a GPU for the benchmark. */

#include "gpu_sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "cusparse_peer.h"
#include "device/cuda.h"

enum { slice_rows = 32, several_vectors = 8, most_filling = 2 };
static const int64_t filling_of_small = 1000000;

struct gpu_sparse {
    kith_context *context;
    struct cusparse_matrix matrix;
    struct cusparse_peer *peer[gpu_sparse_ways][gpu_sparse_peers]; /* made when they are timed */
    void *x, *y, *peer_y;                                          /* columns and rows × vectors */
    cudaEvent_t begin, end;
};

const char *gpu_sparse_peer_name(enum gpu_sparse_peer peer)
{
    static const char *const names[] = {"cuSPARSE csr 1", "cuSPARSE csr 2", "cuSPARSE coo 1",
                                        "cuSPARSE sell"};
    return names[peer];
}

static kith_status copy_to_device(const void *from, int64_t bytes, void *to)
{
    void *made = NULL;
    KITH_TRY(cuda_check(cudaMalloc(&made, (size_t)bytes + 256), "memory for the matrix"));
    memcpy(to, &made, sizeof made);
    return cuda_check(cudaMemcpy(made, from, (size_t)bytes, cudaMemcpyHostToDevice),
                      "copying the matrix");
}

static void put(kith_dtype dtype, void *values, int64_t k, double value)
{
    if (dtype == KITH_F64)
        ((double *)values)[k] = value;
    else
        ((float *)values)[k] = (float)value;
}

static double get(kith_dtype dtype, const void *values, int64_t k)
{
    return dtype == KITH_F64 ? ((const double *)values)[k] : (double)((const float *)values)[k];
}

/* Compressed rows on the host. */
struct rows {
    const int64_t *start;
    const int32_t *column;
    const double *value;
};

/* The starts of slices, up to slots in all; false if that is mostly padding. */
static bool measure_slices(const struct rows *rows, struct cusparse_matrix *a, int32_t *start)
{
    const int64_t most = most_filling * a->nonzeros + filling_of_small;
    int64_t slots = 0;
    for (int64_t first = 0; first < a->rows; first += slice_rows) {
        int64_t longest = 0;
        for (int64_t i = first; i < first + slice_rows && i < a->rows; i++) {
            const int64_t length = rows->start[i + 1] - rows->start[i];
            longest = length > longest ? length : longest;
        }
        slots += longest * slice_rows;
        if (slots > most || slots > INT32_MAX)
            return false;
        start[first / slice_rows + 1] = (int32_t)slots;
    }
    a->slots = slots;
    return slots > 0;
}

static kith_status fill_slices(const struct rows *rows, struct cusparse_matrix *a,
                               const int32_t *start, int32_t *column, void *value)
{
    for (int64_t k = 0; k < a->slots; k++)
        column[k] = -1;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            const int64_t at =
                start[i / slice_rows] + (k - rows->start[i]) * slice_rows + i % slice_rows;
            column[at] = rows->column[k];
            put(a->dtype, value, at, rows->value[k]);
        }
    const int64_t slices = (a->rows + slice_rows - 1) / slice_rows;
    KITH_TRY(copy_to_device(start, 4 * (slices + 1), &a->slice_start));
    KITH_TRY(copy_to_device(column, 4 * a->slots, &a->slice_column));
    return copy_to_device(value, kith_dtype_bytes(a->dtype) * a->slots, &a->slice_value);
}

static kith_status make_slices(const struct rows *rows, struct cusparse_matrix *a)
{
    int32_t *start = NULL, *column = NULL;
    void *value = NULL;
    kith_status status = kith_allocate(a->rows / slice_rows + 2, 4, "slices", &start);
    if (status == KITH_OK && measure_slices(rows, a, start)) {
        status = kith_allocate(a->slots, 4, "slices", &column);
        if (status == KITH_OK)
            status = kith_allocate(a->slots, kith_dtype_bytes(a->dtype), "slices", &value);
        if (status == KITH_OK)
            status = fill_slices(rows, a, start, column, value);
    }
    free(start);
    free(column);
    free(value);
    return status;
}

/* Row starts, each entry's row, columns and values; narrow and value are room on the host. */
static kith_status fill_rows(const struct rows *rows, struct cusparse_matrix *a, int32_t *narrow,
                             void *value)
{
    for (int64_t i = 0; i <= a->rows; i++)
        narrow[i] = (int32_t)rows->start[i];
    KITH_TRY(copy_to_device(narrow, 4 * (a->rows + 1), &a->row_start));
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            narrow[k] = (int32_t)i;
    for (int64_t k = 0; k < a->nonzeros; k++)
        put(a->dtype, value, k, rows->value[k]);
    KITH_TRY(copy_to_device(narrow, 4 * a->nonzeros, &a->row));
    KITH_TRY(copy_to_device(rows->column, 4 * a->nonzeros, &a->column));
    return copy_to_device(value, kith_dtype_bytes(a->dtype) * a->nonzeros, &a->value);
}

static kith_status make_rows(const struct rows *rows, struct cusparse_matrix *a)
{
    const int64_t longer = a->nonzeros > a->rows ? a->nonzeros : a->rows;
    int32_t *narrow = NULL;
    void *value = NULL;
    kith_status status = kith_allocate(longer + 1, 4, "the matrix", &narrow);
    if (status == KITH_OK)
        status = kith_allocate(a->nonzeros + 1, kith_dtype_bytes(a->dtype), "the matrix", &value);
    if (status == KITH_OK)
        status = fill_rows(rows, a, narrow, value);
    free(narrow);
    free(value);
    return status;
}

/* Numbers between −1 and 1 that repeat after a while. */
static kith_status make_vectors(struct gpu_sparse *sparse)
{
    const struct cusparse_matrix *a = &sparse->matrix;
    const int64_t each = kith_dtype_bytes(a->dtype), count = a->columns * several_vectors;
    const size_t bytes = (size_t)(a->rows * several_vectors * each) + 256;
    void *x = NULL;
    KITH_TRY(kith_allocate(count, each, "vectors", &x));
    for (int64_t k = 0; k < count; k++)
        put(a->dtype, x, k, (double)(k * 7919 % 1000) / 500 - 1);
    const kith_status status = copy_to_device(x, count * each, &sparse->x);
    free(x);
    KITH_TRY(status);
    KITH_TRY(cuda_check(cudaMalloc(&sparse->y, bytes), "memory for vectors"));
    KITH_TRY(cuda_check(cudaMalloc(&sparse->peer_y, bytes), "memory for vectors"));
    KITH_TRY(cuda_check(cudaMemset(sparse->peer_y, 0, bytes), "clearing a vector"));
    KITH_TRY(cuda_check(cudaEventCreate(&sparse->begin), "making an event"));
    return cuda_check(cudaEventCreate(&sparse->end), "making an event");
}

static kith_status make_all(struct gpu_sparse *sparse, const struct rows *rows)
{
    KITH_TRY(make_rows(rows, &sparse->matrix));
    KITH_TRY(make_slices(rows, &sparse->matrix));
    return make_vectors(sparse);
}

kith_status gpu_sparse_create(kith_context *context, kith_dtype dtype, int64_t rows,
                              int64_t columns, const int64_t *row_start, const int32_t *column,
                              const double *value, struct gpu_sparse **sparse)
{
    const struct rows from = {row_start, column, value};
    struct gpu_sparse *made = NULL;
    *sparse = NULL;
    if (row_start[rows] > INT32_MAX)
        return kith_fail(KITH_UNSUPPORTED,
                         "the matrix has %lld entries; cuSPARSE is given 2^31 - 1",
                         (long long)row_start[rows]);
    KITH_TRY(cuda_check(cudaSetDevice(kith_context_device(context).index), "choosing the device"));
    KITH_TRY(kith_allocate(1, sizeof *made, "a benchmark", &made));
    made->context = context;
    made->matrix = (struct cusparse_matrix){
        .dtype = dtype, .rows = rows, .columns = columns, .nonzeros = row_start[rows]};
    const kith_status status = make_all(made, &from);
    if (status == KITH_OK)
        *sparse = made;
    else
        gpu_sparse_free(made);
    return status;
}

void gpu_sparse_free(struct gpu_sparse *sparse)
{
    if (!sparse)
        return;
    const struct cusparse_matrix *a = &sparse->matrix;
    void *const memory[] = {a->row_start,    a->row,         a->column, a->value,  a->slice_start,
                            a->slice_column, a->slice_value, sparse->x, sparse->y, sparse->peer_y};
    for (int k = 0; k < gpu_sparse_ways * gpu_sparse_peers; k++)
        cusparse_peer_free(sparse->peer[k / gpu_sparse_peers][k % gpu_sparse_peers]);
    for (size_t k = 0; k < sizeof memory / sizeof memory[0]; k++)
        cudaFree(memory[k]);
    if (sparse->begin)
        cudaEventDestroy(sparse->begin);
    if (sparse->end)
        cudaEventDestroy(sparse->end);
    free(sparse);
}

static kith_array on_device(const struct gpu_sparse *sparse, void *data, kith_dtype dtype,
                            int64_t count)
{
    kith_array array = kith_array_vector(data, dtype, count);
    array.device = kith_context_device(sparse->context);
    return array;
}

static kith_array vectors_on_device(const struct gpu_sparse *sparse, void *data, int64_t count,
                                    enum gpu_sparse_vectors vectors)
{
    const kith_dtype dtype = sparse->matrix.dtype;
    if (vectors == gpu_sparse_one)
        return on_device(sparse, data, dtype, count);
    kith_array array = kith_array_matrix(data, dtype, count, several_vectors);
    array.device = kith_context_device(sparse->context);
    if (vectors == gpu_sparse_columns) {
        array.strides[0] = 1;
        array.strides[1] = count;
    }
    return array;
}

kith_status gpu_sparse_make(struct gpu_sparse *sparse, const kith_sparse_options *options,
                            kith_sparse **made)
{
    const struct cusparse_matrix *a = &sparse->matrix;
    return kith_sparse_create_csr(sparse->context, options, a->columns,
                                  on_device(sparse, a->row_start, KITH_I32, a->rows + 1),
                                  on_device(sparse, a->column, KITH_I32, a->nonzeros),
                                  on_device(sparse, a->value, a->dtype, a->nonzeros), made);
}

static kith_status begin_timing(const struct gpu_sparse *sparse)
{
    return cuda_check(cudaEventRecord(sparse->begin, cuda_stream(sparse->context)),
                      "recording an event");
}

static kith_status end_timing(const struct gpu_sparse *sparse, double *seconds)
{
    float milliseconds = 0;
    KITH_TRY(cuda_check(cudaEventRecord(sparse->end, cuda_stream(sparse->context)),
                        "recording an event"));
    KITH_TRY(kith_context_synchronize(sparse->context));
    KITH_TRY(cuda_check(cudaEventElapsedTime(&milliseconds, sparse->begin, sparse->end),
                        "reading the time between two events"));
    *seconds = 1e-3 * (double)milliseconds;
    return KITH_OK;
}

kith_status gpu_sparse_time(struct gpu_sparse *sparse, kith_sparse *matrix,
                            enum gpu_sparse_vectors vectors, int64_t calls, double *seconds)
{
    const struct cusparse_matrix *a = &sparse->matrix;
    const kith_array x = vectors_on_device(sparse, sparse->x, a->columns, vectors);
    const kith_array y = vectors_on_device(sparse, sparse->y, a->rows, vectors);
    KITH_TRY(begin_timing(sparse));
    for (int64_t k = 0; k < calls; k++)
        KITH_TRY(kith_sparse_multiply(matrix, KITH_SPARSE_AS_IS, 1, x, 0, y));
    return end_timing(sparse, seconds);
}

kith_status gpu_sparse_time_peer(struct gpu_sparse *sparse, enum gpu_sparse_peer peer,
                                 enum gpu_sparse_vectors vectors, int64_t calls, double *seconds)
{
    const struct cusparse_vectors of = {.x = sparse->x,
                                        .y = sparse->peer_y,
                                        .count = vectors == gpu_sparse_one ? 1 : several_vectors,
                                        .by_columns = vectors == gpu_sparse_columns};
    struct cusparse_peer **made = &sparse->peer[vectors][peer];
    if (!*made)
        KITH_TRY(
            cusparse_peer_create(&sparse->matrix, peer, cuda_stream(sparse->context), &of, made));
    KITH_TRY(begin_timing(sparse));
    for (int64_t k = 0; k < calls; k++)
        KITH_TRY(cusparse_peer_multiply(*made));
    return end_timing(sparse, seconds);
}

kith_status gpu_sparse_difference(struct gpu_sparse *sparse, double *difference)
{
    const struct cusparse_matrix *a = &sparse->matrix;
    const int64_t each = kith_dtype_bytes(a->dtype);
    char *y = NULL;
    double square = 0, square_of_difference = 0;
    KITH_TRY(kith_allocate(2 * a->rows, each, "results", &y));
    char *peer_y = y + a->rows * each;
    kith_status status = cuda_check(
        cudaMemcpy(y, sparse->y, (size_t)(a->rows * each), cudaMemcpyDeviceToHost), "copying y");
    if (status == KITH_OK)
        status = cuda_check(
            cudaMemcpy(peer_y, sparse->peer_y, (size_t)(a->rows * each), cudaMemcpyDeviceToHost),
            "copying y");
    for (int64_t i = 0; i < a->rows && status == KITH_OK; i++) {
        const double one = get(a->dtype, y, i), other = get(a->dtype, peer_y, i);
        square += one * one;
        square_of_difference += (one - other) * (one - other);
    }
    *difference = square > 0 ? sqrt(square_of_difference / square) : 0;
    free(y);
    return status;
}

kith_status gpu_sparse_copy_rate(kith_context *context, double *bytes_per_second)
{
    const size_t bytes = (size_t)1 << 29;
    enum { copies = 20 };
    struct gpu_sparse timing = {.context = context};
    double seconds = 1;
    kith_status status = cuda_check(cudaMalloc(&timing.x, bytes), "memory to copy");
    if (status == KITH_OK)
        status = cuda_check(cudaMalloc(&timing.y, bytes), "memory to copy");
    if (status == KITH_OK)
        status = cuda_check(cudaEventCreate(&timing.begin), "making an event");
    if (status == KITH_OK)
        status = cuda_check(cudaEventCreate(&timing.end), "making an event");
    for (int round = 0; round < 2 && status == KITH_OK; round++) {
        status = begin_timing(&timing);
        for (int k = 0; k < copies && status == KITH_OK; k++)
            status = cuda_check(cudaMemcpyAsync(timing.y, timing.x, bytes, cudaMemcpyDeviceToDevice,
                                                cuda_stream(context)),
                                "copying");
        if (status == KITH_OK)
            status = end_timing(&timing, &seconds);
    }
    *bytes_per_second = 2.0 * copies * (double)bytes / seconds;
    cudaFree(timing.x);
    cudaFree(timing.y);
    if (timing.begin)
        cudaEventDestroy(timing.begin);
    if (timing.end)
        cudaEventDestroy(timing.end);
    return status;
}
