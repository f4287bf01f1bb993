#ifndef FORCES_LAYOUT_H
#define FORCES_LAYOUT_H

#include "forces/arguments.h"
#include "forces/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The problem that the arguments pose in the precision dtype, with G = 1 and no softening yet. Its
 * columns, padded and aligned as forces/problem.h and the kernels want them, follow each other from
 * base on, which may be NULL to learn how many bytes that needs.
 *
 * Errors: KITH_OUT_OF_MEMORY if that is more than can be addressed. */
kith_status forces_lay_out(const struct forces_arguments *arguments, kith_dtype dtype, void *base,
                           struct forces_problem *problem, int64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
