#ifndef TREE_ACCURACY_H
#define TREE_ACCURACY_H

#include "tree/acceptance.h"
#include "tree/tree.h"
#include "tree/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The smallest basis that has the problem's law. */
enum expansion_basis tree_basis_for(const struct tree_problem *problem);

/* Whether M2L goes by solid coefficients on a CPU: from order 9 on they are faster, in double
 * precision. */
bool tree_has_solid(const struct tree_problem *problem, const struct tree_request *request);

/* Whether each pair of cells has its own order. */
bool tree_has_orders(const struct tree_problem *problem, const struct tree_request *request);

/* The orders of M2L of pairs that a rule for this request accepts. */
void tree_make_orders(const struct tree_request *request, struct tree_orders *orders);

/* The rule that keeps the error of a request, or its angle. */
struct tree_rule tree_rule_for(const struct tree_problem *problem,
                               const struct tree_request *request);

/* What is reported of a request that was satisfied. */
struct tree_report tree_report_of(const struct tree_problem *problem,
                                  const struct tree_request *request,
                                  const struct tree_counts *counts, int64_t cells);

#ifdef __cplusplus
}
#endif

#endif
