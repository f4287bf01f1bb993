#ifndef FORCES_DELIVER_CUDA_CUH
#define FORCES_DELIVER_CUDA_CUH

/* The last thing that happens to a body's sums: they become a result in the caller's units. */

#include "forces/problem.h"

/* What the device knows of a call with arrays in its memory: ε² in the problem's units, and the
 * powers of two that bring results to the caller's. */
struct forces_measured {
    double softening2;
    int acceleration_exponent, potential_exponent;
    bool bad; /* the input has a NaN or infinity: all results are NaN */
};

/* value: 0 to 2 acceleration, 3 potential, 4 to 6 jerk, 7 the potential's rate, both in the units
 * of the velocities; nothing happens if it is not requested. The result is rounded before it
 * changes units, as that of arrays on the host is. */
template <typename real>
__device__ inline void deliver(const struct forces_problem &problem, int64_t i, int value,
                               double sum)
{
    void *column = value < 3    ? problem.acceleration[value]
                   : value == 3 ? problem.potential
                   : value == 7 ? problem.potential_rate
                                : problem.jerk[value - 4];
    if (!column)
        return;
    const double g = problem.gravitational_constant;
    const real result = (real)((value == 3 ? -g : g) * sum + 0.0); /* no −0 of an empty sum */
    const struct forces_delivery &to = problem.delivery;
    if (!to.measured) {
        ((real *)column)[i] = result;
        return;
    }
    const int of_a = to.measured->acceleration_exponent, of_phi = to.measured->potential_exponent;
    const int exponent = to.g_exponent + (value == 3                ? of_phi
                                          : value < 3 || value == 7 ? of_a
                                                                    : 2 * of_a - of_phi);
    const int64_t stride = value == 3 || value == 7 ? to.potential_stride : to.acceleration_stride;
    ((real *)column)[i * stride] =
        (real)(to.measured->bad ? nan("") : ldexp(to.g_fraction * (double)result, exponent));
}

#endif
