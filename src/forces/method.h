#ifndef FORCES_METHOD_H
#define FORCES_METHOD_H

#include "core/status.h"
#include "forces/problem.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the methods of kith/forces.h can do. */

/* The ranges of block and unroll, which only tiles have, and whether there is such a way for a law;
 * NULL: gravity. Errors: KITH_INVALID_ARGUMENT, KITH_UNSUPPORTED. */
kith_status forces_check_way(const struct forces_way *way, const kith_law *law);

/* Whether a problem can be solved with each pair evaluated once; softenings differ if a kernel
 * takes one a body. Errors: KITH_UNSUPPORTED. */
kith_status forces_check_symmetric(const struct forces_problem *problem, bool softenings_differ);

/* Whether tiles can: one softening, no jerk. Errors: KITH_UNSUPPORTED. */
kith_status forces_check_tiles(const struct forces_problem *problem);

kith_status forces_fail_tiles_need_gpu(kith_forces_method method);

/* From how many bodies on each pair is evaluated once: what kith tune has found for the context's
 * device, or else the number given. */
int64_t forces_least_symmetric(const kith_context *context, kith_dtype dtype, int64_t in_float,
                               int64_t in_double);

#ifdef __cplusplus
}
#endif

#endif
