/* Making and freeing sparse matrices: arguments to compressed rows, in the memory of the backend.
 */
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/arrays.h"
#include "device/context.h"
#include "device/memory.h"
#include "sparse/assemble.h"
#include "sparse/backend.h"
#include "sparse/object.h"

static kith_status check_options(const kith_sparse_options *options)
{
    int64_t formats = 0, kernels = 0;
    kith_sparse_format_list(&formats);
    kith_sparse_kernel_list(&kernels);
    if ((int64_t)options->format >= formats || (int64_t)options->kernel >= kernels)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "format is %d and kernel is %d; give a kith_sparse_format and a "
                         "kith_sparse_kernel",
                         (int)options->format, (int)options->kernel);
    if (options->block != 0 && (options->block < 2 || options->block > 4))
        return kith_fail(KITH_INVALID_ARGUMENT, "block is %d; give 2, 3 or 4, or 0 for the best",
                         (int)options->block);
    if (options->index_base != 0 && options->index_base != 1)
        return kith_fail(KITH_INVALID_ARGUMENT, "index_base is %d; give 0 or 1",
                         (int)options->index_base);
    if (options->dtype != KITH_F64 && options->dtype != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "dtype is of integers; give float64 or float32");
    return KITH_OK;
}

kith_status sparse_begin(kith_context *context, const kith_sparse_options *options,
                         kith_sparse **sparse)
{
    KITH_TRY(kith_check_pointer(sparse, "sparse"));
    const kith_sparse_options chosen = options ? *options : (kith_sparse_options){0};
    *sparse = NULL;
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(check_options(&chosen));
    KITH_TRY(kith_context_check_cancelled(context));
    if (!sparse_backend_of(context)->multiply)
        return kith_fail(KITH_UNSUPPORTED,
                         "the %s backend has no sparse matrices; make a context on the CPU",
                         context->services->name);
    KITH_TRY(kith_allocate(1, sizeof **sparse, "sparse matrix", sparse));
    (*sparse)->context = context;
    (*sparse)->options = chosen;
    return KITH_OK;
}

static void release_side(kith_context *context, struct sparse_side *side)
{
    sparse_matrix_release(context, &side->matrix);
    context->services->release(context, side->csr.row_start);
    context->services->release(context, side->csr.column);
    context->services->release(context, side->csr.value);
}

void kith_sparse_free(kith_sparse *sparse)
{
    if (!sparse)
        return;
    DEVICE_SCOPE(scope);
    (void)device_enter(sparse->context, &scope);
    for (int k = 0; k < 2; k++)
        release_side(sparse->context, &sparse->side[k]);
    free(sparse);
}

static kith_status copy_array(kith_context *context, int64_t count, int64_t bytes_each,
                              const char *what, const void *from, void *to)
{
    void *made = NULL;
    KITH_TRY(context->services->allocate(context, count + sparse_slack, bytes_each, what, &made));
    memcpy(to, &made, sizeof made);
    return context->services->copy_in(context, made, from, count * bytes_each);
}

static kith_status bring_to_backend(kith_context *context, struct sparse_csr *csr,
                                    struct sparse_csr *own)
{
    if (context->device.kind == KITH_CPU) {
        *own = *csr;
        *csr = (struct sparse_csr){0};
        return KITH_OK;
    }
    *own = *csr;
    own->row_start = NULL, own->column = NULL, own->value = NULL;
    KITH_TRY(copy_array(context, csr->rows + 1, sizeof *csr->row_start, "the rows' starts",
                        csr->row_start, &own->row_start));
    KITH_TRY(copy_array(context, csr->nonzeros, sizeof *csr->column, "the entries' columns",
                        csr->column, &own->column));
    return copy_array(context, csr->nonzeros, kith_dtype_bytes(csr->dtype), "the entries' values",
                      csr->value, &own->value);
}

static kith_status finish(kith_status status, kith_sparse **sparse)
{
    if (status == KITH_OK)
        status = sparse_prepare(*sparse, &(*sparse)->side[KITH_SPARSE_AS_IS]);
    if (status != KITH_OK) {
        kith_sparse_free(*sparse);
        *sparse = NULL;
    }
    return status;
}

kith_status sparse_finish_from_host(struct sparse_csr *csr, kith_status assembled,
                                    kith_sparse **sparse)
{
    kith_status status = assembled;
    if (status == KITH_OK)
        status = bring_to_backend((*sparse)->context, csr, &(*sparse)->side[0].csr);
    sparse_csr_release(csr);
    return finish(status, sparse);
}

static kith_status check_size(int64_t rows, int64_t columns)
{
    if (rows < 0 || columns < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the matrix is %lld × %lld; give sizes of at least 0", (long long)rows,
                         (long long)columns);
    if (rows > sparse_most_rows || columns > sparse_most_rows)
        return kith_fail(KITH_UNSUPPORTED,
                         "the matrix is %lld × %lld; more than %d rows or columns are not "
                         "supported",
                         (long long)rows, (long long)columns, (int)sparse_most_rows);
    return KITH_OK;
}

