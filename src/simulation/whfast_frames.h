#ifndef SIMULATION_WHFAST_FRAMES_H
#define SIMULATION_WHFAST_FRAMES_H

/* What whfast does before its first step and when positions and velocities are requested: back
 * and forthm the planets' coordinates, and correctors (simulation/whfast.h). Included by kernels
 * only. */

#include "simulation/whfast_step.h"

/* Where kept states begin: after so much of a step's drift. */
SIMD_INLINE double first_drift(enum whfast_kernel kernel)
{
    return kernel == whfast_composition ? 0.625 : 0.5;
}

/* sum = Σ_j factor_j vectors_j */
SIMD_INLINE void sum_vectors(const struct whfast_planets *p, const vdouble *factor,
                             const vdouble *vectors, vdouble sum[3])
{
    const int64_t slots = p->layout.slots;
    for (int32_t c = 0; c < 3; c++)
        sum[c] = whfast_sum(p->layout, factor, vectors + c * slots);
}

/* Vectors relative to the star to the planets' coordinates: −(1/η_{i−1}) Σ_{j<i} m_j is added, or
 * the center's is taken away. */
SIMD_INLINE void enter_coordinates(struct whfast_planets *p, bool is_jacobi, vdouble *vectors,
                                   const vdouble center[3])
{
    const int64_t slots = p->layout.slots;
    for (int32_t c = 0; c < 3; c++) {
        vdouble *u = vectors + c * slots;
        for (int64_t k = 0; k < slots; k++)
            p->terms[k] = p->mass[k] * u[k];
        whfast_sums_before(p->layout, p->terms, p->x);
        for (int64_t k = 0; k < slots; k++)
            u[k] -= is_jacobi ? p->inverse[k] * p->x[k] : center[c] * p->kick[k];
    }
}

/* The state from q and v that are relative to the star, whose are star and star_velocity. */
SIMD_OUTLINE void begin_planets(struct whfast_planets *p, const vdouble star[3],
                                const vdouble star_velocity[3])
{
    const size_t bytes = (size_t)(3 * p->layout.slots) * sizeof(vdouble);
    vdouble offset[3], velocity[3];
    sum_vectors(p, p->part, p->q, offset);
    sum_vectors(p, p->part, p->v, velocity);
    for (int32_t c = 0; c < 3; c++) {
        p->center[c] = star[c] + offset[c];
        p->center_velocity[c] = star_velocity[c] + velocity[c];
        p->lost_center[c] = simd_all(0.0);
    }
    if (p->is_jacobi)
        enter_coordinates(p, true, p->q, offset);
    enter_coordinates(p, p->is_jacobi, p->v, velocity);
    memset(p->lost_q, 0, bytes);
    memset(p->lost_v, 0, bytes);
}

/* The inverse: q and v of the bodies in an inertial frame. */
SIMD_OUTLINE void end_planets(struct whfast_planets *p, vdouble star[3], vdouble star_velocity[3])
{
    const int64_t slots = p->layout.slots;
    vdouble offset[3], velocity[3];
    place_planets(p, p->layout, p->is_jacobi, p->q, p->x);
    place_planets(p, p->layout, p->is_jacobi, p->v, p->dx);
    sum_vectors(p, p->part, p->x, offset);
    sum_vectors(p, p->is_jacobi ? p->part : p->jump, p->dx, velocity);
    for (int32_t c = 0; c < 3; c++) {
        star[c] = p->center[c] - offset[c];
        star_velocity[c] = p->center_velocity[c] - velocity[c];
        for (int64_t k = 0; k < slots; k++) {
            p->q[c * slots + k] = p->x[c * slots + k] + star[c];
            p->v[c * slots + k] =
                p->dx[c * slots + k] + (p->is_jacobi ? star_velocity[c] : p->center_velocity[c]);
        }
    }
}

/* A(a) B(b) A(−2a) B(−b) A(a), which to first order in B is a multiple of sinh of A. */
SIMD_OUTLINE void correct_once(struct whfast_planets *p, double a, double b)
{
    drift_any(p, a);
    interact_any(p, b);
    drift_any(p, -2 * a);
    interact_any(p, -b);
    drift_any(p, a);
}

SIMD_OUTLINE void correct(struct whfast_planets *p, const struct whfast_corrector *corrector,
                          double h)
{
    for (int32_t k = 0; k < corrector->pairs; k++) {
        const double a = h * whfast_corrector_time * (k + 1), b = h * corrector->b[k];
        correct_once(p, a, -b);
        correct_once(p, -a, b);
    }
}

SIMD_OUTLINE void correct_back(struct whfast_planets *p, const struct whfast_corrector *corrector,
                               double h)
{
    for (int32_t k = corrector->pairs - 1; k >= 0; k--) {
        const double a = h * whfast_corrector_time * (k + 1), b = h * corrector->b[k];
        correct_once(p, a, b);
        correct_once(p, -a, -b);
    }
}

#endif
