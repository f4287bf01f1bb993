#ifndef PAIRS_NEAREST_CPU_H
#define PAIRS_NEAREST_CPU_H

#include "pairs/search.h"

/* The k nearest points of every target; a list begun. */
kith_status pairs_nearest_cpu(kith_context *context, const struct pairs_problem *problem,
                              const struct pairs_kernels *kernels,
                              struct pairs_workspace *workspace, kith_pairs *pairs);

#endif
