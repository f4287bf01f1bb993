#ifndef FORCES_ELEMENT_H
#define FORCES_ELEMENT_H

#include "kith/array.h"

/* Elements of a host array of float or double, of any strides, as doubles. */

static inline int64_t forces_offset(kith_array array, int64_t row, int64_t column)
{
    return row * array.strides[0] + (array.ndim == 2 ? column * array.strides[1] : 0);
}

static inline double forces_get(kith_array array, int64_t row, int64_t column)
{
    const int64_t offset = forces_offset(array, row, column);
    return array.dtype == KITH_F64 ? ((const double *)array.data)[offset]
                                   : (double)((const float *)array.data)[offset];
}

static inline void forces_set(kith_array array, int64_t row, int64_t column, double value)
{
    const int64_t offset = forces_offset(array, row, column);
    if (array.dtype == KITH_F64)
        ((double *)array.data)[offset] = value;
    else
        ((float *)array.data)[offset] = (float)value;
}

#endif
