#ifndef FORCES_ADVICE_H
#define FORCES_ADVICE_H

#include "forces/problem.h"
#include "kith/context.h"

/* The expected time of one thread for a problem on the CPU, by cost models: every pair, and the
 * fast multipole method with an accuracy. They ignore the distribution of the bodies, and are
 * accurate within a factor of about three. */
double forces_direct_seconds(const kith_context *context, const struct forces_problem *problem);
double forces_fmm_seconds(const kith_context *context, const struct forces_problem *problem,
                          const kith_accuracy *accuracy);

/* Calls options->advise, if set, when the options do not choose a solver and an approximate one is
 * expected to be at least five times as fast as the direct sum. */
void forces_advise(const kith_context *context, const kith_forces_options *options,
                   const struct forces_problem *problem);

#endif
