#ifndef FORCES_SPACE_H
#define FORCES_SPACE_H

#include "core/status.h"
#include "forces/problem.h"
#include "kith/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cutoff, cell, shift and tail of the options, for a solver.
 * Errors: KITH_INVALID_ARGUMENT, KITH_UNSUPPORTED (another solver). */
kith_status forces_check_space(const kith_forces_options *options, const kith_solver *solver);

/* Fills in the lattice and the volume of the cell in units of `unit`; the cutoff is in these units
 * already.
 * Errors: KITH_INVALID_ARGUMENT (periodic vectors that are linearly dependent), KITH_UNSUPPORTED
 * (too many images within the cutoff). */
kith_status forces_space_set(int32_t dimensions, double unit, struct pairs_lattice *lattice,
                             struct forces_space *space);

#ifdef __cplusplus
}
#endif

#endif
