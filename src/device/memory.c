#include "device/memory.h"

#include "device/context.h"

static bool has_elements(const kith_array *array)
{
    if (kith_array_is_none(*array) || !array->data)
        return false;
    for (int32_t k = 0; k < array->ndim && k < KITH_MAX_DIMENSIONS; k++)
        if (array->shape[k] == 0)
            return false;
    return true;
}

kith_status kith_check_memory(const kith_context *context, const kith_array *array,
                              const char *name)
{
    if (!context->services->check_memory || !has_elements(array))
        return KITH_OK;
    return context->services->check_memory(context, *array, name);
}
