#ifndef FORCES_VERLET_CUDA_H
#define FORCES_VERLET_CUDA_H

/* Forces of many steps on a GPU by a Verlet list (Verlet 1967) that stays there:
 * verlet_cuda_problem.h says in which numbers. A step is one kernel: forces, kicks, the drift, and
 * whether a particle has moved by half of the skin. The host starts some steps at a time, then asks
 * how far they came, and rebuilds the list where it is outdated. */

#include "forces/cutoff.h"
#include "forces/excluded_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

struct verlet_cuda;

/* Whether the problem is one for the list: steps of a run, accelerations alone, by a law of
 * distances whose weights are products or a formula's. */
bool verlet_cuda_suits(const struct forces_problem *problem, const struct cutoff_law *law);

/* Accelerations; *verlet is NULL at first and kept from call to call. Waits for the device.
 *
 *   excluded  pairs that the list leaves out; the same from call to call
 *   done  [out] false if the cell is too small for one image of a pair, the law's forces have no
 *         scale, or a particle is too far away along an open axis: nothing was computed then
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED, KITH_INVALID_ARGUMENT (a position that is not finite,
 *         a force out of range).
 * Cost:   O(pairs), and of each list O(n log n + pairs); 4 bytes per particle and partner. */
kith_status verlet_forces_cuda(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, const struct excluded_cuda *excluded,
                               struct verlet_cuda **verlet, bool *done);

/* Steps; done [out] is how many were taken: less than all if the others have no list.
 * Errors: the same. */
kith_status verlet_steps_cuda(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, const struct cutoff_steps *steps,
                              const struct excluded_cuda *excluded, struct verlet_cuda **verlet,
                              int64_t *done);

void verlet_cuda_free(kith_context *context, struct verlet_cuda *verlet);

#ifdef __cplusplus
}
#endif

#endif
