#ifndef SIMULATION_ADVANCE_LAWS_CUDA_H
#define SIMULATION_ADVANCE_LAWS_CUDA_H

#include "kith/context.h"
#include "simulation/advance.h"
#include "simulation/advance_laws_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps of a composition under a law other than gravity (advance_cuda.h), of systems of up to
 * systems_most_bodies bodies: their state stays in registers from step to step. */
bool advance_laws_has_kernel(const struct advance_problem *problem);

/* Complete problems with bodies and steps. Errors: of formulas, those of law_compile_cuda. */
kith_status advance_laws_cuda(kith_context *context, const struct advance_problem *problem);

/* Starts the kernel of a formula, compiled if need be. program is the composition_program_ of the
 * problem's precision. */
kith_status advance_laws_start_custom(kith_context *context, const struct advance_problem *problem,
                                      int64_t blocks, struct law_steps_problem *steps,
                                      void *program);

#ifdef __cplusplus
}
#endif

#endif
