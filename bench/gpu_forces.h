#ifndef BENCH_GPU_FORCES_H
#define BENCH_GPU_FORCES_H

#include "kith/context.h"
#include "kith/forces.h"

/* What bench_gems_forces measures on a GPU. */

/* What is timed. */
enum gpu_forces_way {
    gpu_forces_of_arrays, /* kith_forces_compute of arrays on the device, one call after another */
    gpu_forces_kernels,   /* the backend's kernels alone, of bodies that are laid out already */
    gpu_forces_gems,      /* the GPU Gems kernel (gems_forces.h) */
    gpu_forces_of_host,   /* kith_forces_compute of arrays on the host */
};

/* Bodies in the device's memory in the layout of each method, and the results. */
struct gpu_forces;

/* position and mass are contiguous arrays on the host, of one precision. law is NULL for gravity; a
 * formula is compiled by the first call. The context must outlive the result, and its device
 * becomes the thread's current one.
 *
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status gpu_forces_create(kith_context *context, kith_array position, kith_array mass,
                              const kith_law *law, kith_forces_method method, double softening,
                              struct gpu_forces **forces);
void gpu_forces_free(struct gpu_forces *forces);

/* Seconds of calls evaluations: by events on the stream for kernels, by the host's clock until
 * all is done for calls of kith_forces_compute. */
kith_status gpu_forces_time(struct gpu_forces *forces, enum gpu_forces_way way, int64_t calls,
                            double *seconds);

/* The difference of the results of two methods: the norm of the difference over the norm, over all
 * bodies. Both must have been timed. */
kith_status gpu_forces_difference(struct gpu_forces *forces, enum gpu_forces_way a,
                                  enum gpu_forces_way b, double *difference);

/* Interactions per second of the symmetric kernel if only the issue of its instructions took time,
 * at the device's highest clock. */
double gpu_forces_limit(kith_context *context, kith_dtype dtype);

#endif
