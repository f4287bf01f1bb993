#ifndef FORCES_LAYOUT_H
#define FORCES_LAYOUT_H

#include "forces/arguments.h"
#include "forces/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The problem that the arguments pose in the precision dtype, with G = 1 and no softening yet, and
 * without columns.
 *
 * Errors: KITH_OUT_OF_MEMORY if they would be more than can be addressed. */
kith_status forces_begin_problem(const struct forces_arguments *arguments, kith_dtype dtype,
                                 struct forces_problem *problem);

/* Sets the problem's columns, padded and aligned as forces/problem.h and the kernels need them, one
 * after another from base on; the bytes that they take. base may be NULL, to compute only the
 * bytes. */
int64_t forces_lay_out(const struct forces_arguments *arguments, void *base,
                       struct forces_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
