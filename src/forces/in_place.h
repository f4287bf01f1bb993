#ifndef FORCES_IN_PLACE_H
#define FORCES_IN_PLACE_H

#include "forces/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* evaluate_in_place of forces/backend.h: checked arguments on the context's
 * device are packed, solved and unpacked there, on its stream. Nothing waits, and a second call
 * with the same sizes allocates nothing, but for the solvers tree, fmm and cutoff. Numbers are
 * checked on the device: one that is not finite makes all results NaN, and the next synchronize an
 * error. */
kith_status forces_in_place_cuda(kith_context *context, const struct forces_arguments *arguments);
const bool *forces_bad_cuda(const struct forces_measured *measured);

#ifdef __cplusplus
}
#endif

#endif
