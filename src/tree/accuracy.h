#ifndef TREE_ACCURACY_H
#define TREE_ACCURACY_H

#include "tree/acceptance.h"
#include "tree/tree.h"
#include "tree/walk.h"

/* The rule that keeps the error of a request, or its angle. */
struct tree_rule tree_rule_for(const struct tree_problem *problem,
                               const struct tree_request *request);

/* About the error of a request's result, and rather more than less. */
double tree_estimate_error(const struct tree_request *request);

/* What is reported of a request that was satisfied. */
struct tree_report tree_report_of(const struct tree_problem *problem,
                                  const struct tree_request *request,
                                  const struct tree_counts *counts, int64_t cells);

/* The operators of the context's instruction set. */
const struct expansion_operators *tree_operators(const kith_context *context, kith_dtype dtype);

#endif
