#ifndef SIMULATION_ADVANCE_LAWS_PROBLEM_H
#define SIMULATION_ADVANCE_LAWS_PROBLEM_H

/* What the kernels of whole steps under any law get; read by host code, by CUDA and by NVRTC. */

#include "forces/law_sums_problem.h"
#include "simulation/composition_program.h"

/* Warps of a block, and targets of a lane, which share what it reads of a source. */
enum { law_steps_warps = 4, law_steps_targets = 2 };

/* Places of a warp in shared memory: systems have one more than bodies, so that they read from
 * different banks. */
enum { law_steps_places = 32 * law_steps_targets + 32 };

struct law_steps_problem {
    struct law_sums_problem sums;
    void *position[3], *velocity[3]; /* read and written; NULL in 2D: zeros */
    void *lost_position[3], *lost_velocity[3];
    int keeps_acceleration;
    int lanes; /* of a system; 32 / lanes systems a warp */
    long long steps;
};

#endif
