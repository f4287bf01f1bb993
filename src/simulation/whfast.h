#ifndef SIMULATION_WHFAST_H
#define SIMULATION_WHFAST_H

#include <stdbool.h>

#include "core/isa.h"
#include "forces/problem.h"

/* The steps of whfast: the Wisdom-Holman map (Wisdom & Holman 1991, AJ 102, 1528; Rein & Tamayo
 * 2015, MNRAS 452, 376). Body 0 is the star, the others are planets.
 *
 * Each planet moves exactly on its Kepler orbit, A, and between two such drifts what else acts on
 * it changes its velocity, B: a step of h is A(h/2) B(h) A(h/2). In Jacobi coordinates a planet
 * moves about the center of mass of the bodies before it; in democratic heliocentric ones (Duncan,
 * Levison & Lee 1998, AJ 116, 2067) about the star, with velocities relative to the center of mass
 * of all, and B moves the star too. Adjacent halves of A are one drift: the state is kept after the
 * first half drift of a step, and positions and velocities of the bodies are made from it at the
 * end of a leg.
 *
 * A corrector (Wisdom, Holman & Touma 1996; Wisdom 2006, AJ 131, 2294) is applied before the first
 * step, and its inverse before the state is seen: of errors that are linear in the masses of
 * planets only those of order corrector + 1 in h are left. A kernel (Rein, Tamayo & Brown 2019,
 * MNRAS 489, 4632) replaces B such that errors quadratic in the masses are of order h^4. */

enum whfast_coordinates { whfast_jacobi, whfast_democratic_heliocentric };
enum whfast_kernel { whfast_default, whfast_lazy, whfast_modified_kick, whfast_composition };

/* Pairs of numbers of a corrector, for times a h and kicks b h. */
enum { whfast_most_pairs = 8 };
struct whfast_corrector {
    int32_t order, pairs;
    double b[whfast_most_pairs]; /* a is a multiple of whfast_corrector_time, k + 1 */
};

/* The correctors; the first is absent. */
enum { whfast_correctors = 6 };
extern const struct whfast_corrector whfast_corrector[whfast_correctors];

/* √(7/40), as in Wisdom, Holman & Touma 1996. */
static const double whfast_corrector_time = 0.41833001326703777;

struct whfast_choice {
    enum whfast_coordinates coordinates;
    enum whfast_kernel kernel;
    const struct whfast_corrector *corrector;
};

/* The arrays of a simulation after positions and velocities. */
enum {
    WHFAST_POSITION = 2,
    WHFAST_VELOCITY,
    WHFAST_LOST_POSITION,
    WHFAST_LOST_VELOCITY,
    WHFAST_ARRAYS
};

/* Components of the bodies: element i of position and velocity is body i, of the others, the kept
 * state and what of it did not fit, planet i + 1, with the center of mass after the planets. Of an
 * ensemble it is a row of systems (simulation/state.h). In two dimensions the third ones are NULL.
 */
struct whfast_arrays {
    double *position[3], *velocity[3];
    double *kept_position[3], *kept_velocity[3], *lost_position[3], *lost_velocity[3];
};

/* A leg of steps of one system, or of systems of an ensemble. */
struct whfast_problem {
    const struct forces_problem *forces;
    struct whfast_choice choice;
    struct whfast_arrays all;
    struct whfast_arrays lead; /* of the star and the leading planets: those of all, but for ranks
                                * that do not have them (simulation/whfast_slice.h) */
    const double *mass;        /* of these */
    int64_t last_with_mass;    /* the last body with mass, of one system */
    int64_t center;            /* the element of the center of mass, of lead */
    bool begins;               /* the state is first made from positions and velocities */
    bool ends;                 /* positions and velocities are made from the state at the end */
    double h;                  /* a step's length, of any sign */
    int64_t steps;
};

/* Planets of the one system that take steps apart from the others: those that have mass, and some
 * of those that have none. */
struct whfast_part {
    int64_t leading;      /* planets 0 … leading − 1, with all that have mass */
    int64_t first, count; /* planets first … first + count − 1, if there are any: then a multiple
                           * of whfast_least_leading are leading, and what they do is not stored */
};

/* The planets that may have mass in a system of more than kith_most_bodies_of_system on a GPU. */
enum { whfast_most_leading = 32 };

/* A multiple of the planets of every vector. */
enum { whfast_least_leading = 8 };

/* Takes the steps of a part of the one system.
 *
 *   memory  numbers_of(planets of the part), aligned to vectors
 *
 * Bits: those of all its planets together. */
typedef void whfast_one_kernel(const struct whfast_problem *problem, const struct whfast_part *part,
                               double *memory);

/* Takes the steps of the systems begin … end − 1. begin is a multiple of whfast_systems_at_once.
 *
 * Bits: those of each system alone. */
typedef void whfast_systems_kernel(const struct whfast_problem *problem, int64_t begin,
                                   int64_t end);

/* A multiple of every vector's length. */
enum { whfast_systems_at_once = 16 };

struct whfast_kernels {
    whfast_one_kernel *one;
    whfast_systems_kernel *systems;
    int64_t (*numbers_of)(int64_t planets);
};

#define WHFAST_DECLARE(isa) extern const struct whfast_kernels whfast_##isa;
KITH_EACH_ISA(WHFAST_DECLARE)
#undef WHFAST_DECLARE

#endif
