#ifndef FORCES_LAW_SUMS_H
#define FORCES_LAW_SUMS_H

#include "forces/law_sums_problem.h"
#include "forces/problem.h"
#include "kith/context.h"
#include "law/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The forces of a problem with a law; called by forces_direct_cpu and forces_direct_cuda. */
kith_status forces_law_cpu(kith_context *context, const struct forces_problem *problem);
kith_status forces_law_cuda(kith_context *context, const struct forces_problem *problem);

/* The same by the reference of the laws, in double precision and one thread: see
 * forces_reference.h. */
kith_status forces_law_reference(kith_context *context, const struct forces_problem *problem);

/* The problem as kernels see it, and what the law is. */
void forces_law_look(const struct forces_problem *problem, struct law_view *view,
                     struct law_sums_problem *sums);

/* Which sums its outputs need. */
static inline enum law_sums forces_law_sums(const struct law_sums_problem *sums)
{
    return !sums->value ? law_sums_force : !sums->acceleration[0] ? law_sums_value : law_sums_both;
}

#ifdef __cplusplus
}
#endif

#endif
