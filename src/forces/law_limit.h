#ifndef FORCES_LAW_LIMIT_H
#define FORCES_LAW_LIMIT_H

#include "kith/context.h"
#include "kith/law.h"

/* Interactions per second that one core can do with the context's instruction set, measured now, in
 * some 20 ms: the arithmetic of the force by a law of the table in the symmetric kernel, in 3D with
 * a common softening, on numbers that are in registers already and stay there. 0 for a formula.
 *
 * dtype is KITH_F64 or KITH_F32. */
double forces_law_limit(kith_context *context, const kith_law *law, kith_dtype dtype);

#endif
