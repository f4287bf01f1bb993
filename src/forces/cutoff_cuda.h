#ifndef FORCES_CUTOFF_CUDA_H
#define FORCES_CUTOFF_CUDA_H

/* Forces within a cutoff on a GPU: particles sorted into cells, the pairs of each target listed
 * (cutoff_pairs_cuda.cu), and their forces added (cutoff_cuda_body.h). */

#include "forces/cutoff.h"
#include "forces/cutoff_cuda_problem.h"
#include "forces/excluded_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of the device that is kept from call to call and only ever grown. */
struct cutoff_cuda_block {
    void *memory;
    int64_t bytes;
};

struct cutoff_cuda_memory {
    struct cutoff_cuda_block columns, pairs;
    struct excluded_cuda excluded;
};

/* Takes memory for this many bytes; what was there is lost if it grows. */
kith_status cutoff_cuda_grow(kith_context *context, int64_t bytes, struct cutoff_cuda_block *block);

/* Lists the pairs within the cutoff, at every image, but for the memory's excluded ones: the
 * problem's positions, order, begin, partner and image. Pairs of a target are in an order that
 * depends on the positions alone. Waits for the device.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_INVALID_ARGUMENT (a position that is not finite or too many
 *         cells away, unless the problem's delivery tells), KITH_UNSUPPORTED (too many particles,
 *         or images), KITH_CANCELLED. */
kith_status cutoff_list_pairs_cuda(kith_context *context, const struct forces_problem *problem,
                                   struct cutoff_cuda_memory *memory,
                                   struct cutoff_cuda_problem *to);

/* The forces of a problem that the solver cutoff suits, but for the tail; its totals are complete
 * on return. Waits for the device.
 *
 * Errors: as above, KITH_UNSUPPORTED (a formula, and no NVRTC).
 * Cost:   O(n log n + pairs); 8 bytes per pair, and about 100 per particle. */
kith_status forces_cutoff_cuda(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, struct cutoff_cuda_memory *memory);

extern const struct cutoff_backend cutoff_cuda;

void cutoff_cuda_free(kith_context *context, struct cutoff_cuda_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
