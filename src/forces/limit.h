#ifndef FORCES_LIMIT_H
#define FORCES_LIMIT_H

#include "kith/context.h"

/* Interactions per second that one core of this machine can do with the context's instruction set,
 * measured now, in about 20 ms: the arithmetic of the symmetric kernel, for accelerations in 3D
 * with a common softening, on numbers that are in registers already and stay there.
 *
 * dtype is KITH_F64 or KITH_F32. */
double forces_limit(kith_context *context, kith_dtype dtype);

#endif
