#ifndef RUN_COMPARE_H
#define RUN_COMPARE_H

#include "io/run_file.h"

/* Checks that a run is the one that wrote output: the first difference is KITH_INVALID_ARGUMENT,
 * with both values in the message. until may differ. */
kith_status compare_parameters(const struct run_parameters *wanted,
                               const struct run_parameters *past, const char *output);

/* The same for the bodies, `all` on all ranks, of which these are the rows that the past has here,
 * bit for bit in the run's precision. */
kith_status compare_bodies(const kith_bodies *bodies, int64_t all, const struct run_past *past,
                           const char *output);

#endif
