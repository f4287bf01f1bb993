#ifndef ORBITS_KEPLER_H
#define ORBITS_KEPLER_H

/* Kepler's equation. Near e = 1 its first term, (1 − e) E, needs the digits of 1 − e that e does
 * not have: it is an argument of its own. */

/* E in [0, π] with (1 − e) E + e (E − sin E) = M, for 0 ≤ e < 1 and 0 ≤ M ≤ π. */
double kepler_ellipse(double e, double one_minus_e, double M);

/* H ≥ 0 with (e − 1) H + e (sinh H − H) = M, for e > 1 and M ≥ 0. */
double kepler_hyperbola(double e, double e_minus_one, double M);

/* D with D + D³/3 = M. */
double kepler_parabola(double M);

/* M of E in [−π, π], and of H. */
double kepler_mean_of_ellipse(double e, double one_minus_e, double E);
double kepler_mean_of_hyperbola(double e, double e_minus_one, double H);

#endif
