#ifndef FORCES_SYMMETRIC_H
#define FORCES_SYMMETRIC_H

#include "forces/problem.h"
#include "forces/symmetric_kernel.h"
#include "kith/context.h"

/* Whether forces_symmetric_cpu computes this, and is the faster way. */
bool forces_symmetric_suits(const kith_context *context, const struct forces_problem *problem);

const struct forces_symmetric_kernels *forces_symmetric_kernels_of(const kith_context *context);

/* The faster form on this processor, where masses allow it. */
enum symmetric_form forces_symmetric_preferred_form(void);

/* Forces of bodies on each other, each pair evaluated once.
 *
 * The bodies are cut into blocks that meet on a ring (forces/ring.h). Each meeting has a place of
 * its own for its sums, in the problem's precision; a few rounds of the ring at a time are added up
 * in double, in the order of the rounds: neither depends on who does what, so the bits are the same
 * for every number of threads.
 *
 * Memory: D (+ 1 with potentials) components of 8 N numbers for the partial sums, whatever the
 * number of blocks, N for the blocks with themselves, and N doubles for the sums. */
kith_status forces_symmetric_cpu(kith_context *context, const struct forces_problem *problem);

#endif
