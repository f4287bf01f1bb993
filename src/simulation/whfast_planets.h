#ifndef SIMULATION_WHFAST_PLANETS_H
#define SIMULATION_WHFAST_PLANETS_H

/* The planets of whfast in vectors. Included by kernels only.
 *
 * Of one system a vector has as many planets as lanes, and slots is the number of vectors; of an
 * ensemble it has one planet of as many systems, and slots is the number of planets. What is done
 * to each planet alone is the same for both. Sums over planets add in one order for both, that of
 * vectors of planets, so that a system has the same bits in an ensemble and alone.
 *
 * On a GPU a system is always in vectors of planets, whose lanes are threads of a warp. */

#include <stdbool.h>
#include <string.h>

#include "core/floors.h"
#include "simulation/whfast_kepler.h"

struct whfast_layout {
    bool is_systems;
    int64_t slots;
    int32_t lanes; /* on a GPU: the threads of a system */
};

/* The same, with a constant for the compiler. */
SIMD_INLINE struct whfast_layout whfast_layout_as(struct whfast_layout layout,
                                                  const bool is_systems)
{
    layout.is_systems = is_systems;
    return layout;
}

/* Vectors are [3][slots], numbers of a planet [slots]. After the planets lie bodies that stay at a
 * distance of 1 from the star, without mass. */
struct whfast_planets {
    struct whfast_layout layout;
    int64_t planets;
    double g;
    vdouble *q, *v, *lost_q, *lost_v;
    vdouble *x, *dx; /* relative to the star; those along which a derivative is taken */
    vdouble *a, *pull, *terms;
    vdouble *saved; /* of q, v, lost_q, lost_v */

    /* Of a planet i, with η_i the mass of the bodies up to it and M that of all: */
    vdouble *mass;    /* m_i */
    vdouble *mu;      /* G η_i, or G m_0 */
    vdouble *share;   /* m_i / η_i */
    vdouble *part;    /* m_i / M */
    vdouble *jump;    /* m_i / m_0 */
    vdouble *inverse; /* 1 / η_{i−1} */
    vdouble *ratio;   /* m_0 / η_{i−1} */
    vdouble *kick;    /* η_i / η_{i−1}, in heliocentric coordinates 1; after the planets 0 */
    vdouble star_gm;

    vdouble center[3], center_velocity[3], lost_center[3]; /* of mass */
    int32_t *source; /* the planets with mass (of an ensemble: in any system), ascending */
    int32_t *is_source;
    int32_t sources;
    bool is_jacobi;
};

/* The numbers of a planet with mass m, after the bodies of mass `before` with the star. */
struct whfast_numbers {
    double mu, share, part, jump, inverse, ratio, kick;
};

/* all is the mass of the system. */
SIMD_INLINE struct whfast_numbers whfast_numbers_of(bool is_jacobi, double g, double star,
                                                    double before, double m, double all)
{
    const double sum = before + m;
    const struct whfast_numbers of = {
        g * (is_jacobi ? sum : star), m / sum, m / all, m / star, 1 / before, star / before,
        is_jacobi ? sum / before : 1};
    return of;
}

enum { whfast_numbers_of_slot = 47 };

/* The field d / |d|³, or its derivative along change, is weight times this: field. floor: added to
 * |d|². */
SIMD_INLINE vdouble whfast_weigh(const bool is_derivative, double floor, const vdouble d[3],
                                 const vdouble change[3], vdouble field[3])
{
    const vdouble r2 =
        simd_fma(d[2], d[2], simd_fma(d[1], d[1], simd_fma(d[0], d[0], simd_all(floor))));
    if (!is_derivative) {
        memcpy(field, d, 3 * sizeof *field);
        return simd_rsqrt3_scaled(r2);
    }
    const vdouble root = simd_rsqrt(r2), square = root * root;
    const vdouble rate = whfast_dot(d, change) * square * simd_all(3.0);
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++)
        field[c] = simd_fma(-rate, d[c], change[c]);
    return square * root;
}

/* The sums over planets, and their pull on each other. */
#if defined(__CUDACC__)
#include "simulation/whfast_sums_cuda.cuh"

/* to[k] = from[k] + Σ_{j<k} share[j] from[j] */
SIMD_INLINE void whfast_place(const struct whfast_layout layout, const vdouble *share,
                              const vdouble *from, vdouble *to)
{
    for (int64_t k = 0; k < layout.slots; k++)
        to[k] = share[k] * from[k];
    whfast_sums_before(layout, to, to);
    for (int64_t k = 0; k < layout.slots; k++)
        to[k] = from[k] + to[k];
}
#else
#include "simulation/whfast_sums.h"
#endif

#endif
