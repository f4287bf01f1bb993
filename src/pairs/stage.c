#include "pairs/stage.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"

kith_status pairs_host_buffer_grow(struct pairs_buffer *buffer, int64_t bytes, const char *what)
{
    if (bytes <= buffer->bytes)
        return KITH_OK;
    free(buffer->data);
    *buffer = (struct pairs_buffer){0};
    KITH_TRY(kith_allocate(bytes, 1, what, &buffer->data));
    buffer->bytes = bytes;
    return KITH_OK;
}

static int64_t bytes_of(kith_array array)
{
    if (kith_array_is_none(array))
        return 0;
    const int64_t columns = array.ndim == 2 ? array.shape[1] : 1;
    return array.shape[0] * columns * kith_dtype_bytes(array.dtype);
}

void pairs_copy_dense(kith_array array, void *to)
{
    const int64_t rows = array.shape[0], columns = array.ndim == 2 ? array.shape[1] : 1;
    const int64_t each = kith_dtype_bytes(array.dtype);
    const bool dense = (array.ndim == 1 || array.strides[1] == 1) && array.strides[0] == columns;
    if (rows == 0)
        return;
    if (dense) {
        memcpy(to, array.data, (size_t)(rows * columns * each));
        return;
    }
    char *next = to;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++, next += each) {
            const int64_t at =
                row * array.strides[0] + (array.ndim == 2 ? column * array.strides[1] : 0);
            memcpy(next, (const char *)array.data + at * each, (size_t)each);
        }
}

static kith_array dense_view(kith_array array, void *data, kith_device device)
{
    array.data = data;
    array.device = device;
    array.strides[0] = array.ndim == 2 ? array.shape[1] : 1;
    array.strides[1] = 1;
    return array;
}

kith_status pairs_stage_inputs(kith_context *context, struct pairs_problem *problem,
                               struct pairs_buffer *input, struct pairs_buffer *on_host)
{
    kith_array *arrays[] = {
        &problem->points,       &problem->targets,           &problem->point_radii,
        &problem->target_radii, &problem->exclusion_offsets, &problem->exclusions};
    enum { count = sizeof arrays / sizeof arrays[0] };
    int64_t begins[count + 1] = {0};
    for (int k = 0; k < count; k++)
        begins[k + 1] = begins[k] + kith_padded(bytes_of(*arrays[k]));

    KITH_TRY(pairs_buffer_grow(context, input, begins[count] + kith_padding, "the positions"));
    KITH_TRY(pairs_host_buffer_grow(on_host, begins[count] + kith_padding, "the positions"));
    for (int k = 0; k < count; k++)
        if (bytes_of(*arrays[k]) > 0)
            pairs_copy_dense(*arrays[k], (char *)on_host->data + begins[k]);
    KITH_TRY(context->services->copy_in(context, input->data, on_host->data, begins[count]));
    for (int k = 0; k < count; k++)
        if (!kith_array_is_none(*arrays[k]))
            *arrays[k] = dense_view(*arrays[k], (char *)input->data + begins[k], context->device);
    return KITH_OK;
}
