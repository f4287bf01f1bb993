#ifndef FORCES_COLUMNS_H
#define FORCES_COLUMNS_H

#include "kith/context.h"

/* What is done to a whole column of an array on the host: a column of a matrix, or a vector. Long
 * ones are shared by the context's threads; the result does not depend on how many. */

/* *largest = the largest magnitude of the column's numbers, if that is more than it was. *good is
 * false if a number is not finite or is less than least; *largest is then without meaning.
 *
 * Errors, here and below: KITH_CANCELLED. */
kith_status forces_column_measure(kith_context *context, kith_array array, int64_t column,
                                  double least, double *largest, bool *good);

/* to[row] = the column's number times factor, in to's precision. */
kith_status forces_column_pack(kith_context *context, kith_array array, int64_t column,
                               double factor, kith_dtype dtype, void *to);

/* The column's number = fraction · from[row] · 2^exponent. */
kith_status forces_column_unpack(kith_context *context, kith_array array, int64_t column,
                                 double fraction, int exponent, kith_dtype dtype, const void *from);

#endif
