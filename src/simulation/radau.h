#ifndef SIMULATION_RADAU_H
#define SIMULATION_RADAU_H

#include <stdbool.h>

#include "core/isa.h"
#include "forces/problem.h"

/* The steps of ias15: the Gauss-Radau method of order 15 (Everhart 1985, in Dynamics of Comets,
 * 185; Rein & Spiegel 2015, MNRAS 446, 1424).
 *
 * In a step of length h the acceleration of each body is a polynomial of s = t / h,
 *
 *     a(s) = a_0 + b_0 s + b_1 s² + … + b_6 s⁷,
 *     x(s) = x_0 + s h v_0 + h² (s² a_0 / 2 + Σ_k s^{k+3} b_k / ((k + 2)(k + 3))),
 *     v(s) = v_0 + h (s a_0 + Σ_k s^{k+2} b_k / (k + 2))
 *
 * whose b_k are found by iteration: at each of seven nodes the force is evaluated at the x(s) of
 * the b_k so far, and these are corrected such that a(s) goes through it and still through those of
 * the nodes before. Iterations end when b_6 changes by less than rounding, or no longer by less and
 * less. The first guess continues the polynomials of the step before.
 *
 * Sums of positions, velocities and time carry their rounding errors along, and steps have 24 bits,
 * so that h² is exact: energy errors then grow as the root of the number of steps.
 *
 * The next step is h' = (7! ε)^{1/7} τ, ε = 10⁻⁹, with the shortest τ of all bodies (Pham, Rein &
 * Spiegel 2024, Open J. Astrophys. 7),
 *
 *     τ² = 2 |a|² / (|a'|² + |a| |a''|)
 *
 * and derivatives at the end of the step; if it is shorter than a quarter of h, the step is done
 * again with it. That τ is 0 where an acceleration passes through 0, although nothing happens
 * there. So τ² is at least a half of Aarseth's (1985)
 *
 *     (|a| |a''| + |a'|²) / (|a'| |a'''| + |a''|²),
 *
 * which for an oscillation is the same at every phase; on a Kepler orbit the half is never the
 * larger of the two. Bodies whose acceleration is below 2^−36 of the largest do not count: of
 * forces that cancel only rounding is left. */

enum { radau_terms = 7, radau_most_bodies = 64 };

/* The polynomials of a step that was this many times shorter do not predict this one. */
#define RADAU_MOST_CONTINUED 20.0

/* The arrays of a step, of a number for each component of each body. The first RADAU_KEPT are the
 * state between steps: what of positions and velocities did not fit into them, h² b_k of the last
 * step, and what was guessed for them. */
enum {
    RADAU_POSITION,
    RADAU_VELOCITY,
    RADAU_LOST_POSITION,
    RADAU_LOST_VELOCITY,
    RADAU_ACCELERATION,
    RADAU_START, /* accelerations at the start of the last step */
    RADAU_TERMS,
    RADAU_GUESSES = RADAU_TERMS + radau_terms,
    RADAU_KEPT = RADAU_GUESSES + radau_terms,
    RADAU_STAGE = RADAU_KEPT, /* positions at a node, and what did not fit into them */
    RADAU_LOST_STAGE,
    RADAU_STAGE_ACCELERATION,
    RADAU_NEW_TERMS,
    RADAU_NEW_GUESSES = RADAU_NEW_TERMS + radau_terms,
    RADAU_ARRAYS = RADAU_NEW_GUESSES + radau_terms
};

/* The time and the lengths of steps. */
struct radau_clock {
    double time, lost_time;       /* what did not fit into it; of fixed steps, into start_time */
    double next_step;             /* wanted, > 0 */
    double last_step;             /* of either sign; 0: nothing to continue */
    double previous_time;         /* before the last step */
    double least_step, most_step; /* of those that were not cut to end at a time; 0: none yet */
};

/* Where to stop: after this many steps, at until, in the future or the past (the last step ends
 * there exactly), or after the first step that ends at pause or later. */
struct radau_leg {
    int64_t steps;
    double until, pause;
};

/* How a call ended. */
enum radau_end {
    radau_done,
    radau_failed, /* evaluate did */
    radau_stuck   /* the step became too short to change the time */
};

/* A simulation as the kernels see it.
 *
 *   evaluate  array[acceleration] from array[position], with zeros after the bodies; only for any
 *             number of bodies
 *   maximum   of bodies that are a rank's slice (simulation/slice.h): values become the largest of
 *             all ranks; else NULL */
struct radau_problem {
    const struct forces_problem *forces;
    double *array[RADAU_ARRAYS]; /* [D][stride], of zeros after the bodies */
    int64_t stride;              /* a multiple of kith_padding */
    kith_status (*evaluate)(void *user, int32_t position, int32_t acceleration);
    void (*maximum)(void *user, double *values, int32_t count);
    void *user;
    kith_status status;  /* of evaluate */
    int64_t evaluations; /* without evaluate; counted up */
    int64_t steps;       /* counted up */
};

/* Takes the steps of a leg. of_any has the problem's evaluate; of_few, for at most
 * radau_most_bodies under gravity, has forces of its own, for which positions have twice the
 * digits. The array ACCELERATION belongs to POSITION, before and after.
 *
 * Bits: do not depend on how steps are split into legs with the same until. */
typedef enum radau_end radau_kernel(struct radau_problem *problem, const struct radau_leg *leg,
                                    struct radau_clock *clock);

/* What a system of an ensemble did in a leg. */
struct radau_system {
    struct radau_clock clock;
    enum radau_end end;
    int64_t steps, evaluations;
};

/* A leg of an ensemble, of systems with steps of their own (simulation/ias15_systems.c), from start
 * until a time of all. Arrays are those of forces_problem's vectors; next_step and last_step have a
 * number of each system, next_step 0 where there was none. */
struct radau_systems {
    const struct forces_problem *forces;
    double *array[RADAU_KEPT][3];
    double *next_step, *last_step;
    double start, until;
    double dt; /* the first step */
};

struct radau_kernels {
    radau_kernel *of_few, *of_any;
};

#define RADAU_DECLARE(isa) extern const struct radau_kernels radau_##isa;
KITH_EACH_ISA(RADAU_DECLARE)
#undef RADAU_DECLARE

/* Those of the context's instruction set. */
const struct radau_kernels *radau_kernels_of(const kith_context *context);

#endif
