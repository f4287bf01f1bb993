#ifndef SIMULATION_ADVANCE_PROGRAM_CUDA_CUH
#define SIMULATION_ADVANCE_PROGRAM_CUDA_CUH

/* A composition in the kernels' precision. */

#include <type_traits>

#include "simulation/advance_program.h"

template <typename real>
using composition_program =
    std::conditional_t<std::is_same<real, double>::value, struct composition_program_double,
                       struct composition_program_float>;

template <typename real> composition_program<real> program_of(const struct advance_problem &problem)
{
    const struct composition_program_double exact = advance_program_of(&problem);
    composition_program<real> program = {};
    program.stage_count = exact.stage_count;
    program.evaluation_count = exact.evaluation_count;
    for (int32_t k = 0; k < exact.evaluation_count; k++)
        program.evaluation[k] = exact.evaluation[k];
    for (int32_t k = 0; k < 2 * exact.stage_count; k++) {
        program.kick[k] = (real)(exact.kick[k] * problem.unit);
        program.drift[k] = (real)exact.drift[k];
    }
    return program;
}

#endif
