#ifndef ORBITS_UNIVERSAL_H
#define ORBITS_UNIVERSAL_H

/* Motion on a Kepler orbit of any kind in universal variables (Stumpff 1959; Danby 1988,
 * Fundamentals of Celestial Mechanics, 6.9).
 *
 * With r and r·v at the start, β = 2μ/r − v² and ζ = μ − βr, the motion in a time t has the s that
 * solves
 *
 *     t = r s + (r·v) G_2(s) + ζ G_3(s),    G_k(s) = s^k c_k(β s²),
 *
 * and c_k(z) = Σ_n (−z)^n / (k + 2n)! are Stumpff's functions. */
struct universal_orbit {
    double r, rv, beta, zeta, mu;
};

/* G_1, G_2 and G_3 at a time of either sign, however many periods away: for orbits and times for
 * which a few of Newton's steps do not do. r and μ are not 0. */
void universal_solve(const struct universal_orbit *orbit, double t, double g[3]);

#endif
