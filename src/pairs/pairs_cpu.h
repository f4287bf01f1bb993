#ifndef PAIRS_CPU_H
#define PAIRS_CPU_H

#include "core/status.h"
#include "pairs/problem.h"

struct pairs_workspace;

/* list of pairs/backend.h. */
kith_status pairs_cpu(kith_context *context, const struct pairs_problem *problem,
                      kith_pairs *pairs);

void pairs_workspace_free(struct pairs_workspace *workspace);

#endif
