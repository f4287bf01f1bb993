#ifndef COLLISIONS_COLLISIONS_CPU_H
#define COLLISIONS_COLLISIONS_CPU_H

#include "lattice/problem.h"

/* The count of lattice/backend.h, for a context on the CPU. */
kith_status collisions_count_cpu(kith_context *context, const struct collisions_problem *problem,
                                 bool on_host, kith_collisions_method method, int64_t *count);

#endif
