#ifndef MESH_ESTIMATES_H
#define MESH_ESTIMATES_H

/* Errors of truncating the two parts of Ewald's sum: the rms over the particles of the error of the
 * force w ∇φ, for independent positions (Kolafa & Perram 1992, Mol. Simul. 9, 351). With q = Σ w²
 * and N particles in V,
 *
 *     q / √N · 2 / √(r V) · e^{−α² r²}             pairs further away than r are left out
 *     q / √N · α √(8 / (V k)) · e^{−k² / 4α²}       waves shorter than 2π / k are left out
 *
 * Both follow from the mean square of what is left out. Each is solved for r or k by iteration. */

#include <math.h>

#include "mesh/periodic.h"

static inline double estimate_unit(const struct periodic_system *system)
{
    return system->squares / sqrt((double)system->count * system->volume);
}

static inline double estimate_short(const struct periodic_system *system, double alpha,
                                    double cutoff)
{
    return estimate_unit(system) * 2 / sqrt(cutoff) * exp(-alpha * alpha * cutoff * cutoff);
}

static inline double estimate_waves(const struct periodic_system *system, double alpha, double wave)
{
    return estimate_unit(system) * alpha * sqrt(8 / wave) * exp(-wave * wave / (4 * alpha * alpha));
}

/* The x ≥ 1/2 of e^{−x²} √(1/x) = ratio. */
static inline double estimate_reach(double ratio)
{
    double x = 1;
    for (int k = 0; k < 20; k++)
        x = sqrt(fmax(0.25, -log(ratio) - 0.5 * log(x)));
    return x;
}

/* α cutoff, and k/2α, for an error. */
static inline double estimate_short_reach(const struct periodic_system *system, double alpha,
                                          double error)
{
    return estimate_reach(error / (estimate_unit(system) * 2 * sqrt(alpha)));
}

static inline double estimate_wave_reach(const struct periodic_system *system, double alpha,
                                         double error)
{
    return estimate_reach(error / (estimate_unit(system) * 2 * sqrt(alpha)));
}

#endif
