#ifndef FORCES_SCALE_H
#define FORCES_SCALE_H

#include <math.h>
#include <stdint.h>

#include "core/both_sides.h"

/* Units in which the kernels compute: lengths and masses divided by powers of two, so that the
 * largest are about 1 and s⁶ stays in range for every input. Multiplying by a power of two is
 * exact: no bit of a result changes, unless it would have over- or underflowed. */
struct forces_units {
    double length, mass; /* powers of two, to divide by */
};

/* k of the power of two 2^k ≤ largest < 2^{k+1}; 0 for 0. */
KITH_BOTH_SIDES static inline int forces_exponent_of(double largest)
{
    return largest > 0 ? ilogb(largest) : 0;
}

/* A unit and its inverse are normal doubles. */
KITH_BOTH_SIDES static inline int forces_clamp_exponent(int exponent)
{
    const int limit = 1000;
    return exponent < -limit ? -limit : exponent > limit ? limit : exponent;
}

/* k of the units 2^k of packed arrays. Their largest length is made about 2^20: in float, 1/s³ then
 * neither overflows for the closest pairs (s down to 2^−62 of the largest length) nor vanishes for
 * the farthest. */
KITH_BOTH_SIDES static inline int forces_packed_length_exponent(double largest)
{
    return forces_clamp_exponent(forces_exponent_of(largest) - 20);
}

KITH_BOTH_SIDES static inline int forces_packed_mass_exponent(double largest)
{
    return forces_clamp_exponent(forces_exponent_of(largest));
}

static inline double forces_unit_for(double largest)
{
    return ldexp(1.0, forces_exponent_of(largest));
}

/* G in these units: a and φ then come out in units of length, per time². */
static inline double forces_scaled_g(double g, struct forces_units units)
{
    return g * (units.mass / units.length / units.length / units.length);
}

#endif
