#ifndef KITH_FORCES_H
#define KITH_FORCES_H

#include "kith/array.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kith_forces_method {
    KITH_FORCES_AUTO = 0,
    KITH_FORCES_DIRECT,   /* every pair, with the CPU's vectors or on the GPU */
    KITH_FORCES_REFERENCE /* every pair, double precision, the formula as a loop; one thread */
} kith_forces_method;

typedef struct kith_forces_options {
    double gravitational_constant; /* G; 0 stands for 1 */
    double softening;              /* ε ≥ 0, of every body */
    kith_array source_softening; /* or a length a source; then also one a target if those differ */
    kith_array target_softening;
    kith_forces_method method;
} kith_forces_options;

/* Gravity of all sources at all targets, with Plummer softening.
 *
 *     a_i = G Σ_j m_j (x_j − x_i) / (r² + ε²)^{3/2}        r = |x_j − x_i|
 *     φ_i = −G Σ_j m_j / (r² + ε²)^{1/2}
 *
 * A pair with r² + ε² = 0 contributes nothing, to either sum. If the targets are the sources, j = i
 * is left out. With a softening length a body, ε² of a pair is (ε_i² + ε_j²) / 2: symmetric, and
 * the common ε if all are equal.
 *
 *   context       where to compute
 *   options       NULL for G = 1, ε = 0
 *   targets       n × 2 or n × 3, float or double, any strides; none: the sources themselves
 *   sources       m × 2 or m × 3
 *   masses        m; none: every mass is 1
 *   acceleration  [out] n × 2 or n × 3, or none
 *   potential     [out] n, or none
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
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, places, ε < 0, a number that is not finite: the
 *         message names the row; a first call, or arrays on the host, while the stream is being
 *         captured), KITH_UNSUPPORTED (arrays on a device and a context on the CPU, or the
 *         reference), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 * Cost:   n·m pairs, O(n + m) memory, kept by the context for the next call.
 * Error:  relative, in the norm over all bodies: 1e-6 in float, 1e-14·√m in double.
 * Bits:   the same on every run and for every number of threads; on a device, the same for arrays
 *         on the host and for arrays there, of any strides. */
kith_status kith_forces_compute(kith_context *context, const kith_forces_options *options,
                                kith_array targets, kith_array sources, kith_array masses,
                                kith_array acceleration, kith_array potential);

#ifdef __cplusplus
}
#endif

#endif
