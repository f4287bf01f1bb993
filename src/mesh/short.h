#ifndef MESH_SHORT_H
#define MESH_SHORT_H

#include "mesh/periodic.h"

/* The largest α r of pairs that are summed: erfc there is less than 1e-19. */
static const double short_most_reach = 6.5;

/* The sum over pairs within the cutoff, images included, by a hashed cell list:
 *
 *     φ_i = Σ_{r < cutoff} w_j erfc(α r) / r − 2 α w_i / √π
 *
 * or, where state->system.is_sixth, the one of lennard-jones (periodic.h).
 *
 * Particles at the same position count as i itself does: with the waves' erf(α r)/r at r → 0 they
 * then add nothing.
 *
 *   dtype   of the arithmetic of pairs
 *   error   of the polynomials (split.h), in units of the cutoff
 *   one_of  targets of all but every n-th block are left out, for an estimate; 1: none
 *   state   its potential and gradient are overwritten, and its virial
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED, KITH_UNSUPPORTED (too many images). */
kith_status short_cpu(kith_context *context, kith_dtype dtype, double cutoff, double alpha,
                      double error, int64_t one_of, struct periodic_state *state);

#endif
