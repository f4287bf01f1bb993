#include "io/npy_elements.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* A double that rounded up to the limit would not fit the integer type again; 0: every number of
 * the type is a double. */
#define DEFINE_ELEMENT(name, type, limit, is_whole)                                                \
    static bool name##_to_real(const unsigned char *bytes, double *value)                          \
    {                                                                                              \
        type element;                                                                              \
        memcpy(&element, bytes, sizeof element);                                                   \
        *value = (double)element;                                                                  \
        return !((limit) > 0) || (*value < (limit) && (type)*value == element);                    \
    }                                                                                              \
    static bool name##_to_whole(const unsigned char *bytes, int64_t *value)                        \
    {                                                                                              \
        type element;                                                                              \
        memcpy(&element, bytes, sizeof element);                                                   \
        if (!(is_whole))                                                                           \
            return false;                                                                          \
        *value = (int64_t)element;                                                                 \
        return true;                                                                               \
    }

DEFINE_ELEMENT(f8, double, 0.0, element == rint(element) && fabs(element) < 0x1p63)
DEFINE_ELEMENT(f4, float, 0.0, element == rintf(element) && fabsf(element) < 0x1p63F)
DEFINE_ELEMENT(i8, int64_t, 0x1p63, true)
DEFINE_ELEMENT(i4, int32_t, 0.0, true)
DEFINE_ELEMENT(i2, int16_t, 0.0, true)
DEFINE_ELEMENT(i1, int8_t, 0.0, true)
DEFINE_ELEMENT(u8, uint64_t, 0x1p64, element <= INT64_MAX)
DEFINE_ELEMENT(u4, uint32_t, 0.0, true)
DEFINE_ELEMENT(u2, uint16_t, 0.0, true)
DEFINE_ELEMENT(u1, uint8_t, 0.0, true)

#define ELEMENT(name, bytes)                                                                       \
    {                                                                                              \
#name, bytes, name##_to_real, name##_to_whole                                              \
    }
static const struct npy_element elements[] = {
    ELEMENT(f8, 8), ELEMENT(f4, 4), ELEMENT(i8, 8), ELEMENT(i4, 4), ELEMENT(i2, 2),
    ELEMENT(i1, 1), ELEMENT(u8, 8), ELEMENT(u4, 4), ELEMENT(u2, 2), ELEMENT(u1, 1),
};

const struct npy_element *npy_element_of(const char *descr)
{
    for (size_t k = 0; k < sizeof elements / sizeof elements[0]; k++)
        if (descr[0] && strchr("<>=|", descr[0]) && strcmp(elements[k].name, descr + 1) == 0)
            return &elements[k];
    return NULL;
}
