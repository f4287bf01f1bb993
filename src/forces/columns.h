#ifndef FORCES_COLUMNS_H
#define FORCES_COLUMNS_H

#include "kith/context.h"

/* What is done to an array on the host, a matrix of at most 3 columns or a vector. Long ones are
 * divided among the context's threads; the result does not depend on their number. */

/* *largest = the largest magnitude of the array's numbers, if that is more than it was. *good is
 * false if a number is not finite or is less than least; *largest is then undefined.
 *
 * Errors, here and below: KITH_CANCELLED. */
kith_status forces_measure(kith_context *context, kith_array array, double least, double *largest,
                           bool *good);

/* columns[c][row] = the number in column c times 2^exponent, in the precision dtype: the array's or
 * double. After the last row, up to kith_padded, are zeros. */
kith_status forces_pack_columns(kith_context *context, kith_array array, int exponent,
                                kith_dtype dtype, const void *const *columns);

/* The number in column c = fraction · columns[c][row] · 2^exponent. */
kith_status forces_unpack_columns(kith_context *context, kith_array array, double fraction,
                                  int exponent, kith_dtype dtype, void *const *columns);

#endif
