#ifndef SIMULATION_CONTACT_H
#define SIMULATION_CONTACT_H

#include <stdbool.h>

/* The path of one body relative to another within a step, from positions and velocities at both
 * ends: the cubic Hermite interpolation
 *
 *     p(s) = c_0 + c_1 s + c_2 s² + c_3 s³,   0 ≤ s ≤ 1. */
struct contact_path {
    double c[4][3];
};

/* h is the length of the step, of any sign. */
struct contact_path contact_path_of(const double start[3], const double start_velocity[3],
                                    const double end[3], const double end_velocity[3], double h);

/* p(s), and dp/ds. */
void contact_path_at(const struct contact_path *path, double s, double p[3], double slope[3]);

/* Whether |p(s)| becomes reach or less, and where first; 0 if it is at the start. Minima of |p|²
 * are roots of a polynomial of degree 5, all of which are found: a step may be much longer than
 * reach.
 */
bool contact_begins(const struct contact_path *path, double reach, double *s);

/* Whether |p(s)| has a minimum in 0 < s ≤ 1, and where the smallest is. */
bool contact_nearest(const struct contact_path *path, double *s);

#endif
