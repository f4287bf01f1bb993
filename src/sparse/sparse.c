/* kith_sparse_multiply and what comes before the first product: a format for op(A). */
#include "kith/sparse.h"

#include <string.h>

#include "core/arguments.h"
#include "core/clock.h"
#include "core/memory.h"
#include "device/context.h"
#include "sparse/backend.h"
#include "sparse/object.h"
#include "sparse/statistics.h"
#include "sparse/tune.h"
#include "sparse/vectors.h"

static const kith_sparse_choice formats[] = {
    [KITH_SPARSE_AUTO] = {"auto", "by the matrix: what is expected to be fastest"},
    [KITH_SPARSE_COO] = {"coo", "row, column and value of each entry"},
    [KITH_SPARSE_CSR] = {"csr", "compressed rows; 16-bit columns where a few rows span 65536"},
    [KITH_SPARSE_ELL] = {"ell", "rows padded to the longest"},
    [KITH_SPARSE_HYBRID] =
        {"hybrid", "ell as wide as a third of the rows, with the rest of longer rows in coo"},
    [KITH_SPARSE_SELL] = {"sell", "SELL-C-sigma: slices of rows of similar length, padded"},
    [KITH_SPARSE_BSR] = {"bsr", "dense blocks of 2 x 2, 3 x 3 or 4 x 4"},
    [KITH_SPARSE_DIA] = {"dia", "diagonals; of a symmetric matrix half of them"},
};

static const kith_sparse_choice kernels[] = {
    [KITH_SPARSE_KERNEL_AUTO] = {"auto", "the best kernel for the format"},
    [KITH_SPARSE_ROW_THREAD] = {"row-thread", "one thread or one vector lane per row"},
    [KITH_SPARSE_ROW_VECTOR] = {"row-vector", "one vector or warp per row"},
    [KITH_SPARSE_ELEMENT] = {"element", "one thread per entry, and a segmented sum"},
    [KITH_SPARSE_MERGE] = {"merge", "equal parts of rows and entries per thread (merge path)"},
};

const kith_sparse_choice *kith_sparse_format_list(int64_t *count)
{
    if (count)
        *count = sizeof formats / sizeof formats[0];
    return formats;
}

const kith_sparse_choice *kith_sparse_kernel_list(int64_t *count)
{
    if (count)
        *count = sizeof kernels / sizeof kernels[0];
    return kernels;
}

void sparse_matrix_release(kith_context *context, struct sparse_matrix *matrix)
{
    if (sparse_backend_of(context)->dispose)
        sparse_backend_of(context)->dispose(context, matrix);
    for (int32_t k = 0; k < matrix->allocations; k++)
        context->services->release(context, matrix->memory[k]);
    matrix->allocations = 0;
}

static kith_status convert(kith_context *context, const struct sparse_statistics *statistics,
                           struct sparse_side *side)
{
    side->matrix.csr = side->csr;
    kith_status status = sparse_backend_of(context)->convert(context, statistics, &side->matrix);
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    if (status != KITH_OK)
        sparse_matrix_release(context, &side->matrix);
    return status;
}

kith_status sparse_prepare(kith_sparse *sparse, struct sparse_side *side)
{
    kith_context *context = sparse->context;
    const double start = kith_clock();
    struct sparse_statistics statistics = {0};
    struct sparse_plan plans[sparse_tuned_plans];
    int32_t count = sparse->options.tune ? sparse_tuned_plans : 1;
    KITH_TRY(sparse_backend_of(context)->inspect(context, &side->csr, &statistics));
    KITH_TRY(sparse_choose(context, &sparse->options, &statistics, &count, plans));
    if (count > 1)
        KITH_TRY(sparse_tune(context, &side->csr, &statistics, &count, plans));
    side->matrix = (struct sparse_matrix){.plan = plans[0]};
    KITH_TRY(convert(context, &statistics, side));
    sparse_explain(&sparse->options, &statistics, &side->matrix.plan, side->reason,
                   sizeof side->reason);
    side->convert_seconds = kith_clock() - start;
    side->ready = true;
    return KITH_OK;
}

