#ifndef FORCES_SYSTEMS_H
#define FORCES_SYSTEMS_H

#include "forces/problem.h"
#include "kith/context.h"

/* The most bodies of a system in an ensemble: beyond, threads and vectors have enough to do within
 * one system. */
enum { systems_max_bodies = 64 };

/* evaluate of forces/backend.h for problems with system_count > 0: many independent systems, a
 * vector's lane a system.
 *
 * Errors: KITH_INVALID_ARGUMENT for more than systems_max_bodies bodies. */
kith_status forces_systems_cpu(kith_context *context, const struct forces_problem *problem);

#endif
