#ifndef SORT_SEARCH_H
#define SORT_SEARCH_H

#include <stdint.h>

#include "core/both_sides.h"

/* The first k of first … end − 1 with a[k] ≥ least; end if all are less. a ascends. */
#define SEARCH_DEFINE(name, number)                                                                \
    KITH_BOTH_SIDES static inline int64_t name(const number *a, int64_t first, int64_t end,        \
                                               int64_t least)                                      \
    {                                                                                              \
        while (first < end) {                                                                      \
            const int64_t middle = first + (end - first) / 2;                                      \
            if (a[middle] < least)                                                                 \
                first = middle + 1;                                                                \
            else                                                                                   \
                end = middle;                                                                      \
        }                                                                                          \
        return first;                                                                              \
    }
SEARCH_DEFINE(search_32, int32_t)
SEARCH_DEFINE(search_u32, uint32_t)
SEARCH_DEFINE(search_64, int64_t)
#undef SEARCH_DEFINE

#endif
