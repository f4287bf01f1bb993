#ifndef KITH_MEGNO_H
#define KITH_MEGNO_H

#include "kith/bodies.h"
#include "kith/context.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MEGNO and the growth of the displacement at a time. */
typedef struct kith_megno_sample {
    double time;
    double megno;      /* Y */
    double mean_megno; /* its mean over the time up to now */
    double growth;     /* ln |δ| / |δ_0| */
} kith_megno_sample;

typedef struct kith_megno_options {
    double until;                  /* the time of the end, after that of the bodies */
    double dt;                     /* of the first step; 0: a thousandth of the time */
    double gravitational_constant; /* 0: that of the bodies, else 1 */
    double softening;
    uint64_t seed;   /* of the direction of δ_0 */
    int64_t samples; /* at equal times, the last at until; 0: none */
} kith_megno_options;

typedef struct kith_megno {
    double megno, mean_megno; /* at the end */
    double lyapunov_exponent; /* the slope of ln |δ| by least squares, over the second half */
    double lyapunov_time;     /* 1 / lyapunov_exponent; infinite if that is not greater than 0 */
    int64_t steps;            /* of ias15 */
} kith_megno;

/* The mean exponential growth of nearby orbits (Cincotta & Simó 2000, A&AS 147, 205) and the
 * Lyapunov exponent of bodies under gravity, by variational equations of first order: every body
 * has a small displacement δ,
 *
 *     δ'' = Σ_j (∂a / ∂x_j) δ_j,    L = ln |δ|,    Y(t) = 2 (L(t) − (1/t) ∫_0^t L dt'),
 *
 * where |δ|² = Σ (δx² + τ² δv²) and τ is the root mean square of the positions over that of the
 * velocities, about their means, at the start. The mean of Y tends to 2 on a quasi-periodic orbit
 * and to λt/2 on one with the Lyapunov exponent λ, and Y to λt (Cincotta, Giordano & Simó 2003,
 * Physica D 182, 151). Steps are those of ias15 for the bodies.
 *
 *   context  of the CPU
 *   options  not NULL
 *   bodies   with velocities; masses are 1 if absent; those without mass are test particles
 *   samples  [out] options->samples; NULL if that is 0
 *   megno    [out]
 *
 * Errors: KITH_INVALID_ARGUMENT (until is not after the time of the bodies, dt or samples < 0,
 *         softening < 0, G or a mass < 0 or not finite, no velocities, fewer than two bodies;
 *         bodies collide), KITH_UNSUPPORTED (a GPU), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 * Cost:   about 16 N N_m pairs per step of ias15, with N_m bodies of nonzero mass, on one thread.
 * Bits:   the same on every run and for every number of threads. */
KITH_API kith_status kith_megno_compute(kith_context *context, const kith_megno_options *options,
                                        const kith_bodies *bodies, kith_megno_sample *samples,
                                        kith_megno *megno);

#ifdef __cplusplus
}
#endif

#endif
