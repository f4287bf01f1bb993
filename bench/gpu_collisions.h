#ifndef BENCH_GPU_COLLISIONS_H
#define BENCH_GPU_COLLISIONS_H

#include "kith/array.h"
#include "kith/context.h"

/* Beads and results on a GPU for kith bench collisions. A build without CUDA has these functions
 * too (no_gpu_collisions.c), but no context to call them with. */

/* A copy of a dense host array on the context's device; its data goes with gpu_array_free.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status gpu_array_copy(kith_context *context, kith_array host, kith_array *array);
void gpu_array_free(kith_array *array);

#endif
