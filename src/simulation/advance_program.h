#ifndef SIMULATION_ADVANCE_PROGRAM_H
#define SIMULATION_ADVANCE_PROGRAM_H

#include <math.h>

#include "core/both_sides.h"
#include "simulation/advance.h"

enum { advance_max_stages = 32 };

/* The stages of a step with its length in them, twice: what follows the last evaluation of forces
 * of a step goes on into the next step without a stop. */
struct advance_program {
    int32_t stage_count;
    int32_t evaluation_count;
    struct composition_stage stage[2 * advance_max_stages];
    int32_t evaluation[advance_max_stages]; /* the stages before which forces are evaluated */
    bool kicks_at_end, drifts_at_end;       /* after the last of them, before the next step */
};

/* What follows evaluation k of a step is the stages from evaluation[k] up to here. */
KITH_BOTH_SIDES static inline int32_t advance_end_of_run(const struct advance_program *program,
                                                         int32_t k, bool last_step)
{
    if (k + 1 < program->evaluation_count)
        return program->evaluation[k + 1];
    return program->stage_count + (last_step ? 0 : program->evaluation[0]);
}

/* For at most advance_max_stages stages. */
static inline struct advance_program advance_program_of(const struct advance_problem *problem)
{
    struct advance_program program;
    program.stage_count = problem->stage_count;
    program.evaluation_count = 0;
    bool forces_fit_positions = problem->keeps_acceleration;
    for (int32_t k = 0; k < problem->stage_count; k++) {
        const struct composition_stage stage = problem->stages[k];
        const struct composition_stage scaled = {stage.kick * problem->h, stage.drift * problem->h};
        program.stage[k] = program.stage[problem->stage_count + k] = scaled;
        if (stage.kick != 0 && !forces_fit_positions)
            program.evaluation[program.evaluation_count++] = k;
        forces_fit_positions = stage.drift == 0 && (forces_fit_positions || stage.kick != 0);
    }
    const int32_t evaluations = program.evaluation_count;
    program.kicks_at_end = program.drifts_at_end = false;
    for (int32_t k = evaluations > 0 ? program.evaluation[evaluations - 1] : 0;
         k < problem->stage_count; k++) {
        program.kicks_at_end |= problem->stages[k].kick != 0;
        program.drifts_at_end |= problem->stages[k].drift != 0;
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
    for (int32_t c = 0; c < problem->forces.dimensions; c++) {
        complete.forces.target_position[c] = complete.forces.source_position[c] =
            problem->position[c];
        complete.forces.acceleration[c] = problem->acceleration[c];
    }
    return complete;
}

#endif
