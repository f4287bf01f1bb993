#ifndef FORCES_DIRECT_H
#define FORCES_DIRECT_H

#include "forces/problem.h"
#include "kith/context.h"

/* The forces of the backend table (core/backend.h), by evaluating every pair. */
kith_status forces_direct_cpu(kith_context *context, const struct forces_problem *problem);

#endif
