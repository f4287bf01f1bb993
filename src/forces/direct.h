#ifndef FORCES_DIRECT_H
#define FORCES_DIRECT_H

#include "forces/problem.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* evaluate of forces/backend.h: every pair. */
kith_status forces_direct_cpu(kith_context *context, const struct forces_problem *problem);
kith_status forces_direct_cuda(kith_context *context, const struct forces_problem *problem);

/* Whether forces_direct_cpu takes such a problem of slices (forces/problem.h). */
bool forces_direct_takes_slices(const kith_context *context, const struct forces_problem *problem);

/* The same by the one-sided kernel, in the calling thread. */
void forces_one_sided_serial(const kith_context *context, const struct forces_problem *problem);

/* About how long one thread takes for the one-sided sums of this many targets and sources. */
double forces_seconds_of(const kith_context *context, kith_dtype dtype, int64_t targets,
                         int64_t sources);

#ifdef __cplusplus
}
#endif

#endif
