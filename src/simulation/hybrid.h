#ifndef SIMULATION_HYBRID_H
#define SIMULATION_HYBRID_H

#include <stdbool.h>

#include "core/isa.h"
#include "simulation/state.h"
#include "simulation/watch.h"

/* The steps of hybrid, after TRACE (Lu, Hernandez & Rein 2024, MNRAS 533, 3708): those of whfast in
 * democratic heliocentric coordinates, A(h/2) B(h) A(h/2), unless planets are close to each other.
 *
 * Two planets are close if they come nearer to each other, on straight lines in the half step
 * before or after, than three times the larger of their r (m / 3 m_0)^{1/3}, with the distance r
 * from the star. Then the attraction of the pair belongs to A instead of B: planets connected by
 * such pairs are followed together by the Gauss-Radau method of ias15, the others on their Kepler
 * orbits. If the step is longer than τ,
 *
 *     τ² = 2 |a|² / (|a'|² + |a| |a''|)
 *
 * of some planet's Kepler motion (Pham, Rein & Spiegel 2024), all bodies are followed so, with the
 * star, the star's motion in A too.
 *
 * What is close is determined at the start of the step and again at its end. Pairs that are close
 * at the end alone reject the step, and it is done again with them. The criterion does not depend
 * on the direction of time, so that steps backwards find the same pairs: the method is reversible,
 * but for steps that both of its ends judge differently. */

/* A pair of planets, counted from 0 after the star, i < j. */
struct hybrid_pair {
    int32_t i, j;
};

struct hybrid_pairs {
    struct hybrid_pair *pair; /* ascending */
    int64_t count, room;
};

/* What is close. */
struct hybrid_close {
    struct hybrid_pairs pairs;
    bool at_star; /* a planet near its pericenter */
};

/* Planets, in columns of a multiple of hybrid_lanes numbers. Past the end of the planets are bodies
 * at a distance of 1 from the star, which does not attract them; past the end of the sources are
 * some of no mass. */
struct hybrid_planets {
    int64_t count, sources;
    double *q[3], *v[3]; /* from the star; relative to the center of mass */
    double *mass, *gm, *mu, *reach;
    double *source_q[3], *source_gm; /* those with mass */
    int64_t *source;                 /* of a planet, or −1 */
};

/* A multiple of every vector's length. */
enum { hybrid_lanes = 8 };

/* The kernels.
 *
 *   drift  moves the planets on their Kepler orbits
 *   pull   the acceleration of planet i by the sources
 *   find   the planets that are close to planet i, which has mass, within a time of half before or
 *          after: ascending, of those with mass the j > i; returns how many */
struct hybrid_kernels {
    void (*drift)(struct hybrid_planets *planets, double h);
    void (*pull)(const struct hybrid_planets *planets, int64_t i, double acceleration[3]);
    int64_t (*find)(const struct hybrid_planets *planets, double half, int64_t i, int32_t *found);
};

#define HYBRID_DECLARE(isa) extern const struct hybrid_kernels hybrid_##isa;
KITH_EACH_ISA(HYBRID_DECLARE)
#undef HYBRID_DECLARE

/* What hybrid_follow works in; for as many planets, and more and more pairs, and larger groups on
 * more threads. */
struct hybrid_memory {
    double *numbers;
    int32_t *integers, *next_pair, *member;
    struct hybrid_bond *bond;
    struct hybrid_job *job;
    int64_t room; /* of pairs */
    int64_t number_room, bond_room;
};

/* Errors: KITH_OUT_OF_MEMORY. Free with hybrid_memory_free, also after a failure. */
kith_status hybrid_memory_make(int64_t planets, struct hybrid_memory *memory);
void hybrid_memory_free(struct hybrid_memory *memory);

/* A step of h, with memory that a simulation keeps for the next ones. start_x and start_v are the
 * bodies at its start, near_q and near_v for planets of close pairs. */
struct hybrid_step {
    struct kith_simulation *simulation;
    const struct hybrid_kernels *kernels;
    struct hybrid_planets planets;
    struct hybrid_close close, at_end, both; /* at the start; in either */
    struct hybrid_memory memory;
    double *columns, *start_x[3], *start_v[3], *near_q[3], *near_v[3];
    int64_t *source;
    int32_t *found;
    double star_mass, star_gm, h;
    int64_t room; /* of bodies */
};

/* That of a simulation, which may be NULL. */
void hybrid_step_free(struct hybrid_step *step);

/* Takes positions and velocities of the simulation from the start of the step to its end, with what
 * is close in A. Errors: those of hybrid_follow. */
kith_status hybrid_encounter(struct hybrid_step *step, const struct hybrid_close *close);

/* The bodies of a step, the star first, and their close pairs, for hybrid_follow.
 *
 *   star_gm   G m_0
 *   from, to  of the whole step, in units of it: where the time to follow begins and ends
 *   q, v      [in, out] of the planets; star and star_velocity of the star, if at_star: then all
 * are in an inertial frame */
struct hybrid_leg {
    struct kith_simulation *simulation;
    struct hybrid_memory *memory;
    const struct hybrid_close *close;
    const struct hybrid_planets *planets;
    double star_gm, h, from, to;
    double *q[3], *v[3];
    double star[3], star_velocity[3];
};

/* Follows the planets of close pairs, or all and the star, each group of connected ones by steps of
 * its own; others are left as they are. Planets without mass are followed some at a time, with
 * those with mass that they are connected to; these move as if they were not there, and without a
 * close pair of their own are left as they are. Collisions and pericenters of the pairs are added
 * to the watch, if there is one.
 *
 * Errors: KITH_INVALID_ARGUMENT (a step too short: bodies collide), KITH_OUT_OF_MEMORY. */
kith_status hybrid_follow(struct hybrid_leg *leg);

/* Before the first leg of a step: the pairs that will be followed, and no events. */
kith_status hybrid_watch_pairs(struct kith_simulation *simulation,
                               const struct hybrid_close *close);

#endif
