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

/* The forces of a problem that the solver cutoff suits, but for the tail; its totals are complete
 * on return. Waits for the device.
 *
 * Errors: those of begin_pairs and list_pairs (cutoff_points_cuda.cuh), KITH_UNSUPPORTED (a
 *         formula, and no NVRTC).
 * Cost:   O(n log n + pairs); about 100 bytes per particle, and 8 per pair of 2^20 targets. */
kith_status forces_cutoff_cuda(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, struct cutoff_cuda_memory *memory);

extern const struct cutoff_backend cutoff_cuda;

void cutoff_cuda_free(kith_context *context, struct cutoff_cuda_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
