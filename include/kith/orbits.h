#ifndef KITH_ORBITS_H
#define KITH_ORBITS_H

#include "kith/bodies.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Orbital elements: the Kepler orbit on which a body moves at one instant (Danby 1988, Fundamentals
 * of Celestial Mechanics, chapter 6; Murray & Dermott 1999, Solar System Dynamics, §2.8).
 *
 * Angles are in radians. The reference plane is x-y and the reference direction x. The body is at
 *
 *   R_z(Omega) R_x(i) R_z(omega) · (r cos f, r sin f, 0),   f the true anomaly
 *
 *   orbit      a          e       M
 *   ellipse    > 0        0 … 1   E − e sin E, in [0, 2π)                 r = a (1 − e cos E)
 *   parabola   infinite   1       D + D³/3, D = tan(f/2): Barker         r = q (1 + D²)
 *   hyperbola  < 0        > 1     e sinh H − H, < 0 before pericenter    r = a (1 − e cosh H)
 *
 * Where an angle is undefined, it is 0: Omega for i = 0 and i = π, so that omega is counted from x
 * in the direction of the motion; omega for e = 0, so that f is counted from the node. Values of e
 * and sin i less than 9e-16, and of r/|a| less than 7e-15, are rounding errors, and are 0 here.
 * Rectilinear motion, towards the origin or away from it, has e = 1 and q = 0; its angles and M are
 * NaN. */
typedef struct kith_orbit {
    double a;            /* semi-major axis */
    double e;            /* eccentricity */
    double i;            /* inclination, 0 to π; more than π/2 is retrograde */
    double Omega;        /* longitude of the ascending node, in [0, 2π) */
    double omega;        /* argument of pericenter, in [0, 2π) */
    double M;            /* mean anomaly: mean_motion times the time since pericenter. Of an ellipse
                          * rounded to 1e-16 of a period, which is long near e = 1 */
    double q;            /* pericenter distance, a (1 − e); without cancellation near e = 1 */
    double true_anomaly; /* f, in [0, 2π) */
    double mean_motion;  /* √(μ/|a|³), of a parabola √(μ/(2 q³)) */
    double period;       /* 2π/mean_motion; infinite unless the orbit is an ellipse */
} kith_orbit;

/* Solves Kepler's equation: the eccentric anomaly E with E − e sin E = M for 0 ≤ e < 1, H with
 * e sinh H − H = M for e > 1, and D = tan(f/2) with D + D³/3 = M for e = 1.
 *
 * To rounding for every e and M, those near e = 1 and M = 0 included: an error of a few units in
 * the last place of E. E and M are on the same revolution.
 *
 *   anomaly  [out]
 *
 * Errors: KITH_INVALID_ARGUMENT: e is negative or not finite, M is not finite.
 * Cost:   2 to 4 iterations of fourth order from a cubic equation's root (Danby & Burkardt 1983,
 *         Celest. Mech. 31, 95). */
KITH_API kith_status kith_kepler_solve(double e, double M, double *anomaly);

/* The orbit of a position and a velocity relative to a center of attraction.
 *
 *   mu     G times the mass that attracts, the body's own included if the position is relative to
 *          the other mass; greater than 0
 *   orbit  [out]
 *
 * Errors: KITH_INVALID_ARGUMENT: mu is not greater than 0, a number is not finite, the position is
 *         0. */
KITH_API kith_status kith_orbit_compute(double mu, const double position[3],
                                        const double velocity[3], kith_orbit *orbit);

/* Position and velocity on an orbit: the inverse of kith_orbit_compute.
 *
 *   orbit               a, e, i, Omega, omega and M are read, with any angles; q is a (1 − e) to
 *                       rounding, or 0 to use that. For a parabola q is read and a is infinite. The
 *                       other members are not read
 *   position, velocity  [out]
 *
 * Errors: KITH_INVALID_ARGUMENT: mu is not greater than 0, a number is not finite, e is negative, a
 *         has the wrong sign or is 0, e = 1 without q (rectilinear motion among them), q is not a
 *         (1 − e). */
KITH_API kith_status kith_orbit_place(double mu, const kith_orbit *orbit, double position[3],
                                      double velocity[3]);

/* The centers of the orbits of several bodies. The first body is the star. */
typedef enum kith_orbit_coordinates {
    KITH_HELIOCENTRIC, /* the star;                                  μ = G (m_0 + m_k) */
    KITH_JACOBI,     /* the center of mass of bodies 0 … k − 1;     μ = G (m_0 + … + m_k) */
    KITH_BARYCENTRIC /* the center of mass of all;                 μ = G Σ m */
} kith_orbit_coordinates;

typedef struct kith_orbits_options {
    double gravitational_constant; /* 0: that of the bodies, else 1 */
    kith_orbit_coordinates coordinates;
} kith_orbits_options;

/* The orbits of all bodies but the first, the star.
 *
 * A body whose position or velocity is not finite counts as removed: its orbit is NaN, and its mass
 * is ignored. Without a star all orbits are NaN.
 *
 *   options  NULL for the defaults
 *   bodies   n bodies in 2 or 3 dimensions; masses are 1 and velocities 0 if absent
 *   orbits   [out] n − 1, orbits[k − 1] of body k; may be NULL if n < 2
 *
 * Errors: KITH_INVALID_ARGUMENT: the mass of the star is not greater than 0, a mass is negative or
 *         not finite, G is not greater than 0, a body is at the origin of its coordinates; the
 *         message names the body.
 * Cost:   O(n) time, about 0.7 µs per body.
 * Bits:   the same on every run. */
KITH_API kith_status kith_orbits_compute(const kith_orbits_options *options,
                                         const kith_bodies *bodies, kith_orbit *orbits);

/* Places bodies on orbits: the inverse of kith_orbits_compute, with the center of mass at the
 * origin and at rest.
 *
 *   orbits  n − 1, as kith_orbit_place reads them
 *   bodies  [in/out] n bodies in 3 dimensions with velocities; their positions and velocities are
 *           overwritten, masses are read
 *
 * Errors: as kith_orbit_place and kith_orbits_compute; the bodies have 2 dimensions or no
 *         velocities. */
KITH_API kith_status kith_orbits_place(const kith_orbits_options *options, const kith_orbit *orbits,
                                       kith_bodies *bodies);

#ifdef __cplusplus
}
#endif

#endif
