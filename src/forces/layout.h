#ifndef FORCES_LAYOUT_H
#define FORCES_LAYOUT_H

#include "forces/arguments.h"
#include "forces/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the columns of a problem. The inputs are first. */
struct forces_layout {
    int64_t input_bytes, bytes;
};

/* The problem that the arguments pose in the precision dtype, with G = 1 and no softening yet. Its
 * columns, padded and aligned as forces/problem.h and the kernels want them, follow each other from
 * base on, which may be NULL to learn how much that needs.
 *
 * Errors: KITH_OUT_OF_MEMORY if that is more than can be addressed. */
kith_status forces_lay_out(const struct forces_arguments *arguments, kith_dtype dtype, void *base,
                           struct forces_problem *problem, struct forces_layout *layout);

#ifdef __cplusplus
}
#endif

#endif
