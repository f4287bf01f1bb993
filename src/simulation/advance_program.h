#ifndef SIMULATION_ADVANCE_PROGRAM_H
#define SIMULATION_ADVANCE_PROGRAM_H

#include <math.h>

#include "simulation/advance.h"
#include "simulation/composition_program.h"

/* For at most composition_most_stages stages. */
static inline struct composition_program_double
advance_program_of(const struct advance_problem *problem)
{
    const struct composition *composition = &problem->composition;
    const int32_t count = composition->stage_count;
    struct composition_program_double program;
    program.stage_count = count;
    program.evaluation_count = 0;
    for (int32_t k = 0; k < count; k++) {
        program.kick[k] = program.kick[count + k] = composition->stages[k].kick * problem->h;
        program.drift[k] = program.drift[count + k] = composition->stages[k].drift * problem->h;
        if (composition_evaluates(composition, problem->keeps_acceleration, k))
            program.evaluation[program.evaluation_count++] = k;
    }
    return program;
}

/* The kernels multiply by G in the problem's precision: the largest mass is about 1
 * (forces/scale.h), and those down to 10⁻²⁰ of it must keep their digits. */
static inline bool advance_fits_masses(const struct forces_problem *forces)
{
    const double g = fabs(forces->gravitational_constant);
    const double least = forces->dtype == KITH_F64 ? 0x1p-900 : 0x1p-60;
    const double most = forces->dtype == KITH_F64 ? 0x1p900 : 0x1p120;
    return g == 0 || (g >= least && g <= most);
}

/* The problem with the forces' vectors filled in. */
static inline struct advance_problem advance_aimed(const struct advance_problem *problem)
{
    struct advance_problem complete = *problem;
    complete.unit = complete.inverse_unit = 1;
    for (int32_t c = 0; c < problem->forces.dimensions; c++) {
        complete.forces.target_position[c] = complete.forces.source_position[c] =
            problem->position[c];
        complete.forces.acceleration[c] = problem->acceleration[c];
    }
    return complete;
}

#endif
