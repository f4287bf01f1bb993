#include "sparse/vectors.h"

#include <stddef.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/arrays.h"
#include "device/context.h"
#include "device/memory.h"
#include "sparse/backend.h"

static bool on_host(kith_array array)
{
    return array.device.kind == KITH_CPU;
}

static kith_status check_vector(const kith_context *context, const struct sparse_csr *csr,
                                const char *name, kith_array array, int64_t count)
{
    const kith_device here = context->device;
    if ((array.ndim != 1 && array.ndim != 2) || array.shape[0] != count)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s has %d dimensions and %lld rows; give %lld numbers, or %lld × k", name,
                         (int)array.ndim, (long long)array.shape[0], (long long)count,
                         (long long)count);
    if (array.dtype != csr->dtype)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is of %s, but the matrix is of %s; give vectors of the matrix's dtype",
                         name, kith_dtype_name(array.dtype), kith_dtype_name(csr->dtype));
    if (!on_host(array) && (array.device.kind != here.kind || array.device.index != here.index))
        return kith_fail(KITH_UNSUPPORTED,
                         "%s is on a device that is not the context's; copy it to the host, or "
                         "make the matrix with a context there",
                         name);
    if (!array.data && count > 0 && sparse_vectors_of(array) > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld rows, but its data is NULL", name,
                         (long long)count);
    KITH_TRY(kith_check_extent(&array, name));
    return kith_check_memory(context, &array, name);
}

static kith_status check_memory(kith_array x, kith_array y)
{
    const struct named_array output = {"y", &y, y.dtype, y.ndim, y.shape[0], sparse_vectors_of(y)};
    KITH_TRY(kith_check_output(&output));
    return kith_check_overlap(&output, &x, "x");
}

kith_status sparse_check_vectors(const kith_context *context, const struct sparse_csr *csr,
                                 kith_array x, kith_array y)
{
    KITH_TRY(check_vector(context, csr, "x", x, csr->columns));
    KITH_TRY(check_vector(context, csr, "y", y, csr->rows));
    if (x.ndim != y.ndim || sparse_vectors_of(x) != sparse_vectors_of(y))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "x has %lld vectors, but y has %lld; give equal numbers",
                         (long long)sparse_vectors_of(x), (long long)sparse_vectors_of(y));
    if (on_host(x) != on_host(y))
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "x and y are on different devices; give both on the host, or both on the device");
    return check_memory(x, y);
}

static void set_strides(kith_array array, int64_t strides[2])
{
    strides[0] = array.strides[0];
    strides[1] = array.ndim == 2 ? array.strides[1] : 0;
}

static void pack(kith_array from, void *to)
{
    int64_t stride[2];
    set_strides(from, stride);
    const int64_t vectors = sparse_vectors_of(from);
    for (int64_t i = 0; i < from.shape[0]; i++)
        for (int64_t k = 0; k < vectors; k++)
            if (from.dtype == KITH_F64)
                ((double *)to)[i * vectors + k] =
                    ((const double *)from.data)[i * stride[0] + k * stride[1]];
            else
                ((float *)to)[i * vectors + k] =
                    ((const float *)from.data)[i * stride[0] + k * stride[1]];
}

static void unpack(const void *from, kith_array to)
{
    int64_t stride[2];
    set_strides(to, stride);
    const int64_t vectors = sparse_vectors_of(to);
    for (int64_t i = 0; i < to.shape[0]; i++)
        for (int64_t k = 0; k < vectors; k++)
            if (to.dtype == KITH_F64)
                ((double *)to.data)[i * stride[0] + k * stride[1]] =
                    ((const double *)from)[i * vectors + k];
            else
                ((float *)to.data)[i * stride[0] + k * stride[1]] =
                    ((const float *)from)[i * vectors + k];
}

/* Vectors on the host for a backend with memory of its own: row-major, x before y. */
static kith_status multiply_staged(kith_context *context, struct sparse_product *product,
                                   kith_array x, kith_array y)
{
    const struct device_services *services = context->services;
    const int64_t vectors = product->vectors, bytes_each = kith_dtype_bytes(x.dtype);
    const int64_t y_bytes = y.shape[0] * vectors * bytes_each;
    const int64_t y_at = kith_padded(x.shape[0] * vectors) * bytes_each;
    void *host = NULL, *own = NULL;
    KITH_TRY(services->workspace(context, y_at + y_bytes, &host, &own));
    pack(x, host);
    if (product->beta != 0)
        pack(y, (char *)host + y_at);
    KITH_TRY(services->copy_in(context, own, host, product->beta != 0 ? y_at + y_bytes : y_at));
    product->x = own;
    product->y = (char *)own + y_at;
    product->x_stride[0] = product->y_stride[0] = vectors;
    product->x_stride[1] = product->y_stride[1] = 1;
    KITH_TRY(sparse_backend_of(context)->multiply(context, product));
    KITH_TRY(services->copy_out(context, (char *)host + y_at, product->y, y_bytes));
    unpack((char *)host + y_at, y);
    return KITH_OK;
}

kith_status sparse_multiply_vectors(kith_context *context, struct sparse_product *product,
                                    kith_array x, kith_array y)
{
    product->vectors = sparse_vectors_of(x);
    if (on_host(x) && context->device.kind != KITH_CPU)
        return multiply_staged(context, product, x, y);
    product->x = x.data;
    product->y = y.data;
    set_strides(x, product->x_stride);
    set_strides(y, product->y_stride);
    return sparse_backend_of(context)->multiply(context, product);
}
