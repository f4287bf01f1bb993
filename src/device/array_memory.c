#include "kith/memory.h"

#include "core/arguments.h"
#include "device/arrays.h"
#include "device/context.h"

static kith_status check_dtype(kith_dtype dtype)
{
    if ((unsigned)dtype > KITH_I32)
        return kith_fail(KITH_INVALID_ARGUMENT, "dtype is %d; give a kith_dtype", (int)dtype);
    return KITH_OK;
}

kith_status kith_array_create(kith_context *context, kith_dtype dtype, int64_t rows,
                              int64_t columns, kith_array *array)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(kith_check_pointer(array, "array"));
    *array = kith_array_none();
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(check_dtype(dtype));
    if (rows < 0 || columns < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "rows is %lld and columns %lld; give sizes from 0",
                         (long long)rows, (long long)columns);
    const int64_t wide = columns > 0 ? columns : 1;
    kith_array made = kith_array_matrix(NULL, dtype, rows, wide);
    made.device = context->device;
    if (columns == 0)
        made.ndim = 1;
    KITH_TRY(kith_check_extent(&made, "array"));
    KITH_TRY(context->services->allocate(context, rows * wide > 0 ? rows * wide : 1,
                                         kith_dtype_bytes(dtype), "array", &made.data));
    *array = made;
    return KITH_OK;
}

void kith_array_free(kith_context *context, kith_array *array)
{
    DEVICE_SCOPE(scope);
    if (!context || !array || kith_array_is_none(*array) ||
        device_enter(context, &scope) != KITH_OK)
        return;
    context->services->release(context, array->data);
    *array = kith_array_none();
}

/* Strides along which there is one number do not matter. */
static bool is_contiguous(kith_array array)
{
    const int64_t columns = kith_array_columns(array);
    return (array.shape[0] <= 1 || array.strides[0] == columns) &&
           (columns <= 1 || array.strides[1] == 1);
}

static kith_status check_side(const kith_context *context, kith_array array, const char *name,
                              kith_array other)
{
    const struct named_array named = {name,       &array,         other.dtype,
                                      other.ndim, other.shape[0], kith_array_columns(other)};
    if (array.ndim != 1 && array.ndim != 2)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %d dimensions; give a vector or a matrix",
                         name, (int)array.ndim);
    KITH_TRY(check_dtype(array.dtype));
    KITH_TRY(kith_check_device(context, array, name));
    KITH_TRY(kith_check_array(context, &named, &array, name));
    if (!is_contiguous(array))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s has gaps between its numbers; give a contiguous array", name);
    return KITH_OK;
}

kith_status kith_array_copy(kith_context *context, kith_array from, kith_array to)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(check_side(context, from, "from", from));
    KITH_TRY(check_side(context, to, "to", from));
    const int64_t bytes = from.shape[0] * kith_array_columns(from) * kith_dtype_bytes(from.dtype);
    const struct named_array output = {.name = "to", .array = &to};
    if (to.device.kind != KITH_CPU && from.device.kind != KITH_CPU)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "from and to are on a device; give one on the host");
    if (to.device.kind == from.device.kind)
        KITH_TRY(kith_check_overlap(&output, &from, "from"));
    if (bytes == 0)
        return KITH_OK;
    if (to.device.kind != KITH_CPU)
        return context->services->copy_in(context, to.data, from.data, bytes);
    KITH_TRY(context->services->copy_out(context, to.data, from.data, bytes));
    return context->services->synchronize(context);
}
