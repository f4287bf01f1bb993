#ifndef FORCES_LAW_MOTION_CUDA_H
#define FORCES_LAW_MOTION_CUDA_H

/* What the kernels of jerks and of many systems share; NVRTC reads this too. */

#include "forces/law_sums_problem.h"

/* Threads of a block with one system, and sources of a tile. */
enum { law_motion_block = 128 };

/* Systems of a block, and bodies of each at a time. */
enum { systems_block = 32, systems_bodies = 4 };

#endif
