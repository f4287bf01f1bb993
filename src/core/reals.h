#ifndef CORE_REALS_H
#define CORE_REALS_H

#include "kith/array.h"

/* Elements of float or double in the host's memory, as doubles. */

static inline double real_get(kith_dtype dtype, const void *column, int64_t k)
{
    return dtype == KITH_F64 ? ((const double *)column)[k] : (double)((const float *)column)[k];
}

static inline void real_set(kith_dtype dtype, void *column, int64_t k, double value)
{
    if (dtype == KITH_F64)
        ((double *)column)[k] = value;
    else
        ((float *)column)[k] = (float)value;
}

/* Of an array of any strides: a matrix, or a vector, whose column does not matter. */
static inline int64_t array_offset(kith_array array, int64_t row, int64_t column)
{
    return row * array.strides[0] + (array.ndim == 2 ? column * array.strides[1] : 0);
}

static inline double array_get(kith_array array, int64_t row, int64_t column)
{
    return real_get(array.dtype, array.data, array_offset(array, row, column));
}

static inline void array_set(kith_array array, int64_t row, int64_t column, double value)
{
    real_set(array.dtype, array.data, array_offset(array, row, column), value);
}

#endif
