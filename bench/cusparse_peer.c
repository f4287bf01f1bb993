#include "cusparse_peer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/cuda.h"

#if __has_include(<cusparse.h>)
#include <cusparse.h>

/* The functions that are used, by their names. */
#define EACH_FUNCTION(X)                                                                           \
    X(cusparseCreate)                                                                              \
    X(cusparseDestroy)                                                                             \
    X(cusparseSetStream)                                                                           \
    X(cusparseCreateCsr)                                                                           \
    X(cusparseCreateCoo)                                                                           \
    X(cusparseCreateSlicedEll)                                                                     \
    X(cusparseDestroySpMat)                                                                        \
    X(cusparseCreateDnVec)                                                                         \
    X(cusparseDestroyDnVec)                                                                        \
    X(cusparseCreateDnMat)                                                                         \
    X(cusparseDestroyDnMat)                                                                        \
    X(cusparseSpMM_bufferSize)                                                                     \
    X(cusparseSpMM_preprocess)                                                                     \
    X(cusparseSpMM)                                                                                \
    X(cusparseSpMV_bufferSize)                                                                     \
    X(cusparseSpMV_preprocess)                                                                     \
    X(cusparseSpMV)

struct functions {
#define DECLARE(name) __typeof__(&(name)) name;
    EACH_FUNCTION(DECLARE)
#undef DECLARE
};

struct cusparse_peer {
    void *library;
    struct functions call;
    cudaDataType type;
    cusparseSpMVAlg_t algorithm;
    cusparseSpMMAlg_t algorithm_of_several;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t x, y;
    cusparseDnMatDescr_t several_x, several_y; /* in their place */
    void *buffer;
    double one, zero; /* or floats in their place */
};

static kith_status check(cusparseStatus_t status, const char *what)
{
    if (status == CUSPARSE_STATUS_SUCCESS)
        return KITH_OK;
    return kith_fail(KITH_INTERNAL_ERROR, "%s: cuSPARSE fails with status %d", what, (int)status);
}

static kith_status find(struct cusparse_peer *peer, const char *name, void *function)
{
    void *found = dlsym(peer->library, name);
    if (!found)
        return kith_fail(KITH_UNSUPPORTED, "this machine's cuSPARSE has no %s", name);
    memcpy(function, &found, sizeof found);
    return KITH_OK;
}

static kith_status open_library(struct cusparse_peer *peer)
{
    static const char *const names[] = {"libcusparse.so.12", "libcusparse.so",
                                        KITH_CUDA_LIBRARIES "/libcusparse.so"};
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !peer->library; k++)
        peer->library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    if (!peer->library)
        return kith_fail(KITH_UNSUPPORTED,
                         "libcusparse.so is not found; install cuSPARSE of the CUDA toolkit");
#define FIND(name) KITH_TRY(find(peer, #name, &peer->call.name));
    EACH_FUNCTION(FIND)
#undef FIND
    return KITH_OK;
}

static kith_status describe(struct cusparse_peer *peer, const struct cusparse_matrix *a,
                            enum gpu_sparse_peer way)
{
    const cusparseIndexType_t index = CUSPARSE_INDEX_32I;
    const cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
    switch (way) {
    case gpu_sparse_coo1:
        peer->algorithm = CUSPARSE_SPMV_COO_ALG1;
        return check(peer->call.cusparseCreateCoo(&peer->matrix, a->rows, a->columns, a->nonzeros,
                                                  a->row, a->column, a->value, index, base,
                                                  peer->type),
                     "describing a matrix");
    case gpu_sparse_sell:
        if (a->slots == 0)
            return kith_fail(KITH_UNSUPPORTED, "slices of the matrix would be mostly padding");
        peer->algorithm = CUSPARSE_SPMV_SELL_ALG1;
        return check(peer->call.cusparseCreateSlicedEll(&peer->matrix, a->rows, a->columns,
                                                        a->nonzeros, a->slots, 32, a->slice_start,
                                                        a->slice_column, a->slice_value, index,
                                                        index, base, peer->type),
                     "describing a matrix");
    default:
        peer->algorithm = way == gpu_sparse_csr1 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2;
        return check(peer->call.cusparseCreateCsr(&peer->matrix, a->rows, a->columns, a->nonzeros,
                                                  a->row_start, a->column, a->value, index, index,
                                                  base, peer->type),
                     "describing a matrix");
    }
}

static const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;

static kith_status prepare_one(struct cusparse_peer *peer, const struct cusparse_matrix *a,
                               enum gpu_sparse_peer way, const struct cusparse_vectors *vectors)
{
    size_t bytes = 0;
    KITH_TRY(check(peer->call.cusparseCreateDnVec(&peer->x, a->columns, vectors->x, peer->type),
                   "describing x"));
    KITH_TRY(check(peer->call.cusparseCreateDnVec(&peer->y, a->rows, vectors->y, peer->type),
                   "describing y"));
    KITH_TRY(check(peer->call.cusparseSpMV_bufferSize(peer->handle, as_is, &peer->one, peer->matrix,
                                                      peer->x, &peer->zero, peer->y, peer->type,
                                                      peer->algorithm, &bytes),
                   "asking for the size of the buffer"));
    KITH_TRY(cuda_check(cudaMalloc(&peer->buffer, bytes + 1), "the buffer of cuSPARSE"));
    if (way != gpu_sparse_csr1)
        return KITH_OK;
    return check(peer->call.cusparseSpMV_preprocess(peer->handle, as_is, &peer->one, peer->matrix,
                                                    peer->x, &peer->zero, peer->y, peer->type,
                                                    peer->algorithm, peer->buffer),
                 "preprocessing");
}

