#ifndef MATRIX_LIMIT_H
#define MATRIX_LIMIT_H

#include "kith/law.h"

/* Pairs a second of V·b on one thread of a CPU context if the columns were in registers: the same
 * instructions without loads and without ends. NaN for laws but power:1 and Gaussians. */
double matrix_limit(kith_context *context, const kith_law *law, kith_dtype dtype);

#endif
