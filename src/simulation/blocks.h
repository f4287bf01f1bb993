#ifndef SIMULATION_BLOCKS_H
#define SIMULATION_BLOCKS_H

#include <float.h>
#include <math.h>

#include "core/both_sides.h"
#include "forces/problem.h"
#include "simulation/radau.h"

/* The steps of hermite-block (simulation/hermite_block.c has the method): the arithmetic of one
 * body, which both devices share, and the call of a device that takes whole block steps. */

/* The arrays of a simulation. Positions and velocities are those at its time, LOST_POSITION and
 * LOST_VELOCITY what did not fit into START and START_VELOCITY; accelerations and jerks, and START
 * to TIMES, those at the start of each body's step. */
enum {
    BLOCK_POSITION,
    BLOCK_VELOCITY,
    BLOCK_LOST_POSITION,
    BLOCK_LOST_VELOCITY,
    BLOCK_ACCELERATION,
    BLOCK_JERK,
    BLOCK_START,
    BLOCK_START_VELOCITY,
    BLOCK_SNAP,
    BLOCK_CRACKLE,
    BLOCK_TIMES, /* in units of dt since the origin: where the step starts, and its length; 0: not
                    begun */
    BLOCK_KEPT
};

enum { blocks_most_halvings = 26 };

KITH_BOTH_SIDES static inline double blocks_length(const double vector[3])
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

/* h in units of dt, as the half of a half …; at most `most`. If h is NaN, a step that is stuck. */
KITH_BOTH_SIDES static inline double blocks_fitted(double wanted, double most)
{
    double step = most;
    for (int k = 0; k <= blocks_most_halvings && !(step <= wanted); k++)
        step /= 2;
    return step;
}

/* The first step in units of dt, where higher derivatives than the jerk are unknown. */
KITH_BOTH_SIDES static inline double blocks_first_step(double eta, double dt, const double a[3],
                                                       const double j[3])
{
    const double jerk = blocks_length(j);
    const double wanted = jerk != 0 ? sqrt(eta) / 4 * blocks_length(a) / jerk : DBL_MAX;
    return blocks_fitted(wanted / dt, 1);
}

/* A component of position and velocity, s after the start of the step. */
KITH_BOTH_SIDES static inline void blocks_predict(double s, const double start[4], double *x,
                                                  double *v)
{
    const double a = start[2], j = start[3];
    *x = start[0] + s * (start[1] + s * (a * 0.5 + s * (j * (1.0 / 6))));
    *v = start[1] + s * (a + s * (j * 0.5));
}

/* The same with the snap and crackle of the step before. */
KITH_BOTH_SIDES static inline void blocks_place(double s, const double start[4], double snap,
                                                double crackle, double *x, double *v)
{
    const double a = start[2], j = start[3];
    *x =
        start[0] + s * (start[1] + s * (a / 2 + s * (j / 6 + s * (snap / 24 + s * crackle / 120))));
    *v = start[1] + s * (a + s * (j / 2 + s * (snap / 6 + s * crackle / 24)));
}

/* A component at the end of a step of h: what position and velocity change by, and the derivatives
 * of the acceleration there, from velocity, acceleration and jerk at its start (0) and those at its
 * end. */
struct blocks_end {
    double moved, kicked, snap, crackle;
};

KITH_BOTH_SIDES static inline struct blocks_end blocks_correct(double h, double v0, double a0,
                                                               double j0, double a, double j)
{
    struct blocks_end end;
    const double s = (6 * (a - a0) - h * (4 * j0 + 2 * j)) / (h * h);
    const double c = (12 * (a0 - a) + 6 * h * (j0 + j)) / (h * h * h);
    end.moved = h * (v0 + h * (a0 / 2 + h * (j0 / 6 + h * (s / 24 + h * c / 120))));
    end.kicked = h * (a0 + h * (j0 / 2 + h * (s / 6 + h * c / 24)));
    end.snap = s + h * c;
    end.crackle = c;
    return end;
}

/* The step after one that ended at this time, both in units of dt. */
KITH_BOTH_SIDES static inline double blocks_next_step(double eta, double dt, double time,
                                                      double step, const double a[3],
                                                      const double j[3], const double snap[3],
                                                      const double crackle[3])
{
    const double over =
        blocks_length(a) * blocks_length(snap) + blocks_length(j) * blocks_length(j);
    const double under =
        blocks_length(j) * blocks_length(crackle) + blocks_length(snap) * blocks_length(snap);
    const double wanted = under != 0 ? sqrt(eta * over / under) / dt : DBL_MAX;
    const double doubles = time / (2 * step);
    if (wanted >= 2 * step && step < 1 && doubles == floor(doubles))
        return 2 * step;
    return blocks_fitted(wanted, step);
}

/* Whether a step is too short, or NaN. */
KITH_BOTH_SIDES static inline bool blocks_is_stuck(double step)
{
    return !(step >= 1.0 / ((int64_t)1 << blocks_most_halvings));
}

/* sum += change, with what did not fit before. */
KITH_BOTH_SIDES static inline void blocks_add(double change, double *sum, double *lost)
{
    const double all = change + *lost, now = *sum + all;
    *lost = all - (now - *sum);
    *sum = now;
}

/* A leg of a simulation of at least one body as a device takes it.
 *
 *   forces  masses, softening, G and dimensions; no vectors
 *   array   of doubles in the memory of the device
 *   time    [in, out] of the simulation; previous_time [out] before the last step
 *   steps, body_steps  [out] taken; steps may be fewer than the leg's, but at least one
 *   least_step, most_step  [in, out] in units of dt; of no step: 0
 *   stuck   [out] the body whose step became too short, or −1 */
struct blocks_problem {
    const struct forces_problem *forces;
    double *array[BLOCK_KEPT][3];
    double dt, eta, origin;
    double time, previous_time;
    int64_t steps, body_steps;
    double least_step, most_step;
    int64_t stuck;
};

#endif
