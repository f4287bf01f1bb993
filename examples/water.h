/* Water as particles: a particle is a column of water of volume V that moves with the flow
 * (smoothed-particle hydrodynamics). Its depth is a sum over its neighbours, and from the energy
 * E = ½ Σ v² V + ½ g Σ h V follows its acceleration (Rodriguez-Paz & Bonet 2005, Comput. Struct.
 * 83, 1396):
 *
 *     h_i = Σ_j V W(r_ij),      a_i = −Σ_j V (g + Π_ij) ∇W(r_ij)
 *
 * with the cubic spline W and a viscosity Π that spreads shocks over some particles (Ata &
 * Soulaïmani 2005, Int. J. Numer. Methods Fluids 47, 139). Every term acts on i and j with opposite
 * signs: momentum stays zero, and volume is what the particles carry. */

#ifndef WATER_H
#define WATER_H

#include <math.h>

#include "example.h"

static const double pi = 3.14159265358979323846;
static const double gravity = 9.81; /* m/s² */

struct water {
    kith_context *context;
    kith_cell cell;
    int64_t count;
    double volume; /* of a particle */
    double length; /* the spline's ℓ: it ends at 2ℓ */
    double *position, *velocity, *acceleration, *depth;
    kith_pairs *pairs;
};

/* The cubic spline in two dimensions and its derivative (Monaghan & Lattanzio 1985). */
static inline double spline(double q, double length)
{
    const double normal = 10 / (7 * pi * length * length);
    if (q < 1)
        return normal * (1 - 1.5 * q * q + 0.75 * q * q * q);
    return q < 2 ? normal * 0.25 * (2 - q) * (2 - q) * (2 - q) : 0;
}

static inline double spline_slope(double q, double length)
{
    const double normal = 10 / (7 * pi * length * length * length);
    if (q < 1)
        return normal * (-3 * q + 2.25 * q * q);
    return q < 2 ? -normal * 0.75 * (2 - q) * (2 - q) : 0;
}

/* The neighbours of every particle; kept as long as nobody has moved by half the skin. */
static inline void find_neighbors(struct water *water)
{
    const kith_pairs_options options = {
        .cutoff = 2 * water->length,
        .skin = 0.3 * water->length,
        .quantities = KITH_PAIRS_J | KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES,
        .unsorted = true,
    };
    kith_pairs *pairs = water->pairs;
    must(kith_pairs_update(water->context, &options,
                           kith_array_matrix(water->position, KITH_F64, water->count, 2),
                           &water->cell, &pairs, NULL));
    water->pairs = pairs;
}

static inline void sum_depths(struct water *water)
{
    const int64_t *start = water->pairs->offsets.data;
    const double *distance = water->pairs->distances.data;
    for (int64_t i = 0; i < water->count; i++) {
        double sum = spline(0, water->length);
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            sum += spline(distance[k] / water->length, water->length);
        water->depth[i] = water->volume * sum;
    }
}

static inline void sum_accelerations(struct water *water)
{
    const int64_t *start = water->pairs->offsets.data, *other = water->pairs->j.data;
    const double *distance = water->pairs->distances.data, *vector = water->pairs->vectors.data;
    memset(water->acceleration, 0, (size_t)water->count * 2 * sizeof(double));
    for (int64_t i = 0; i < water->count; i++) {
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            const double r = distance[k], *d = vector + 2 * k; /* x_j − x_i */
            if (r >= 2 * water->length || r == 0)
                continue;
            const int64_t j = other[k];
            const double *v = water->velocity;
            const double approach =
                (v[2 * i] - v[2 * j]) * d[0] + (v[2 * i + 1] - v[2 * j + 1]) * d[1];
            const double depth = 0.5 * (water->depth[i] + water->depth[j]);
            const double viscosity =
                approach > 0 ? sqrt(gravity * depth) * approach / (depth * r) : 0;
            const double slope = spline_slope(r / water->length, water->length);
            const double pull = water->volume * (gravity + viscosity) * slope / r;
            water->acceleration[2 * i] += pull * d[0]; /* ∇_i W = −slope d/r */
            water->acceleration[2 * i + 1] += pull * d[1];
        }
    }
}

#endif