/* *made is all or nothing. */
static kith_status transpose(kith_context *context, const struct sparse_csr *csr,
                             struct sparse_csr *made)
{
    const kith_status status = sparse_backend_of(context)->transpose(context, csr, made);
    if (status != KITH_OK) {
        context->services->release(context, made->row_start);
        context->services->release(context, made->column);
        context->services->release(context, made->value);
        *made = (struct sparse_csr){0};
    }
    return status;
}

/* The side of an operation, made if need be. */
static kith_status side_of(kith_sparse *sparse, kith_sparse_operation operation,
                           struct sparse_side **side)
{
    if (operation != KITH_SPARSE_AS_IS && operation != KITH_SPARSE_TRANSPOSED)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "operation is %d; give KITH_SPARSE_AS_IS or KITH_SPARSE_TRANSPOSED",
                         (int)operation);
    kith_context *context = sparse->context;
    *side = &sparse->side[operation];
    if ((*side)->ready)
        return KITH_OK;
    const double start = kith_clock();
    if (!(*side)->csr.row_start)
        KITH_TRY(transpose(context, &sparse->side[KITH_SPARSE_AS_IS].csr, &(*side)->csr));
    KITH_TRY(sparse_prepare(sparse, *side));
    (*side)->convert_seconds = kith_clock() - start;
    return KITH_OK;
}

kith_status kith_sparse_describe(kith_sparse *sparse, kith_sparse_operation operation,
                                 kith_sparse_info *info)
{
    KITH_TRY(kith_check_pointer(info, "info"));
    KITH_TRY(kith_check_pointer(sparse, "sparse"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(sparse->context, &scope));
    struct sparse_side *side = NULL;
    KITH_TRY(side_of(sparse, operation, &side));
    const struct sparse_csr *csr = &sparse->side[KITH_SPARSE_AS_IS].csr;
    *info = (kith_sparse_info){
        .rows = csr->rows,
        .columns = csr->columns,
        .nonzeros = csr->nonzeros,
        .dtype = csr->dtype,
        .format = side->matrix.plan.format,
        .kernel = side->matrix.plan.kernel,
        .reason = side->reason,
        .bytes = side->matrix.plan.bytes,
        .convert_seconds = side->convert_seconds,
    };
    return KITH_OK;
}

static kith_status copy_out(const kith_sparse *sparse, void *to, const void *from, int64_t bytes)
{
    return to ? sparse->context->services->copy_out(sparse->context, to, from, bytes) : KITH_OK;
}

kith_status kith_sparse_copy_csr(const kith_sparse *sparse, int64_t *row_start, int32_t *column,
                                 void *values)
{
    KITH_TRY(kith_check_pointer(sparse, "sparse"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(sparse->context, &scope));
    const struct sparse_csr *csr = &sparse->side[KITH_SPARSE_AS_IS].csr;
    KITH_TRY(
        copy_out(sparse, row_start, csr->row_start, (csr->rows + 1) * (int64_t)sizeof *row_start));
    KITH_TRY(copy_out(sparse, column, csr->column, csr->nonzeros * (int64_t)sizeof *column));
    return copy_out(sparse, values, csr->value, csr->nonzeros * kith_dtype_bytes(csr->dtype));
}

kith_status kith_sparse_multiply(kith_sparse *sparse, kith_sparse_operation operation, double alpha,
                                 kith_array x, double beta, kith_array y)
{
    KITH_TRY(kith_check_pointer(sparse, "sparse"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(sparse->context, &scope));
    kith_context *context = sparse->context;
    struct sparse_side *side = NULL;
    struct sparse_product product;
    KITH_TRY(kith_context_check_cancelled(context));
    KITH_TRY(side_of(sparse, operation, &side));
    KITH_TRY(sparse_check_vectors(context, &side->csr, x, y));
    product = (struct sparse_product){.matrix = &side->matrix, .alpha = alpha, .beta = beta};
    if (side->csr.rows == 0 || sparse_vectors_of(x) == 0)
        return KITH_OK;
    return sparse_multiply_vectors(context, &product, x, y);
}
