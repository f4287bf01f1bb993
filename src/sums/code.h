#ifndef SUMS_CODE_H
#define SUMS_CODE_H

#include "sums/problem.h"
#include "sums/sums_kernel.h"

/* The kernel of a problem for the context's instruction set; the context keeps the last ones.
 * Errors: as law_open_functions_cpu. */
kith_status sums_kernel_of(kith_context *context, const struct sums_problem *problem,
                           sums_kernel **kernel);

#endif