static kith_status check_vector(const kith_context *context, const char *name, kith_array array,
                                int64_t count, kith_device place, bool real)
{
    const bool is_real = array.dtype == KITH_F64 || array.dtype == KITH_F32;
    if (array.ndim != 1 || array.shape[0] != count)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s has %d dimensions and %lld elements; give a vector of %lld", name,
                         (int)array.ndim, (long long)array.shape[0], (long long)count);
    if (is_real != real)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is of %s; give %s", name,
                         is_real ? "reals" : "integers",
                         real ? "float64 or float32" : "int64 or int32");
    if (!kith_same_device(array.device, place))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s and column are on different devices; give all arrays on one device",
                         name);
    if (!array.data && count > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld elements, but its data is NULL", name,
                         (long long)count);
    KITH_TRY(kith_check_extent(&array, name));
    return kith_check_memory(context, &array, name);
}

/* On the host or, if the context computes there, on its device. */
static kith_status check_place(const kith_context *context, kith_device place, bool *on_device)
{
    *on_device = place.kind != KITH_CPU;
    if (!*on_device)
        return KITH_OK;
    if (!kith_same_device(place, context->device) || !sparse_backend_of(context)->assemble)
        return kith_fail(KITH_UNSUPPORTED,
                         "the arrays are on a device that is not the context's; copy them to the "
                         "host, or make a context there");
    return KITH_OK;
}

static kith_status check_entries(const kith_context *context, const struct sparse_entries *entries)
{
    const kith_device place = entries->column.device;
    KITH_TRY(check_size(entries->rows, entries->columns));
    KITH_TRY(check_vector(context, "column", entries->column, entries->count, place, false));
    if (!kith_array_is_none(entries->value))
        KITH_TRY(check_vector(context, "values", entries->value, entries->count, place, true));
    if (!kith_array_is_none(entries->row_start))
        return check_vector(context, "row_start", entries->row_start, entries->rows + 1, place,
                            false);
    return check_vector(context, "row", entries->row, entries->count, place, false);
}

static kith_status create(kith_context *context, const kith_sparse_options *options,
                          struct sparse_entries *entries, kith_sparse **sparse)
{
    bool on_device = false;
    struct sparse_csr made = {0};
    KITH_TRY(sparse_begin(context, options, sparse));
    entries->index_base = (*sparse)->options.index_base;
    entries->dtype = kith_array_is_none(entries->value) ? KITH_F64 : entries->value.dtype;
    kith_status status = check_entries(context, entries);
    if (status == KITH_OK)
        status = check_place(context, entries->column.device, &on_device);
    if (status == KITH_OK && on_device) {
        status = sparse_backend_of(context)->assemble(context, entries, &made);
        if (status == KITH_OK)
            (*sparse)->side[0].csr = made;
        return finish(status, sparse);
    }
    if (status == KITH_OK)
        status = sparse_assemble_cpu(context, entries, &made);
    return sparse_finish_from_host(&made, status, sparse);
}

kith_status kith_sparse_create_coo(kith_context *context, const kith_sparse_options *options,
                                   int64_t rows, int64_t columns, kith_array row, kith_array column,
                                   kith_array values, kith_sparse **sparse)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct sparse_entries entries = {.rows = rows,
                                     .columns = columns,
                                     .count = column.shape[0],
                                     .row = row,
                                     .column = column,
                                     .value = values};
    return create(context, options, &entries, sparse);
}

kith_status kith_sparse_create_csr(kith_context *context, const kith_sparse_options *options,
                                   int64_t columns, kith_array row_start, kith_array column,
                                   kith_array values, kith_sparse **sparse)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(sparse, "sparse"));
    *sparse = NULL;
    if (row_start.ndim != 1 || row_start.shape[0] < 1)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "row_start has %d dimensions and %lld elements; give a vector of rows + 1",
                         (int)row_start.ndim, (long long)row_start.shape[0]);
    struct sparse_entries entries = {.rows = row_start.shape[0] - 1,
                                     .columns = columns,
                                     .count = column.shape[0],
                                     .row_start = row_start,
                                     .column = column,
                                     .value = values};
    return create(context, options, &entries, sparse);
}

static kith_status check_dense(const kith_context *context, kith_array matrix)
{
    if (matrix.ndim != 2 || (matrix.dtype != KITH_F64 && matrix.dtype != KITH_F32))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "matrix has %d dimensions; give rows × columns of float64 or float32",
                         (int)matrix.ndim);
    KITH_TRY(check_size(matrix.shape[0], matrix.shape[1]));
    KITH_TRY(kith_check_extent(&matrix, "matrix"));
    if (!matrix.data && matrix.shape[0] > 0 && matrix.shape[1] > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "matrix has %lld rows, but its data is NULL",
                         (long long)matrix.shape[0]);
    if (matrix.device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "matrix is on a device; copy it to the host, or give its entries");
    return kith_check_memory(context, &matrix, "matrix");
}

kith_status kith_sparse_create_dense(kith_context *context, const kith_sparse_options *options,
                                     kith_array matrix, kith_sparse **sparse)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct sparse_csr made = {0};
    KITH_TRY(sparse_begin(context, options, sparse));
    kith_status status = check_dense(context, matrix);
    if (status == KITH_OK)
        status = sparse_assemble_dense(context, matrix, &made);
    return sparse_finish_from_host(&made, status, sparse);
}
