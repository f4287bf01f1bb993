#include "core/arguments.h"

#include <stdbool.h>
#include <string.h>

/* More than the address space of any current processor: a larger size is a mistake. */
static const int64_t most_bytes = INT64_C(1) << 57;

kith_status kith_check_pointer(const void *pointer, const char *name)
{
    if (!pointer)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is NULL; give the address of one", name);
    return KITH_OK;
}

/* |count × each| ≤ most_bytes. */
static bool is_in_memory(int64_t count, int64_t each)
{
    int64_t bytes = 0;
    return !__builtin_mul_overflow(count, each, &bytes) && bytes <= most_bytes &&
           bytes >= -most_bytes;
}

void kith_clear(void *arguments, size_t bytes)
{
    memset(arguments, 0, bytes);
}

kith_status kith_check_extent(const kith_array *array, const char *name)
{
    const int64_t each = kith_dtype_bytes(array->dtype);
    int64_t elements = 1;
    for (int32_t k = 0; k < array->ndim && k < KITH_MAX_DIMENSIONS; k++) {
        const int64_t size = array->shape[k], stride = array->strides[k];
        if (size < 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s has the size %lld along dimension %d; give at least 0", name,
                             (long long)size, (int)k);
        if (!is_in_memory(size, each) || !is_in_memory(elements, size * each) ||
            (size > 1 && (!is_in_memory(stride, each) || !is_in_memory(size - 1, stride * each))))
            return kith_fail(
                KITH_INVALID_ARGUMENT,
                "%s has %lld elements with stride %lld along dimension %d, more than fits in "
                "memory; check its shape",
                name, (long long)size, (long long)stride, (int)k);
        elements *= size;
    }
    return KITH_OK;
}
