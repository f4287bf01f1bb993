#ifndef SIMULATION_DIAGNOSTICS_SUMS_H
#define SIMULATION_DIAGNOSTICS_SUMS_H

/* Sums over the bodies of a system, for diagnostics: compensated, in a fixed order for any number
 * of threads and ranks and any instruction set. Body i of a system is added to lane i mod 8 of its
 * block; lanes and then blocks are added in their order. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/isa.h"

/* A sum with its rounding errors carried along (Neumaier 1974, ZAMM 54, 39). */
struct sum {
    double sum, lost;
};

static inline void sum_add(struct sum *sum, double term)
{
    const double total = sum->sum + term;
    if (fabs(sum->sum) >= fabs(term))
        sum->lost += (sum->sum - total) + term;
    else
        sum->lost += (term - total) + sum->sum;
    sum->sum = total;
}

static inline double sum_value(struct sum sum)
{
    return sum.sum + sum.lost;
}

/* Sums over bodies, in the simulation's units; each adds up over systems. */
enum {
    MASS,
    TWICE_KINETIC,
    TWICE_POTENTIAL,
    MOMENT, /* Σ m x */
    MOMENTUM = MOMENT + 3,
    ANGULAR_MOMENTUM = MOMENTUM + 3,
    SUMS_IN_SPACE = ANGULAR_MOMENTUM + 3,
    TWICE_KINETIC_IN_FRAME = SUMS_IN_SPACE, /* of the system's center of mass */
    VIRIAL_IN_FRAME,
    SUMS_OF_BODIES
};

enum { sum_lanes = 8, sum_columns = 11 };

/* One system of a sample: its body i is element i·step of each column. */
struct system_view {
    int64_t count, step;
    int64_t first; /* the number of body 0 in the system */
    bool potential_is_energy;
    const double *position[3], *velocity[3], *acceleration[3], *mass;
    const double *potential; /* NULL: the energy is in the totals */
    double center[3], center_velocity[3];
};

/* Of a part of a block, to be continued. */
struct lane_sums {
    double sum[SUMS_OF_BODIES][sum_lanes], lost[SUMS_OF_BODIES][sum_lanes];
};

/* Adds bodies begin to end − 1 of a view to the sums in space, or in the frame of the center of
 * mass. */
typedef void sum_kernel(const struct system_view *view, int64_t begin, int64_t end,
                        struct lane_sums *sums);

/* A kernel and the sums that it adds to, from first to past − 1. */
struct sum_pass {
    sum_kernel *kernel;
    int32_t first, past;
};

struct sum_kernels {
    struct sum_pass in_space, in_frame;
};

#define SUM_DECLARE(isa) extern const struct sum_kernels diagnostics_sums_##isa;
KITH_EACH_ISA(SUM_DECLARE)
#undef SUM_DECLARE

#endif
