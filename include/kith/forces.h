#ifndef KITH_FORCES_H
#define KITH_FORCES_H

#include "kith/array.h"
#include "kith/context.h"
#include "kith/law.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef enum kith_forces_method {
    KITH_FORCES_AUTO = 0,
    KITH_FORCES_DIRECT,    /* every pair, with the CPU's vectors or on the GPU */
    KITH_FORCES_REFERENCE, /* every pair, double precision, the formula as a loop; one thread */
    KITH_FORCES_SPLIT,     /* each body's sum by itself, sources split over lanes and blocks */
    KITH_FORCES_SYMMETRIC, /* each pair once for both bodies: the sources are the targets */
    KITH_FORCES_TILE_P,    /* GPU: p threads a tile of p × p, a target each (GPU Gems 3, ch. 31) */
    KITH_FORCES_TILE_P2    /* GPU: p² threads a tile, a pair each, sums in shared memory */
} kith_forces_method;

/* What is summed over the sources. */
typedef enum kith_forces_sum {
    KITH_FORCES_SUM_FORCE = 0, /* the force, and beside it the potential */
    KITH_FORCES_SUM_VALUE      /* the value alone, of any law: gravity's is an energy too */
} kith_forces_sum;

typedef struct kith_forces_options {
    double gravitational_constant; /* G; 0 stands for 1; of gravity only */
    double softening;              /* ε ≥ 0, of every body */
    kith_array source_softening; /* or a length a source; then also one a target if those differ */
    kith_array target_softening;
    kith_forces_method method;
    int32_t block;       /* p of TILE_P (1 to 1024) and TILE_P2 (1 to 32); 0: 256 and 16 */
    int32_t unroll;      /* of TILE_P's loop: 1, 2, 4, 8, 16 or 32; 0: 16 */
    const kith_law *law; /* NULL: gravity */
    kith_forces_sum sum;
    kith_array source_charges; /* for laws that have charges; none: every charge is 1 */
    kith_array target_charges; /* for other laws than gravity, with targets of their own */
    kith_array target_masses;  /* none: ones */
} kith_forces_options;

/* Gravity of all sources at all targets, with Plummer softening, or the sums of another law.
 *
 *     a_i = G Σ_j m_j (x_j − x_i) / (r² + ε²)^{3/2}        r = |x_j − x_i|
 *     φ_i = −G Σ_j m_j / (r² + ε²)^{1/2}
 *
 * A pair with r² + ε² = 0 contributes nothing, to either sum. If the targets are the sources, j = i
 * is left out. With a softening length a body, ε² of a pair is (ε_i² + ε_j²) / 2: symmetric, and
 * the common ε if all are equal.
 *
 * By another law (kith/law.h), or with sum KITH_FORCES_SUM_VALUE,
 *
 *     a_i = Σ_j F_ij / m_i      F_ij = −∂V(i, j)/∂x_i
 *     φ_i = Σ_j V(i, j)         the energy of body i, not divided by its mass; ½ Σ φ is that of all
 *
 * with s² = r² + ε² for r² in V. The masses of the targets, the sources' masses if they are the
 * targets, must be greater than 0 where accelerations are wanted. What V and F are at s = 0 the
 * table of laws says. Nothing is scaled: forces, and for float distances from about 1e-12 to 1e19,
 * must be in the range of the arrays' precision. The law gravity is the gravity above unless values
 * are summed.
 *
 * The method is for comparisons: KITH_FORCES_AUTO takes what was measured to be the fastest, by
 * kith itself or on this device (kith/tuning.h). The tiles are for learning (docs/gpu-tiling.md);
 * they have one softening for all bodies, and in float blocks of fewer than 64 threads may pass the
 * error below: with one thread it is 7.6e-6 for 262 144 bodies.
 *
 *   context       where to compute
 *   options       NULL for G = 1, ε = 0
 *   targets       n × 2 or n × 3, float or double, any strides; none: the sources themselves
 *   sources       m × 2 or m × 3
 *   masses        m; none: every mass is 1
 *   acceleration  [out] n × 2 or n × 3, or none
 *   potential     [out] n, or none; of KITH_FORCES_SUM_VALUE all there is
 *
 * All arrays have one dtype and are in one place; outputs must not overlap inputs. Units: any
 * consistent ones.
 *
 * Arrays on the host serve every context, and are copied to the device and back if it has one; the
 * call then returns when the results are there. Arrays on a CUDA device are computed on there, by a
 * context on that device, and nothing is copied or waited for: the call returns when the work is on
 * the context's stream. So a number that is not finite is found after the return: all results are
 * then NaN, and kith_context_synchronize gives the error. A second call with the same sizes
 * allocates nothing and can be captured in a CUDA graph, which may be replayed, with other numbers
 * in the same arrays, as long as the context lives.
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, places, ε < 0, a number that is not finite, or a
 *         mass that is not greater than 0 where it must be: the message names the row; G, or
 *         accelerations, where there are none; a first call, or arrays on the host, while the
 *         stream is being captured), KITH_UNSUPPORTED (arrays on a device and a context on the
 *         CPU, or the reference; a formula, and no compiler; a method that the device has not, or
 *         not for these arguments), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 * Cost:   n·m pairs, O(n + m) memory, kept by the context for the next call.
 * Error:  relative, in the norm over all bodies: 1e-6 in float, 1e-14·√m in double; where pulls
 *         cancel, and with a law, of the sums of their magnitudes (with a law, times the error of a
 *         pair, kith/law.h). In float up to 4e-6 where many pulls are equal, as of bodies on a
 *         lattice, or where a body is close beside another and most others on one side.
 *         Bodies lighter than 1e-280 (float: 1e-20) of the heaviest lose digits of their pull.
 * Bits:   the same on every run and for every number of threads; on a device, the same for arrays
 *         on the host and for arrays there, of any strides. */
kith_status kith_forces_compute(kith_context *context, const kith_forces_options *options,
                                kith_array targets, kith_array sources, kith_array masses,
                                kith_array acceleration, kith_array potential);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
