#ifndef FORCES_METHOD_H
#define FORCES_METHOD_H

#include "core/status.h"
#include "forces/problem.h"
#include "kith/context.h"
#include "law/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the methods of kith/forces.h can do. */

/* Checks block and unroll, which only tiles have, and that the method supports the law; NULL:
 * gravity. Errors: KITH_INVALID_ARGUMENT, KITH_UNSUPPORTED. */
kith_status forces_check_way(const struct forces_way *way, const kith_law *law);

/* Checks that kith_forces_derivative supports this method. Errors: KITH_UNSUPPORTED. */
kith_status forces_check_derivative(const struct forces_way *way);

/* Checks that the problem's method supports it: symmetric on a GPU needs one softening for all;
 * tiles need a GPU and one softening; neither computes a jerk.
 * Errors: KITH_UNSUPPORTED. */
kith_status forces_check_method(const struct forces_problem *problem, bool on_cpu);

/* Whether GPUs evaluate each pair of such a law once: it is one of the table that has a force. */
static inline bool forces_ring_has_law(const struct law_view *view)
{
    return !view->formula && view->form.kind != law_constant;
}

/* The number of bodies from which each pair is evaluated once: the result of kith tune for the
 * context's device, or else the number given. */
int64_t forces_least_symmetric(const kith_context *context, kith_dtype dtype, int64_t in_float,
                               int64_t in_double);

#ifdef __cplusplus
}
#endif

#endif
