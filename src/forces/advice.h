#ifndef FORCES_ADVICE_H
#define FORCES_ADVICE_H

#include "forces/problem.h"
#include "kith/context.h"

/* How long one thread is expected to take for a problem on the CPU, by models of the work: every
 * pair, and the fast multipole method with an accuracy. They know nothing of how bodies are
 * distributed, and are right within a factor of three or so. */
double forces_direct_seconds(const kith_context *context, const struct forces_problem *problem);
double forces_fmm_seconds(const kith_context *context, const struct forces_problem *problem,
                          const kith_accuracy *accuracy);

/* Calls options->advise, if it is there, when the options leave the choice of a solver open and an
 * approximate one is expected to be at least five times as fast as the direct sum. */
void forces_advise(const kith_context *context, const kith_forces_options *options,
                   const struct forces_problem *problem);

#endif
