#ifndef COLLISIONS_CUDA_METHODS_H
#define COLLISIONS_CUDA_METHODS_H

#include "device/cuda.h"
#include "lattice/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct counting; /* lattice_cuda.cuh; the device's memory */

enum { collisions_counting_bytes = 256 };

/* The methods of counting on a GPU: beads are in the device's memory, at least two, of any strides.
 * The work is enqueued on the context's stream, without waiting; the number is in *counting then.
 * Working memory is the context's scratch. Errors: KITH_OUT_OF_MEMORY. */
typedef kith_status collisions_cuda_method(kith_context *context,
                                           const struct collisions_problem *problem,
                                           struct counting *counting);

collisions_cuda_method collisions_n_steps_single_row_cuda;
collisions_cuda_method collisions_n_steps_multi_row_cuda;
collisions_cuda_method collisions_half_steps_cuda;
collisions_cuda_method collisions_all_threads_cuda;
collisions_cuda_method collisions_half_threads_cuda;
collisions_cuda_method collisions_all_pairs_cuda;
collisions_cuda_method collisions_linear_cuda;
collisions_cuda_method collisions_hash_cuda;
collisions_cuda_method collisions_sort_cuda;
collisions_cuda_method collisions_auto_cuda;

/* What collisions_auto_cuda does with this many beads. */
kith_collisions_method collisions_choose_cuda(int64_t count);

/* A batch, all of it in the device's memory; most_beads of a conformation. */
kith_status collisions_batch_on_cuda(kith_context *context,
                                     const struct collisions_batch_problem *problem,
                                     const unsigned char *hydrophobic, int64_t most_beads);

/* The number of *counting, once the stream has come there. */
unsigned long long *collisions_number_of(struct counting *counting);

#ifdef __cplusplus
}
#endif

#endif
