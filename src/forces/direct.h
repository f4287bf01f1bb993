#ifndef FORCES_DIRECT_H
#define FORCES_DIRECT_H

#include "forces/problem.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The forces of the backend table (core/backend.h), by evaluating every pair. */
kith_status forces_direct_cpu(kith_context *context, const struct forces_problem *problem);
kith_status forces_direct_cuda(kith_context *context, const struct forces_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
