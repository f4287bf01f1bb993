#ifndef BENCH_PLAIN_FORCES_H
#define BENCH_PLAIN_FORCES_H

#include <stdint.h>

/* The loop that one writes first, as the compiler makes it: accelerations of N bodies in 3D, G = 1,
 * ε > 0. position and acceleration are N × 3. */
void plain_forces(int64_t n, const double *restrict position, const double *restrict mass,
                  double softening, double *restrict acceleration);

#endif
