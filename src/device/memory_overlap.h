#ifndef DEVICE_MEMORY_OVERLAP_H
#define DEVICE_MEMORY_OVERLAP_H

#include <stdbool.h>

#include "kith/array.h"

/* Whether two arrays of one memory have a byte in common: exact for any strides, but that arrays of
 * four unlike strides, two of them along more than 2^15 elements, may count as overlapping. Cost:
 * O(1); with three and four unlike strides the elements along the shortest dimensions. */
bool kith_arrays_overlap(const kith_array *a, const kith_array *b);

#endif
