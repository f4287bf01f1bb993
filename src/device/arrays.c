#include "device/arrays.h"

#include <stdio.h>

#include "core/arguments.h"
#include "device/context.h"
#include "device/memory.h"
#include "kith/particles.h"

const char *kith_dtype_name(kith_dtype dtype)
{
    static const char *const names[] = {"float64", "float32", "int64", "int32"};
    return (unsigned)dtype < sizeof names / sizeof names[0] ? names[dtype] : "an unknown dtype";
}

const char *kith_device_text(kith_device device, char text[32])
{
    if (device.kind == KITH_CUDA)
        snprintf(text, 32, "on cuda:%d", (int)device.index);
    else if (device.kind == KITH_CPU)
        snprintf(text, 32, "in the host's memory");
    else
        snprintf(text, 32, "on a device of kind %d", (int)device.kind);
    return text;
}

bool kith_same_device(kith_device a, kith_device b)
{
    return a.kind == b.kind && (a.kind == KITH_CPU || a.index == b.index);
}

bool kith_same_view(kith_array a, kith_array b)
{
    if (!a.data || a.data != b.data || a.ndim != b.ndim || a.dtype != b.dtype ||
        !kith_same_device(a.device, b.device))
        return false;
    for (int32_t k = 0; k < a.ndim && k < KITH_MAX_DIMENSIONS; k++)
        if (a.shape[k] != b.shape[k] || a.strides[k] != b.strides[k])
            return false;
    return true;
}

kith_array kith_array_or_none(kith_array array)
{
    return kith_array_is_none(array) ? kith_array_none() : array;
}

kith_status kith_check_device(const kith_context *context, kith_array array, const char *name)
{
    char text[32], own[32];
    const kith_device device = array.device;
    if (device.kind == KITH_CPU)
        return KITH_OK;
    if (device.kind != KITH_CUDA)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is in the memory of a device of kind %d; give KITH_CPU or KITH_CUDA",
                         name, (int)device.kind);
    if (context->device.kind == KITH_CPU)
        return kith_fail(
            KITH_UNSUPPORTED,
            "%s is not in the host's memory, but this context computes on the CPU; copy it to the "
            "host",
            name);
    if (!kith_same_device(context->device, device))
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "%s is %s, but this context computes %s; copy it, or create a context there", name,
            kith_device_text(device, text), kith_device_text(context->device, own));
    return KITH_OK;
}

static kith_status check_points(kith_array positions, const char *name, int64_t least, int64_t most,
                                const char *wanted)
{
    if (kith_array_is_none(positions))
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is empty; give %s numbers", name, wanted);
    if (positions.dtype != KITH_F64 && positions.dtype != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is of %s; give float64 or float32", name,
                         kith_dtype_name(positions.dtype));
    if (positions.ndim != 2 || positions.shape[1] < least || positions.shape[1] > most)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %d dimensions and %lld columns; give %s",
                         name, (int)positions.ndim, (long long)kith_array_columns(positions),
                         wanted);
    return kith_check_extent(&positions, name);
}

kith_status kith_check_positions(kith_array positions, const char *name)
{
    return check_points(positions, name, 2, 3, "n × 2 or n × 3");
}

kith_status kith_check_points(kith_array positions, const char *name)
{
    return check_points(positions, name, 1, KITH_MAX_COORDINATES, "n × 1 to n × 16");
}

static kith_status check_shape(const struct named_array *named)
{
    const kith_array *array = named->array;
    if (array->ndim != named->ndim)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %d dimensions; give %d", named->name,
                         (int)array->ndim, (int)named->ndim);

    const int64_t rows = array->shape[0], columns = kith_array_columns(*array);
    const bool rows_fit = named->rows < 0 ? rows >= 0 : rows == named->rows;
    if (rows_fit && columns == named->columns)
        return KITH_OK;

    char expected[32] = "n";
    if (named->rows >= 0)
        snprintf(expected, sizeof expected, "%lld", (long long)named->rows);
    if (named->ndim == 1)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld elements; give %s", named->name,
                         (long long)rows, expected);
    return kith_fail(KITH_INVALID_ARGUMENT, "%s is %lld × %lld; give %s × %lld", named->name,
                     (long long)rows, (long long)columns, expected, (long long)named->columns);
}

kith_status kith_check_array(const kith_context *context, const struct named_array *named,
                             const kith_array *first, const char *first_name)
{
    char text[32], of_first[32];
    const kith_array *array = named->array;
    if (kith_array_is_none(*array))
        return KITH_OK;
    if (!kith_same_device(array->device, first->device))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is %s and %s is %s; give all arrays on one device", named->name,
                         kith_device_text(array->device, text), first_name,
                         kith_device_text(first->device, of_first));
    if (array->dtype != named->dtype)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is of %s; give %s", named->name,
                         kith_dtype_name(array->dtype), kith_dtype_name(named->dtype));
    KITH_TRY(kith_check_extent(array, named->name));
    KITH_TRY(check_shape(named));
    if (!array->data && array->shape[0] > 0 && kith_array_columns(*array) > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld rows, but its data is NULL",
                         named->name, (long long)array->shape[0]);
    return kith_check_memory(context, array, named->name);
}

kith_status kith_check_output(const struct named_array *output)
{
    const kith_array *array = output->array;
    for (int32_t k = 0; k < array->ndim; k++)
        if (array->strides[k] == 0 && array->shape[k] > 1 && array->shape[0] > 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s has stride 0 along dimension %d, so that results would overwrite "
                             "each other; give each element its own memory",
                             output->name, (int)k);
    return KITH_OK;
}