/* Of slices cuSPARSE has no product with multiple right-hand sides: CSR_ALG3 comes in their place.
 */
static kith_status prepare_several(struct cusparse_peer *peer, const struct cusparse_matrix *a,
                                   enum gpu_sparse_peer way, const struct cusparse_vectors *vectors)
{
    static const cusparseSpMMAlg_t algorithms[gpu_sparse_peers] = {
        CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_COO_ALG4,
        CUSPARSE_SPMM_CSR_ALG3};
    const int64_t count = vectors->count;
    const cusparseOrder_t order = vectors->by_columns ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
    size_t bytes = 0;
    peer->algorithm_of_several = algorithms[way];
    KITH_TRY(check(peer->call.cusparseCreateDnMat(&peer->several_x, a->columns, count,
                                                  vectors->by_columns ? a->columns : count,
                                                  vectors->x, peer->type, order),
                   "describing x"));
    KITH_TRY(check(peer->call.cusparseCreateDnMat(&peer->several_y, a->rows, count,
                                                  vectors->by_columns ? a->rows : count, vectors->y,
                                                  peer->type, order),
                   "describing y"));
    KITH_TRY(check(peer->call.cusparseSpMM_bufferSize(peer->handle, as_is, as_is, &peer->one,
                                                      peer->matrix, peer->several_x, &peer->zero,
                                                      peer->several_y, peer->type,
                                                      peer->algorithm_of_several, &bytes),
                   "asking for the size of the buffer"));
    KITH_TRY(cuda_check(cudaMalloc(&peer->buffer, bytes + 1), "the buffer of cuSPARSE"));
    return check(peer->call.cusparseSpMM_preprocess(peer->handle, as_is, as_is, &peer->one,
                                                    peer->matrix, peer->several_x, &peer->zero,
                                                    peer->several_y, peer->type,
                                                    peer->algorithm_of_several, peer->buffer),
                 "preprocessing");
}

static kith_status prepare(struct cusparse_peer *peer, const struct cusparse_matrix *a,
                           enum gpu_sparse_peer way, cudaStream_t stream,
                           const struct cusparse_vectors *vectors)
{
    KITH_TRY(check(peer->call.cusparseCreate(&peer->handle), "starting cuSPARSE"));
    KITH_TRY(check(peer->call.cusparseSetStream(peer->handle, stream), "choosing the stream"));
    const bool several = vectors->count > 1;
    KITH_TRY(describe(peer, a, several && way == gpu_sparse_sell ? gpu_sparse_csr1 : way));
    return several ? prepare_several(peer, a, way, vectors) : prepare_one(peer, a, way, vectors);
}

kith_status cusparse_peer_create(const struct cusparse_matrix *matrix, enum gpu_sparse_peer way,
                                 cudaStream_t stream, const struct cusparse_vectors *vectors,
                                 struct cusparse_peer **peer)
{
    const float one = 1;
    struct cusparse_peer *made = NULL;
    *peer = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "cuSPARSE's matrix", &made));
    made->type = matrix->dtype == KITH_F64 ? CUDA_R_64F : CUDA_R_32F;
    made->one = 1;
    if (matrix->dtype == KITH_F32)
        memcpy(&made->one, &one, sizeof one);
    kith_status status = open_library(made);
    if (status == KITH_OK)
        status = prepare(made, matrix, way, stream, vectors);
    if (status == KITH_OK)
        *peer = made;
    else
        cusparse_peer_free(made);
    return status;
}

void cusparse_peer_free(struct cusparse_peer *peer)
{
    if (!peer)
        return;
    if (peer->matrix)
        peer->call.cusparseDestroySpMat(peer->matrix);
    if (peer->x)
        peer->call.cusparseDestroyDnVec(peer->x);
    if (peer->y)
        peer->call.cusparseDestroyDnVec(peer->y);
    if (peer->several_x)
        peer->call.cusparseDestroyDnMat(peer->several_x);
    if (peer->several_y)
        peer->call.cusparseDestroyDnMat(peer->several_y);
    if (peer->handle)
        peer->call.cusparseDestroy(peer->handle);
    cudaFree(peer->buffer);
    if (peer->library)
        dlclose(peer->library);
    free(peer);
}

kith_status cusparse_peer_multiply(struct cusparse_peer *peer)
{
    if (peer->several_x)
        return check(peer->call.cusparseSpMM(peer->handle, as_is, as_is, &peer->one, peer->matrix,
                                             peer->several_x, &peer->zero, peer->several_y,
                                             peer->type, peer->algorithm_of_several, peer->buffer),
                     "a product of cuSPARSE's");
    return check(peer->call.cusparseSpMV(peer->handle, as_is, &peer->one, peer->matrix, peer->x,
                                         &peer->zero, peer->y, peer->type, peer->algorithm,
                                         peer->buffer),
                 "a product of cuSPARSE's");
}

#else

kith_status cusparse_peer_create(const struct cusparse_matrix *matrix, enum gpu_sparse_peer way,
                                 cudaStream_t stream, const struct cusparse_vectors *vectors,
                                 struct cusparse_peer **peer)
{
    (void)matrix, (void)way, (void)stream, (void)vectors;
    *peer = NULL;
    return kith_fail(KITH_UNSUPPORTED, "this build was made without cuSPARSE's header");
}

void cusparse_peer_free(struct cusparse_peer *peer)
{
    (void)peer;
}

kith_status cusparse_peer_multiply(struct cusparse_peer *peer)
{
    (void)peer;
    return KITH_UNSUPPORTED;
}

#endif
