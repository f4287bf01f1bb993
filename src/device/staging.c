#include "device/staging.h"

#include <string.h>

#include "device/arrays.h"
#include "device/context.h"
#include "device/threads.h"

enum { alignment = 256, rows_of_block = 1 << 13 };

/* Microseconds of forces on an H200, by two copies and in the host's memory: 64 bodies in single
 * precision (2 kB) 34.9 and 26.9, 512 (14 kB) 36.1 and 29.7; in double 512 (28 kB) 32.3 and 31.3,
 * 1024 (56 kB) 34.6 and 37.1. */
enum { most_bytes_in_place = 1 << 14 };

static const double seconds_of_element = 1e-9;

bool staging_is_needed(const kith_context *context, kith_array first)
{
    return first.device.kind == KITH_CPU && context->device.kind != KITH_CPU &&
           context->services->hold_errors;
}

void staging_add(struct staging *staging, kith_array *array, bool is_output)
{
    if (kith_array_is_none(*array))
        return;
    staging->array[staging->count++] =
        (struct staged_array){.array = array, .on_host = *array, .is_output = is_output};
}

static int64_t bytes_of(kith_array array)
{
    return array.shape[0] * kith_array_columns(array) * kith_dtype_bytes(array.dtype);
}

/* Rows between a strided array and a contiguous one. */
struct transfer {
    kith_array array;
    char *dense;
    bool out; /* to the array */
};

static void copy_row(const struct transfer *transfer, int64_t row)
{
    const kith_array *array = &transfer->array;
    const int64_t columns = kith_array_columns(*array), each = kith_dtype_bytes(array->dtype);
    const int64_t stride = array->ndim == 2 ? array->strides[1] : 1;
    char *strided = (char *)array->data + row * array->strides[0] * each;
    char *dense = transfer->dense + row * columns * each;
    for (int64_t c = 0; c < columns; c++) {
        char *element = strided + c * stride * each;
        if (each == 8)
            memcpy(transfer->out ? element : dense + 8 * c, transfer->out ? dense + 8 * c : element,
                   8);
        else
            memcpy(transfer->out ? element : dense + 4 * c, transfer->out ? dense + 4 * c : element,
                   4);
    }
}

static void copy_rows(void *argument, int64_t block)
{
    const struct transfer *transfer = argument;
    const kith_array *array = &transfer->array;
    const int64_t columns = kith_array_columns(*array), begin = block * rows_of_block;
    const int64_t left = array->shape[0] - begin,
                  rows = left < rows_of_block ? left : rows_of_block;
    const int64_t bytes_of_row = columns * kith_dtype_bytes(array->dtype);
    if (array->strides[0] == columns && (array->ndim == 1 || array->strides[1] == 1)) {
        char *strided = (char *)array->data + begin * bytes_of_row;
        char *dense = transfer->dense + begin * bytes_of_row;
        memcpy(transfer->out ? strided : dense, transfer->out ? dense : strided,
               (size_t)(rows * bytes_of_row));
        return;
    }
    for (int64_t row = begin; row < begin + rows; row++)
        copy_row(transfer, row);
}

static kith_status copy_all(const struct staging *staging, bool out)
{
    kith_context *context = staging->context;
    for (int32_t k = 0; k < staging->count; k++) {
        const struct staged_array *staged = &staging->array[k];
        const kith_array array = staged->on_host;
        if (staged->is_output != out || bytes_of(array) == 0)
            continue;
        struct transfer transfer = {array, staging->host + staged->offset, out};
        const double seconds =
            seconds_of_element * (double)array.shape[0] * (double)kith_array_columns(array);
        KITH_TRY(kith_for_each(context, kith_threads_for(context, seconds),
                               (array.shape[0] + rows_of_block - 1) / rows_of_block, copy_rows,
                               &transfer));
    }
    return KITH_OK;
}

/* An array of stride 0 may have more numbers than there is memory for. */
static kith_status add_bytes(struct staging *staging, kith_array array)
{
    const int64_t each = kith_array_columns(array) * kith_dtype_bytes(array.dtype);
    int64_t bytes = 0;
    if (__builtin_mul_overflow(array.shape[0], each, &bytes) ||
        __builtin_add_overflow(bytes, alignment - 1, &bytes) ||
        __builtin_add_overflow(staging->bytes, bytes / alignment * alignment, &staging->bytes))
        return kith_fail(KITH_OUT_OF_MEMORY,
                         "a copy of the arrays: %lld × %lld numbers are more than can be addressed",
                         (long long)array.shape[0], (long long)kith_array_columns(array));
    return KITH_OK;
}

/* Inputs, then outputs. */
static kith_status lay_out(struct staging *staging)
{
    for (int is_output = 0; is_output < 2; is_output++) {
        for (int32_t k = 0; k < staging->count; k++) {
            struct staged_array *staged = &staging->array[k];
            if (staged->is_output != is_output)
                continue;
            staged->offset = staging->bytes;
            KITH_TRY(add_bytes(staging, staged->on_host));
        }
        if (!is_output)
            staging->input_bytes = staging->bytes;
    }
    return KITH_OK;
}

kith_status staging_send(struct staging *staging)
{
    kith_context *context = staging->context;
    const struct device_services *services = context->services;
    void *host = NULL, *own = NULL;
    KITH_TRY(lay_out(staging));
    KITH_TRY(services->workspace(context, staging->bytes, &host, &own));
    staging->host = host;
    KITH_TRY(copy_all(staging, false));
    if (staging->reads_once && staging->bytes <= most_bytes_in_place)
        own = host;
    else
        KITH_TRY(services->copy_in(context, own, host, staging->input_bytes));
    for (int32_t k = 0; k < staging->count; k++) {
        const struct staged_array *staged = &staging->array[k];
        const int64_t columns = kith_array_columns(staged->on_host);
        staged->array->data = (char *)own + staged->offset;
        staged->array->device = context->device;
        staged->array->strides[0] = columns;
        staged->array->strides[1] = 1;
    }
    services->hold_errors(context);
    return KITH_OK;
}

kith_status staging_check(struct staging *staging, kith_status status)
{
    const struct device_services *services = staging->context->services;
    if (status != KITH_OK) {
        services->drop_errors(staging->context);
        return status;
    }
    return services->report_errors(staging->context);
}

kith_status staging_receive(struct staging *staging, kith_status status)
{
    kith_context *context = staging->context;
    const int64_t inputs = staging->input_bytes, outputs = staging->bytes - inputs;
    char *own = NULL;
    for (int32_t k = 0; k < staging->count; k++)
        if (staging->array[k].is_output && !own)
            own = (char *)staging->array[k].array->data;
    if (status == KITH_OK && own != staging->host + inputs)
        status = context->services->copy_out(context, staging->host + inputs, own, outputs);
    KITH_TRY(staging_check(staging, status));
    return copy_all(staging, true);
}
