#ifndef SIMULATION_RADAU_STEP_H
#define SIMULATION_RADAU_STEP_H

/* The steps of ias15, by whatever evaluates forces. Included by kernels only. On a GPU a vector is
 * a number of a thread, a body each, and the threads of a system do the same. */

#include "simulation/radau_arithmetic.h"

#if SIMD_IS_SCALAR
#include "simulation/radau_lanes_cuda.cuh"
#else
/* Of all lanes. */
SIMD_INLINE double largest_lane(const struct attempt *at, vdouble a)
{
    (void)at;
    double largest = a[0];
    for (int32_t k = 1; k < lanes; k++)
        largest = a[k] > largest ? a[k] : largest;
    return largest;
}

SIMD_INLINE double least_lane(const struct attempt *at, vdouble a)
{
    (void)at;
    double least = a[0];
    for (int32_t k = 1; k < lanes; k++)
        least = a[k] < least ? a[k] : least;
    return least;
}

SIMD_INLINE void largest_of_ranks(const struct attempt *at, double *values, int32_t count)
{
    if (at->problem->maximum)
        at->problem->maximum(at->problem->user, values, count);
}
#endif

/* The square of the shortest τ of all bodies in units of the step's length; ∞ if nothing changes.
 */
SIMD_INLINE double shortest_time2(const struct attempt *at, double h, double scale)
{
    vdouble shortest = simd_all((double)INFINITY);
    for (int64_t t = 0; t < at->vectors; t++) {
        const vdouble counted = times2_of(at, t, h, scale);
        /* Where nothing changes τ is 0 / 0 at worst. */
        shortest = simd_select(simd_is_more(shortest, counted), counted, shortest);
    }
    return least_lane(at, shortest);
}

#include "simulation/radau_control.h"

#endif
